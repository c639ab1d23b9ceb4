# SPDX-License-Identifier: MIT
"""Direct convolution of a feature cube, with SDP behind it."""

import struct

import sdp
from arithmetic import Cube, Random, random_cube, rounded_shift, saturate
from case import BYTES, CODE, CONV_SDP, DESTINATION, FP16, INT8, SOURCE, WEIGHTS, Case


class Shape:
    """A convolution; its borders are padded with `pad`."""

    def __init__(self, width, height, channels, kernels, kernel_width, kernel_height,
                 stride, left, top, right, bottom, pad):
        self.width, self.height, self.channels = width, height, channels
        self.kernels = kernels
        self.kernel_width, self.kernel_height = kernel_width, kernel_height
        self.stride = stride
        self.left, self.top, self.right, self.bottom, self.pad = left, top, right, bottom, pad
        self.out_width = (left + width + right - kernel_width) // stride + 1
        self.out_height = (top + height + bottom - kernel_height) // stride + 1
        assert (self.out_width - 1) * stride + kernel_width == left + width + right
        assert (self.out_height - 1) * stride + kernel_height == top + height + bottom


def accumulate(shape, source, weights, k, oy, ox):
    """The exact sum of products."""
    total = 0
    for r in range(shape.kernel_height):
        for s in range(shape.kernel_width):
            y, x = oy * shape.stride + r - shape.top, ox * shape.stride + s - shape.left
            inside = 0 <= y < shape.height and 0 <= x < shape.width
            total += sum((source.at(c, y, x) if inside else shape.pad) * weights[k][r][s][c]
                         for c in range(shape.channels))
    return total


def pack_weights(hw, precision, shape, weights):
    """Kernel group, cube of channels, row, column, kernel, channel: the last one fastest."""
    group = hw.kernels // BYTES[precision]
    form = {"int8": "<b", "int16": "<h", "fp16": "<e"}[precision]
    stream = b"".join(
        struct.pack(form, weights[k][r][s][c])
        for first in range(0, shape.kernels, group)
        for cube in range(0, shape.channels, hw.channels)
        for r in range(shape.kernel_height) for s in range(shape.kernel_width)
        for k in range(first, min(first + group, shape.kernels))
        for c in range(cube, min(cube + hw.channels, shape.channels)))
    return stream + bytes(-len(stream) % hw.weight_align)


def entries_of_line(hw, precision, shape):
    """Entries of the convolution buffer that a line of the input takes."""
    atoms = -(-shape.channels * BYTES[precision] // hw.atom)
    of_entry = hw.entry // hw.atom
    full, rest = divmod(atoms, of_entry)
    return full * shape.width + (-(-shape.width // (of_entry // rest)) if rest else 0)


def describe(case, code, shape, source, banks, clip):
    case.describe("layer", kind=CONV_SDP)
    case.describe("layer.conv", in_precision=code, proc_precision=code, width=shape.width,
                  height=shape.height, channels=shape.channels, batch=1, kernels=shape.kernels,
                  kernel_width=shape.kernel_width, kernel_height=shape.kernel_height,
                  stride_width=shape.stride, stride_height=shape.stride, dilation_width=1, dilation_height=1,
                  pad_left=shape.left, pad_right=shape.right, pad_top=shape.top,
                  pad_bottom=shape.bottom, pad_value=shape.pad, data_banks=banks[0],
                  weight_banks=banks[1], post_extension=1, clip_truncate=clip)
    case.surface("layer.conv.input", SOURCE, source.line, source.surface)
    case.surface("layer.conv.weights", WEIGHTS)


def program(case, precision, shape, source, weight_bytes, clip):
    hw, code = case.hw, CODE[precision]
    entries = entries_of_line(hw, precision, shape)
    data_banks = -(-entries * shape.height // hw.entries)
    weight_banks = -(-weight_bytes // (hw.entry * hw.entries))
    units = ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
    for unit in units:
        case.set(f"{unit}.S_POINTER")

    case.set("CACC.D_MISC_CFG", PROC_PRECISION=code)
    case.set("CACC.D_DATAOUT_ADDR", DESTINATION)
    case.set("CACC.D_BATCH_NUMBER")
    case.set("CACC.D_LINE_STRIDE", shape.out_width * hw.atom)
    case.set("CACC.D_SURF_STRIDE", shape.out_width * shape.out_height * hw.atom)
    case.set("CACC.D_DATAOUT_MAP")
    case.set("CACC.D_CLIP_CFG", clip)
    for unit in ("CACC", "CSC"):
        case.set(f"{unit}.D_DATAOUT_SIZE_0", DATAOUT_WIDTH=shape.out_width - 1,
                 DATAOUT_HEIGHT=shape.out_height - 1)
        case.set(f"{unit}.D_DATAOUT_SIZE_1", DATAOUT_CHANNEL=shape.kernels - 1)
    for unit in ("CMAC_A", "CMAC_B"):
        case.set(f"{unit}.D_MISC_CFG", PROC_PRECISION=code)

    for unit in ("CSC", "CDMA"):
        case.set(f"{unit}.D_MISC_CFG", IN_PRECISION=code, PROC_PRECISION=code)
        case.set(f"{unit}.D_DATAIN_FORMAT")
        case.set(f"{unit}.D_DATAIN_SIZE_EXT_0", DATAIN_WIDTH_EXT=shape.width - 1,
                 DATAIN_HEIGHT_EXT=shape.height - 1)
        case.set(f"{unit}.D_BATCH_NUMBER")
        case.set(f"{unit}.D_ENTRY_PER_SLICE", entries - 1)
        case.set(f"{unit}.D_WEIGHT_FORMAT")
        case.set(f"{unit}.D_WEIGHT_BYTES", weight_bytes)
        case.set(f"{unit}.D_WMB_BYTES")
        case.set(f"{unit}.D_ZERO_PADDING_VALUE", shape.pad & 0xffff)
        case.set(f"{unit}.D_BANK", DATA_BANK=data_banks - 1, WEIGHT_BANK=weight_banks - 1)
    case.set("CSC.D_DATAIN_SIZE_EXT_1", shape.channels - 1)
    case.set("CSC.D_POST_Y_EXTENSION")
    case.set("CSC.D_WEIGHT_SIZE_EXT_0", WEIGHT_WIDTH_EXT=shape.kernel_width - 1,
             WEIGHT_HEIGHT_EXT=shape.kernel_height - 1)
    case.set("CSC.D_WEIGHT_SIZE_EXT_1", WEIGHT_CHANNEL_EXT=shape.channels - 1,
             WEIGHT_KERNEL=shape.kernels - 1)
    case.set("CSC.D_ATOMICS", shape.out_width * shape.out_height - 1)
    case.set("CSC.D_RELEASE", shape.height - 1)
    case.set("CSC.D_CONV_STRIDE_EXT", CONV_X_STRIDE_EXT=shape.stride - 1,
             CONV_Y_STRIDE_EXT=shape.stride - 1)
    case.set("CSC.D_DILATION_EXT")
    case.set("CSC.D_ZERO_PADDING", PAD_LEFT=shape.left, PAD_TOP=shape.top)
    case.set("CSC.D_PRA_CFG")

    case.set("CDMA.D_DATAIN_SIZE_0", DATAIN_WIDTH=shape.width - 1,
             DATAIN_HEIGHT=shape.height - 1)
    case.set("CDMA.D_DATAIN_SIZE_1", shape.channels - 1)
    case.set("CDMA.D_PIXEL_OFFSET")
    case.set("CDMA.D_DAIN_RAM_TYPE", 1)
    case.address("CDMA.D_DAIN_ADDR", SOURCE, "_LOW_0", "_HIGH_0")
    case.set("CDMA.D_LINE_STRIDE", source.line)
    case.set("CDMA.D_SURF_STRIDE", source.surface)
    case.set("CDMA.D_DAIN_MAP", LINE_PACKED=1, SURF_PACKED=1)
    case.set("CDMA.D_BATCH_STRIDE")
    case.set("CDMA.D_FETCH_GRAIN")
    case.set("CDMA.D_WEIGHT_SIZE_0", BYTE_PER_KERNEL=shape.kernel_width * shape.kernel_height *
             shape.channels * BYTES[precision] - 1)
    case.set("CDMA.D_WEIGHT_SIZE_1", shape.kernels - 1)
    case.set("CDMA.D_WEIGHT_RAM_TYPE", 1)
    case.address("CDMA.D_WEIGHT_ADDR", WEIGHTS)
    case.set("CDMA.D_MEAN_FORMAT")
    case.set("CDMA.D_CVT_CFG")
    case.set("CDMA.D_CVT_OFFSET")
    case.set("CDMA.D_CVT_SCALE", 1)
    case.set("CDMA.D_CONV_STRIDE", CONV_X_STRIDE=shape.stride - 1, CONV_Y_STRIDE=shape.stride - 1)
    case.set("CDMA.D_ZERO_PADDING", PAD_LEFT=shape.left, PAD_RIGHT=shape.right,
             PAD_TOP=shape.top, PAD_BOTTOM=shape.bottom)
    case.set("CDMA.D_NAN_FLUSH_TO_ZERO")
    describe(case, code, shape, source, (data_banks, weight_banks), clip)
    # From the end of the pipeline to its start.
    for unit in units:
        case.set(f"{unit}.D_OP_ENABLE", OP_EN=1)
    case.interrupts |= 1 << 16 | 1 << 18 | 1 << 20


def layer(hw, precision, seed):
    """More channels and kernels than one cube and one group, a stride, uneven borders."""
    random = Random(seed)
    case = Case(hw, "conv", precision, "3x2 kernels, stride 2, uneven borders, bias and ReLU")
    channels = hw.channels + 3
    shape = Shape(6, 5, channels, hw.kernels // BYTES[precision] + 5, 3, 2, 2, 1, 1, 0, 0,
                  0 if precision == FP16 else -9)
    # Of fp16 small integers, so that every sum is exact.
    small = (-2, 2) if precision == FP16 else (None, None)
    source = random_cube(hw, precision, shape.width, shape.height, channels, random, *small)

    def weight():
        return random.integer(-1, 1) if precision == FP16 else random.number(precision)
    weights = [[[[weight() for _ in range(channels)] for _ in range(shape.kernel_width)]
                for _ in range(shape.kernel_height)] for _ in range(shape.kernels)]
    stream = pack_weights(hw, precision, shape, weights)

    stage = sdp.Stage(precision, precision)
    stage.relu = True
    clip = 0 if precision == FP16 else 3
    if precision == FP16:
        stage.bias = [random.integer(-40, 40) for _ in range(shape.kernels)]
    else:
        stage.bias = [random.number("int16") for _ in range(shape.kernels)]
        stage.bias_shift = 0 if precision == INT8 else 10
        stage.converter = (0, 5, 11 if precision == INT8 else 18)

    def result(k, y, x):
        if k >= shape.kernels:
            return stage.apply(0, k)
        total = accumulate(shape, source, weights, k, y, x)
        if precision != FP16:
            total = saturate(rounded_shift(total, clip), 32)
        return stage.apply(total, k)

    output = Cube(hw, precision, shape.out_width, shape.out_height, shape.kernels, result)
    values = [v for plane in output.data[:shape.kernels] for row in plane for v in row]
    # Results that are all alike, or all at a limit, would show nothing.
    assert len(set(values)) > 20, set(values)
    case.load(SOURCE, source.pack(), "src.bin")
    case.load(WEIGHTS, stream, "wt.bin")
    sdp.program(case, stage, output, precision)
    program(case, precision, shape, source, len(stream), clip)
    case.expect(DESTINATION, output.pack())
    return case
