# SPDX-License-Identifier: MIT
"""CDP: local response normalisation by two linear tables."""

from arithmetic import LIMITS, Cube, Random, convert, exact, half, random_cube, rounded_shift
from arithmetic import saturate, single
from case import BYTES, CODE, DESTINATION, FP16, SOURCE, Case
from case import CDP as LAYER

UNDER, HIT, OVER = "UFLOW", "HIT", "OFLOW"


class Table:
    """A linear table: entries at START, START + 2**select, and so on."""

    def __init__(self, entries, start, select, slopes):
        self.entries, self.start, self.select = entries, start, select
        self.end = start + (len(entries) - 1) * 2 ** select
        self.under, self.over = slopes  # each (scale, shift)

    def look_up(self, x):
        """Return where x is, and the value there."""
        if x <= self.start:
            return UNDER, self.outside(x - self.start, self.entries[0], *self.under)
        index, fraction = divmod(x - self.start, 2 ** self.select)
        index = int(index)
        if index >= len(self.entries) - 1:
            return OVER, self.outside(x - self.end, self.entries[-1], *self.over)
        low, high = self.entries[index], self.entries[index + 1]
        if isinstance(low, float):
            return HIT, low + (high - low) * fraction / 2 ** self.select
        fraction = fraction << 16 >> self.select
        return HIT, saturate(low + rounded_shift((high - low) * fraction, 16), 16)

    @staticmethod
    def outside(distance, entry, scale, shift):
        if isinstance(entry, float):
            return entry + distance * scale
        return saturate(entry + saturate(rounded_shift(distance * scale, shift), 56), 16)


class Tables:
    """LE and LO, and what is counted of their hits."""

    def __init__(self, le, lo):
        self.le, self.lo = le, lo
        self.counts = {"UFLOW": 0, "OFLOW": 0, "HYBRID": 0, "LE_HIT": 0, "LO_HIT": 0}

    def look_up(self, x):
        """LE wins where both miss to one side; LO where both hit, or miss apart."""
        (where_le, le), (where_lo, lo) = self.le.look_up(x), self.lo.look_up(x)
        if where_le == where_lo and where_le != HIT:
            self.counts[where_le] += 1
            return le
        if (where_le == HIT) != (where_lo == HIT):
            self.counts["LE_HIT" if where_le == HIT else "LO_HIT"] += 1
            return le if where_le == HIT else lo
        self.counts["HYBRID"] += 1
        return lo


def program_tables(case, tables, number, bounds):
    for code, table in ((0, tables.le), (1, tables.lo)):
        case.set("CDP.S_LUT_ACCESS_CFG", LUT_TABLE_ID=code, LUT_ACCESS_TYPE=1)
        for entry in table.entries:
            case.set("CDP.S_LUT_ACCESS_DATA", number(entry))
    case.set("CDP.S_LUT_CFG", LUT_LE_FUNCTION=1, LUT_HYBRID_PRIORITY=1)
    case.set("CDP.S_LUT_INFO", LUT_LE_INDEX_SELECT=tables.le.select & 0xff,
             LUT_LO_INDEX_SELECT=tables.lo.select & 0xff)
    for name, table in (("LE", tables.le), ("LO", tables.lo)):
        for place in ("START", "END"):
            case.address(f"CDP.S_LUT_{name}_{place}", bounds(getattr(table, place.lower())))
        case.set(f"CDP.S_LUT_{name}_SLOPE_SCALE", **{
            f"LUT_{name}_SLOPE_UFLOW_SCALE": number(table.under[0]),
            f"LUT_{name}_SLOPE_OFLOW_SCALE": number(table.over[0])})
        case.set(f"CDP.S_LUT_{name}_SLOPE_SHIFT", **{
            f"LUT_{name}_SLOPE_UFLOW_SHIFT": table.under[1],
            f"LUT_{name}_SLOPE_OFLOW_SHIFT": table.over[1]})


# nvdla_lut.unit and .flags: of CDP; LE is linear, LO wins where both hit.
LUT_CDP, LE_LINEAR, HYBRID_LO = 1, 1, 8


def describe_tables(case, tables, number, bounds):
    case.describe("lut", unit=LUT_CDP, flags=LE_LINEAR | HYBRID_LO,
                  le_index_select=tables.le.select, lo_index_select=tables.lo.select)
    for name, table in (("le", tables.le), ("lo", tables.lo)):
        case.describe("lut", **{f"{name}_start": bounds(table.start),
                                f"{name}_end": bounds(table.end)})
        for side, (scale, shift) in (("underflow", table.under), ("overflow", table.over)):
            case.describe(f"lut.{name}_{side}", scale=number(scale), shift=shift)
        case.describe("lut", **{f"{name}[{i}]": number(entry) & 0xffff
                                for i, entry in enumerate(table.entries)})


def layer(hw, precision, window, seed):
    random = Random(seed)
    case = Case(hw, "cdp", f"{precision}_lrn{window}", f"LRN over {window} channels")
    channels = hw.atom // BYTES[precision] + 3
    if precision == FP16:
        # Sums of squares are whole numbers, entries apart by even ones: halves at most.
        source = random_cube(hw, precision, 3, 2, channels, random, -3, 3)
        tables = Tables(
            Table([float(random.integer(1, 30)) for _ in range(65)], 4, 0, ((0.0, 0), (0.0, 0))),
            Table([2.0 * random.integer(1, 30) for _ in range(257)], 8, 1, ((0.5, 0), (0.0, 0))))
        entering, leaving = (0, 1, 0), (0, 1, 0)
    else:
        source = random_cube(hw, precision, 3, 2, channels, random)
        entering = (3, 1, 0) if precision == "int8" else (3, 5, 9)
        leaving = (100, 3, 12)

        def entries(number):
            return [random.integer(-2000, 2000) for _ in range(number)]
        tables = Tables(Table(entries(65), 200, 7, ((-700, 5), (300, 9))),
                        Table(entries(257), 5000, 6, ((500, 6), (-900, 8))))

    def entered(c, y, x):
        if not 0 <= c < channels:
            return 0
        value = source.at(c, y, x)
        return value if precision == FP16 else convert(value, *entering, LIMITS[precision] + 1)

    def result(c, y, x):
        reach = window // 2
        total = sum(entered(i, y, x) ** 2 for i in range(c - reach, c + reach + 1))
        product = tables.look_up(total) * entered(c, y, x)
        return exact(product) if precision == FP16 else convert(product, *leaving,
                                                                LIMITS[precision])

    output = Cube(hw, precision, source.width, source.height, channels, result)
    case.load(SOURCE, source.pack(), "src.bin")
    case.set("CDP.S_POINTER")
    case.set("CDP_RDMA.S_POINTER")
    if precision == FP16:
        program_tables(case, tables, lambda v: half(float(v)), lambda v: single(float(v)))
    else:
        program_tables(case, tables, lambda v: v & 0xffff, lambda v: v)
    for register, value in (("WIDTH", source.width), ("HEIGHT", source.height),
                            ("CHANNEL", channels)):
        case.set(f"CDP_RDMA.D_DATA_CUBE_{register}", value - 1)
    case.address("CDP_RDMA.D_SRC_BASE_ADDR", SOURCE)
    case.set("CDP_RDMA.D_SRC_LINE_STRIDE", source.line)
    case.set("CDP_RDMA.D_SRC_SURFACE_STRIDE", source.surface)
    case.set("CDP_RDMA.D_SRC_DMA_CFG", SRC_RAM_TYPE=1)
    case.set("CDP_RDMA.D_DATA_FORMAT", CODE[precision])
    case.set("CDP.D_FUNC_BYPASS")
    case.address("CDP.D_DST_BASE_ADDR", DESTINATION)
    case.set("CDP.D_DST_LINE_STRIDE", output.line)
    case.set("CDP.D_DST_SURFACE_STRIDE", output.surface)
    case.set("CDP.D_DST_DMA_CFG", DST_RAM_TYPE=1)
    case.set("CDP.D_DATA_FORMAT", CODE[precision])
    case.set("CDP.D_NAN_FLUSH_TO_ZERO")
    case.set("CDP.D_LRN_CFG", NORMALZ_LEN=(window - 3) // 2)
    for name, (offset, scale, shift) in (("DATIN", entering), ("DATOUT", leaving)):
        case.set(f"CDP.D_{name}_OFFSET", offset)
        case.set(f"CDP.D_{name}_SCALE", scale)
        case.set(f"CDP.D_{name}_SHIFTER", shift)
    case.set("CDP.D_PERF_ENABLE", LUT_EN=1)
    case.describe("layer", kind=LAYER, lut=1)
    case.describe("layer.cdp", precision=CODE[precision], width=source.width,
                  height=source.height, channels=channels, window=window)
    if precision == FP16:
        describe_tables(case, tables, lambda v: half(float(v)), lambda v: single(float(v)))
    else:
        describe_tables(case, tables, lambda v: v, lambda v: v)
        for name, (offset, scale, shift) in (("in_cvt", entering), ("out_cvt", leaving)):
            case.describe(f"layer.cdp.{name}", offset=offset, scale=scale, truncate=shift)
    case.surface("layer.cdp.input", SOURCE, source.line, source.surface)
    case.surface("layer.cdp.output", DESTINATION, output.line, output.surface)
    case.set("CDP_RDMA.D_OP_ENABLE", OP_EN=1)
    case.set("CDP.D_OP_ENABLE", OP_EN=1)
    case.interrupts |= 1 << 2
    case.expect(DESTINATION, output.pack())
    for name, count in tables.counts.items():
        case.check(f"CDP.D_PERF_LUT_{name}", count)
    return case
