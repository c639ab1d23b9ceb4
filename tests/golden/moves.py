# SPDX-License-Identifier: MIT
"""BDMA and Rubik: data that only change their place."""

import struct

from arithmetic import Cube, Random, random_cube
from case import BDMA, BYTES, CODE, DESTINATION, RUBIK, SOURCE, Case


def copy(hw, seed):
    """BDMA: two surfaces of three lines with gaps; the gaps stay as they were."""
    random = Random(seed)
    case = Case(hw, "bdma", "gaps", "2 surfaces of 3 lines of 64 bytes, gaps on both sides")
    line, lines, surfaces = 64, 3, 2
    from_line, from_surface, to_line, to_surface = 96, 320, 128, 448
    source = bytes(random.integer(0, 255) for _ in range(surfaces * from_surface))
    output = bytearray(b"\xa5" * (surfaces * to_surface))
    for s in range(surfaces):
        for y in range(lines):
            start = s * from_surface + y * from_line
            place = s * to_surface + y * to_line
            output[place:place + line] = source[start:start + line]
    case.load(SOURCE, source, "src.bin")
    for name, place in (("SRC", SOURCE), ("DST", DESTINATION)):
        case.address(f"BDMA.CFG_{name}_ADDR", place)
    case.set("BDMA.CFG_LINE", SIZE=line // 32 - 1)
    case.set("BDMA.CFG_CMD", SRC_RAM_TYPE=1, DST_RAM_TYPE=1)
    case.set("BDMA.CFG_LINE_REPEAT", lines - 1)
    case.set("BDMA.CFG_SRC_LINE", from_line)
    case.set("BDMA.CFG_DST_LINE", to_line)
    case.set("BDMA.CFG_SURF_REPEAT", surfaces - 1)
    case.set("BDMA.CFG_SRC_SURF", from_surface)
    case.set("BDMA.CFG_DST_SURF", to_surface)
    case.set("BDMA.CFG_OP", EN=1)
    case.set("BDMA.CFG_LAUNCH0", GRP0_LAUNCH=1)
    case.interrupts |= 1 << 6
    case.describe("layer", kind=BDMA)
    case.describe("layer.bdma", num_transfers=1)
    case.describe("transfer", line_bytes=line, lines=lines, surfaces=surfaces)
    case.surface("transfer.source", SOURCE, from_line, from_surface)
    case.surface("transfer.destination", DESTINATION, to_line, to_surface)
    case.expect(DESTINATION, bytes(output))
    case.check("BDMA.STATUS", 20 | 1 << 8)  # all slots free, idle
    return case


def start_rubik(case, mode, source, precision, channels):
    case.describe("layer", kind=RUBIK)
    case.describe("layer.rubik", mode=mode, precision=CODE[precision], width=source.width,
                  height=source.height, channels=channels)
    case.set("RBK.S_POINTER")
    case.set("RBK.D_MISC_CFG", RUBIK_MODE=mode, IN_PRECISION=CODE[precision])
    case.set("RBK.D_DAIN_RAM_TYPE", 1)
    case.set("RBK.D_DAOUT_RAM_TYPE", 1)
    case.set("RBK.D_DATAIN_SIZE_0", DATAIN_WIDTH=source.width - 1,
             DATAIN_HEIGHT=source.height - 1)
    case.set("RBK.D_DATAIN_SIZE_1", source.channels - 1)
    case.address("RBK.D_DAIN_ADDR", SOURCE)
    case.address("RBK.D_DAOUT_ADDR", DESTINATION)


def end_rubik(case, channels, data_in, data_out, contract=(0, 0, 0)):
    """Strides are (line, surface, plane); contract is strides 0 and 1 and the factors."""
    case.set("RBK.D_DATAOUT_SIZE_1", channels - 1)
    for name, strides in (("DAIN", data_in), ("DAOUT", data_out)):
        for kind, stride in zip(("LINE", "SURF", "PLANAR"), strides):
            case.set(f"RBK.D_{name}_{kind}_STRIDE", stride)
    case.set("RBK.D_CONTRACT_STRIDE_0", contract[0])
    case.set("RBK.D_CONTRACT_STRIDE_1", contract[1])
    case.set("RBK.D_DECONV_STRIDE", contract[2])
    # What a descriptor calls a surface of planes is a plane.
    for name, address, (line, surface, plane) in (("input", SOURCE, data_in),
                                                  ("output", DESTINATION, data_out)):
        case.surface(f"layer.rubik.{name}", address, line, surface or plane)
    case.set("RBK.D_OP_ENABLE", OP_EN=1)
    case.interrupts |= 1 << 8


def contract(hw, precision, seed):
    """Blocks of channels become pixels: 2 x 3 of them."""
    random, sx, sy = Random(seed), 2, 3
    case = Case(hw, "rubik", f"{precision}_contract", "channels to 2x3 pixels")
    elements = hw.atom // BYTES[precision]
    source = random_cube(hw, precision, 3, 2, 2 * elements * sx * sy, random)
    output = Cube(hw, precision, source.width * sx, source.height * sy, 2 * elements,
                  lambda c, y, x: source.at(((y % sy) * sx + x % sx) * 2 * elements + c,
                                            y // sy, x // sx))
    case.load(SOURCE, source.pack(), "src.bin")
    start_rubik(case, 0, source, precision, source.channels)
    case.describe("layer.rubik", stride_width=sx, stride_height=sy)
    end_rubik(case, output.channels, (source.line, source.surface, 0),
              (output.line, output.surface, 0),
              (2 * source.surface, sy * output.line, (sx - 1) | (sy - 1) << 16))
    case.expect(DESTINATION, output.pack())
    return case


def planes(cube, fill):
    """The cube a plane after the other; a line every 64 bytes, `fill` after what is written."""
    form = {"int8": "<b", "int16": "<h", "fp16": "<e"}[cube.precision]
    data = b""
    for c in range(cube.channels):
        for y in range(cube.height):
            line = b"".join(struct.pack(form, cube.at(c, y, x)) for x in range(cube.width))
            # Lines are written in whole pieces of 32 bytes.
            line += bytes(-len(line) % 32)
            data += line + fill * (64 - len(line))
    return data


def split(hw, precision, seed):
    random = Random(seed)
    case = Case(hw, "rubik", f"{precision}_split", "a feature cube to planes")
    source = random_cube(hw, precision, 9, 3, hw.atom // BYTES[precision] + 5, random)
    case.load(SOURCE, source.pack(), "src.bin")
    start_rubik(case, 1, source, precision, source.channels)
    end_rubik(case, source.channels, (source.line, source.surface, 0),
              (64, 0, 64 * source.height))
    case.expect(DESTINATION, planes(source, b"\xa5"))
    return case


def merge(hw, precision, seed):
    random = Random(seed)
    case = Case(hw, "rubik", f"{precision}_merge", "planes to a feature cube")
    channels = hw.atom // BYTES[precision] + 5
    output = random_cube(hw, precision, 9, 3, channels, random)
    # Lanes beyond the channels are written as 0.
    for c in range(channels, output.lanes):
        output.data[c] = [[0] * output.width for _ in range(output.height)]
    case.load(SOURCE, planes(output, b"\x5a"), "src.bin")
    start_rubik(case, 2, output, precision, channels)
    end_rubik(case, channels, (64, 0, 64 * output.height), (output.line, output.surface, 0))
    case.expect(DESTINATION, output.pack())
    return case
