# SPDX-License-Identifier: MIT
"""PDP: pooling from memory to memory."""

from arithmetic import Cube, Random, exact, random_cube, rounded_shift
from case import BYTES, CODE, DESTINATION, FP16, SOURCE, Case
from case import PDP as LAYER

AVERAGE, MAXIMUM, MINIMUM = 0, 1, 2
NAMES = {AVERAGE: "average", MAXIMUM: "max", MINIMUM: "min"}


def pool(source, method, size, stride, left, top, pad, c, oy, ox):
    """One result; the reciprocals are 2**16 / size, of fp16 the number itself."""
    rows = []
    for y in range(oy * stride - top, oy * stride - top + size):
        if not 0 <= y < source.height:
            continue
        columns = range(ox * stride - left, ox * stride - left + size)
        rows.append([source.at(c, y, x) for x in columns if 0 <= x < source.width])
    if method == MAXIMUM:
        return max(map(max, rows))
    if method == MINIMUM:
        return min(map(min, rows))
    # Padding counts as what the registers say for so many columns and rows.
    total = sum(sum(row) + pad * (size - len(row)) for row in rows)
    total += pad * (size - len(rows)) * size
    if source.precision == FP16:
        return exact(total / size / size)
    reciprocal = 0x10000 // size
    return rounded_shift(rounded_shift(total * reciprocal, 16) * reciprocal, 16)


def layer(hw, precision, method, size, stride, seed, left=0, top=0, right=0, bottom=0, pad=0):
    random = Random(seed)
    name = f"{precision}_{NAMES[method]}"
    case = Case(hw, "pdp", name, f"{size}x{size}, stride {stride}, {NAMES[method]}")
    # The sign of a zero that cancels out is another matter than what is shown here.
    positive = (1, 16) if (precision, method) == (FP16, AVERAGE) else (None, None)
    source = random_cube(hw, precision, 7, 6, hw.atom // BYTES[precision] + 2, random, *positive)
    out_width = (left + source.width + right - size) // stride + 1
    out_height = (top + source.height + bottom - size) // stride + 1
    assert (out_width - 1) * stride + size == left + source.width + right
    assert (out_height - 1) * stride + size == top + source.height + bottom
    output = Cube(hw, precision, out_width, out_height, source.channels, lambda c, y, x: pool(
        source, method, size, stride, left, top, pad, c, y, x))
    case.load(SOURCE, source.pack(), "src.bin")

    case.set("PDP.S_POINTER")
    case.set("PDP_RDMA.S_POINTER")
    for unit in ("PDP", "PDP_RDMA"):
        case.set(f"{unit}.D_DATA_CUBE_IN_WIDTH", source.width - 1)
        case.set(f"{unit}.D_DATA_CUBE_IN_HEIGHT", source.height - 1)
        case.set(f"{unit}.D_DATA_CUBE_IN_CHANNEL", source.channels - 1)
        case.address(f"{unit}.D_SRC_BASE_ADDR", SOURCE)
        case.set(f"{unit}.D_SRC_LINE_STRIDE", source.line)
        case.set(f"{unit}.D_SRC_SURFACE_STRIDE", source.surface)
        case.set(f"{unit}.D_DATA_FORMAT", CODE[precision])
        case.set(f"{unit}.D_PARTIAL_WIDTH_IN")
    case.set("PDP_RDMA.D_FLYING_MODE", FLYING_MODE=1)
    case.set("PDP_RDMA.D_SRC_RAM_CFG", SRC_RAM_TYPE=1)
    case.set("PDP_RDMA.D_OPERATION_MODE_CFG")
    case.set("PDP_RDMA.D_POOLING_KERNEL_CFG", KERNEL_WIDTH=size - 1, KERNEL_STRIDE_WIDTH=stride - 1)
    case.set("PDP_RDMA.D_POOLING_PADDING_CFG", PAD_WIDTH=left)
    case.set("PDP.D_DATA_CUBE_OUT_WIDTH", out_width - 1)
    case.set("PDP.D_DATA_CUBE_OUT_HEIGHT", out_height - 1)
    case.set("PDP.D_DATA_CUBE_OUT_CHANNEL", output.channels - 1)
    case.set("PDP.D_OPERATION_MODE_CFG", POOLING_METHOD=method, FLYING_MODE=1)
    case.set("PDP.D_NAN_FLUSH_TO_ZERO")
    case.set("PDP.D_PARTIAL_WIDTH_OUT")
    case.set("PDP.D_POOLING_KERNEL_CFG", KERNEL_WIDTH=size - 1, KERNEL_HEIGHT=size - 1,
             KERNEL_STRIDE_WIDTH=stride - 1, KERNEL_STRIDE_HEIGHT=stride - 1)
    # Of fp16 a float of 6 exponent and 10 fraction bits: 1/2 is 2**-1.
    assert precision != FP16 or method != AVERAGE or size == 2
    reciprocal = 30 << 10 if precision == FP16 else 0x10000 // size
    case.set("PDP.D_RECIP_KERNEL_WIDTH", reciprocal)
    case.set("PDP.D_RECIP_KERNEL_HEIGHT", reciprocal)
    case.set("PDP.D_POOLING_PADDING_CFG", PAD_LEFT=left, PAD_TOP=top, PAD_RIGHT=right,
             PAD_BOTTOM=bottom)
    assert precision != FP16 or pad == 0
    for missing in range(1, 8):
        case.set(f"PDP.D_POOLING_PADDING_VALUE_{missing}_CFG", missing * pad & 0x7ffff)
    case.address("PDP.D_DST_BASE_ADDR", DESTINATION)
    case.set("PDP.D_DST_LINE_STRIDE", output.line)
    case.set("PDP.D_DST_SURFACE_STRIDE", output.surface)
    case.set("PDP.D_DST_RAM_CFG", DST_RAM_TYPE=1)
    case.set("PDP.D_PERF_ENABLE")
    average = method == AVERAGE
    case.describe("layer", kind=LAYER)
    case.describe("layer.pdp", method=method, precision=CODE[precision], width=source.width,
                  height=source.height, channels=source.channels, kernel_width=size,
                  kernel_height=size, stride_width=stride, stride_height=stride, pad_left=left,
                  pad_right=right, pad_top=top, pad_bottom=bottom, bands=1,
                  recip_width=average and reciprocal, recip_height=average and reciprocal)
    for missing in range(1, 8):
        case.describe("layer.pdp", **{f"pad_value[{missing - 1}]": average and missing * pad})
    case.surface("layer.pdp.input", SOURCE, source.line, source.surface)
    case.surface("layer.pdp.output", DESTINATION, output.line, output.surface)
    case.set("PDP_RDMA.D_OP_ENABLE", OP_EN=1)
    case.set("PDP.D_OP_ENABLE", OP_EN=1)
    case.interrupts |= 1 << 4
    case.expect(DESTINATION, output.pack())
    return case
