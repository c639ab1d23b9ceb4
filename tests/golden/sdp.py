# SPDX-License-Identifier: MIT
"""SDP: operators X1 (BS), X2 (BN) and Y (EW), and the output converter."""

from case import BYTES, CODE, DESTINATION, FP16, INT8, OPERANDS, SOURCE, Case
from case import SDP as LAYER
from arithmetic import (LIMITS, Cube, Random, convert, exact, half, pack_operands,
                        processing_lanes, random_cube, rounded_shift, saturate, single)

SUM = 2
# Of a descriptor: nvdla_sdp_x.flags, enum nvdla_alu, nvdla_mul, nvdla_operand_mode.
ENABLE, RELU, ALU_SUM, MUL, OF_CHANNEL = 1, 2, 3, 1, 1


class Stage:
    """What SDP does to one number after another; X1 takes an addend for each channel."""

    def __init__(self, precision, out):
        self.precision, self.out = precision, out
        self.bias = None  # a number for each channel
        self.bias_shift = 0
        self.relu = False
        self.multiplier = None  # of X2, for all, with its shift
        self.multiplier_shift = 0
        self.y = None  # of Y: multiplier, its shift, addend
        self.converter = (0, 1, 0)  # offset, scale, shift

    def operand(self, c):
        return self.bias[c] if c < len(self.bias) else 0

    def integer(self, value, c):
        if self.bias:
            value = saturate(value + saturate(self.operand(c) << self.bias_shift, 32), 32)
            if self.relu:
                value = max(value, 0)
        if self.multiplier is not None:
            value = saturate(rounded_shift(value * self.multiplier, self.multiplier_shift), 32)
        if self.y:
            factor, shift, addend = self.y
            value = saturate(saturate(rounded_shift(value * factor, shift), 32) + addend, 32)
        return saturate(convert(value, *self.converter, 17), LIMITS[self.out])

    def floating(self, value, c):
        if self.bias:
            value += self.operand(c)
            if self.relu:
                value = max(value, 0.0)
        if self.multiplier is not None:
            value *= self.multiplier
        if self.y:
            factor, _, addend = self.y
            value = value * factor + addend
        return exact(value)

    def apply(self, value, c):
        return self.floating(value, c) if self.precision == FP16 else self.integer(value, c)


def signed(value):
    """32 bits as the signed number that a descriptor holds."""
    return value - (1 << 32) if value >> 31 == 1 else value


def describe(case, stage, output, source, number, wide):
    flying = not isinstance(source, Cube)
    code = CODE[stage.precision]
    case.describe("layer.sdp", proc_precision=code, out_precision=CODE[stage.out])
    if not flying:
        case.describe("layer", kind=LAYER)
        case.describe("layer.sdp", in_precision=CODE[source.precision], width=output.width,
                      height=output.height, channels=output.channels)
        case.surface("layer.sdp.input", SOURCE, source.line, source.surface)
    if stage.bias:
        case.describe("layer.sdp.x1", flags=ENABLE | (RELU if stage.relu else 0), alu=ALU_SUM,
                      mode=OF_CHANNEL, operand_bytes=2, alu_shift=stage.bias_shift)
        case.surface("layer.sdp.x1.operand", OPERANDS)
    if stage.multiplier is not None:
        case.describe("layer.sdp.x2", flags=ENABLE, mul=MUL, mul_value=number(stage.multiplier),
                      mul_shift=stage.multiplier_shift)
    if stage.y:
        factor, shift, addend = stage.y
        case.describe("layer.sdp.y", flags=ENABLE, mul=MUL, mul_value=signed(wide(factor)),
                      mul_truncate=shift, alu=ALU_SUM, alu_value=signed(wide(addend)))
    if stage.precision != FP16:
        offset, scale, shift = stage.converter
        case.describe("layer.sdp.out_cvt", offset=offset, scale=scale, truncate=shift)
    case.surface("layer.sdp.output", DESTINATION, output.line, output.surface)


def program(case, stage, output, source):
    """Registers of SDP and its read DMA; `source` is a cube, or the precision of CACC."""
    hw, flying = case.hw, not isinstance(source, Cube)
    number = half if stage.precision == FP16 else lambda value: value & 0xffff
    wide = single if stage.precision == FP16 else lambda value: value & 0xffffffff
    reads = not flying or bool(stage.bias)
    in_precision = source if flying else source.precision
    case.set("SDP.S_POINTER")
    case.set("SDP_RDMA.S_POINTER")
    for unit in ("SDP", "SDP_RDMA"):
        case.set(f"{unit}.D_DATA_CUBE_WIDTH", output.width - 1)
        case.set(f"{unit}.D_DATA_CUBE_HEIGHT", output.height - 1)
        case.set(f"{unit}.D_DATA_CUBE_CHANNEL", output.channels - 1)
    case.address("SDP.D_DST_BASE_ADDR", DESTINATION)
    case.set("SDP.D_DST_LINE_STRIDE", output.line)
    case.set("SDP.D_DST_SURFACE_STRIDE", output.surface)
    case.set("SDP.D_DP_BS_CFG", BS_BYPASS=not stage.bias, BS_ALU_ALGO=SUM, BS_MUL_BYPASS=1,
             BS_RELU_BYPASS=not stage.relu)
    case.set("SDP.D_DP_BS_ALU_CFG", BS_ALU_SRC=1, BS_ALU_SHIFT_VALUE=stage.bias_shift)
    case.set("SDP.D_DP_BS_MUL_CFG", 0)
    case.set("SDP.D_DP_BN_CFG", BN_BYPASS=stage.multiplier is None, BN_ALU_BYPASS=1,
             BN_RELU_BYPASS=1)
    case.set("SDP.D_DP_BN_ALU_CFG", 0)
    case.set("SDP.D_DP_BN_MUL_CFG", BN_MUL_SHIFT_VALUE=stage.multiplier_shift)
    case.set("SDP.D_DP_BN_MUL_SRC_VALUE", number(stage.multiplier or 0))
    case.set("SDP.D_DP_EW_CFG", EW_BYPASS=stage.y is None, EW_ALU_ALGO=SUM, EW_LUT_BYPASS=1)
    if stage.y:
        factor, shift, addend = stage.y
        case.set("SDP.D_DP_EW_MUL_CFG", EW_MUL_CVT_BYPASS=1)
        case.set("SDP.D_DP_EW_MUL_SRC_VALUE", wide(factor))
        case.set("SDP.D_DP_EW_TRUNCATE_VALUE", shift)
        case.set("SDP.D_DP_EW_ALU_CFG", EW_ALU_CVT_BYPASS=1)
        case.set("SDP.D_DP_EW_ALU_SRC_VALUE", wide(addend))
    case.set("SDP.D_FEATURE_MODE_CFG", FLYING_MODE=flying)
    case.set("SDP.D_DST_DMA_CFG", DST_RAM_TYPE=1)
    case.set("SDP.D_DST_BATCH_STRIDE")
    case.set("SDP.D_DATA_FORMAT", PROC_PRECISION=CODE[stage.precision],
             OUT_PRECISION=CODE[stage.out])
    offset, scale, shift = stage.converter
    case.set("SDP.D_CVT_OFFSET", offset)
    case.set("SDP.D_CVT_SCALE", scale)
    case.set("SDP.D_CVT_SHIFT", shift)
    case.set("SDP.D_PERF_ENABLE")
    case.set("SDP_RDMA.D_FEATURE_MODE_CFG", FLYING_MODE=flying, IN_PRECISION=CODE[in_precision],
             PROC_PRECISION=CODE[stage.precision], OUT_PRECISION=CODE[stage.out])
    if not flying:
        case.address("SDP_RDMA.D_SRC_BASE_ADDR", SOURCE)
        case.set("SDP_RDMA.D_SRC_LINE_STRIDE", source.line)
        case.set("SDP_RDMA.D_SRC_SURFACE_STRIDE", source.surface)
    case.set("SDP_RDMA.D_SRC_DMA_CFG", SRC_RAM_TYPE=1)
    # Addends of two bytes, one for each channel.
    case.set("SDP_RDMA.D_BRDMA_CFG", BRDMA_DISABLE=not stage.bias, BRDMA_DATA_USE=1,
             BRDMA_DATA_SIZE=1, BRDMA_RAM_TYPE=1)
    if stage.bias:
        lanes = processing_lanes(hw, stage.precision)
        padded = stage.bias + [0] * (-len(stage.bias) % lanes)
        case.load(OPERANDS, pack_operands(padded, stage.precision), "bias.bin")
        case.address("SDP_RDMA.D_BS_BASE_ADDR", OPERANDS)
        case.set("SDP_RDMA.D_BS_LINE_STRIDE", 2 * lanes)
        case.set("SDP_RDMA.D_BS_SURFACE_STRIDE", 2 * lanes)
    case.set("SDP_RDMA.D_NRDMA_CFG", NRDMA_DISABLE=1)
    case.set("SDP_RDMA.D_ERDMA_CFG", ERDMA_DISABLE=1)
    case.set("SDP_RDMA.D_PERF_ENABLE")
    describe(case, stage, output, source,
             half if stage.precision == FP16 else lambda value: value, wide)
    if reads:
        case.set("SDP_RDMA.D_OP_ENABLE", OP_EN=1)
    case.set("SDP.D_OP_ENABLE", OP_EN=1)
    case.interrupts |= 1 << 0


def layer(hw, precision, seed, y):
    """A layer from memory to memory: addends and ReLU, a multiplier, and with `y` both again."""
    random = Random(seed)
    case = Case(hw, "sdp", precision, "a bias for each channel, a multiplier, " +
                ("operator Y" if y else "no operator Y"))
    source = random_cube(hw, precision, 3, 2, hw.atom // BYTES[precision] + 3, random)
    stage = Stage(precision, precision)
    stage.relu = precision == INT8
    if precision == FP16:
        stage.bias = [random.number(FP16) for _ in range(source.channels)]
        stage.multiplier = 0.5
        stage.y = (2.0, 0, -1.5) if y else None
    else:
        stage.bias = [random.integer(-60, 60) for _ in range(source.channels)]
        stage.bias_shift = 1
        stage.multiplier, stage.multiplier_shift = -77, 6
        stage.y = (123, 9, -55) if y else None
        stage.converter = (7, 3, 3)
    output = Cube(hw, precision, source.width, source.height, source.channels,
                  lambda c, y, x: stage.apply(source.at(c, y, x), c))
    case.load(SOURCE, source.pack(), "src.bin")
    program(case, stage, output, source)
    case.expect(DESTINATION, output.pack())
    return case
