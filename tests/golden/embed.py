#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The golden layers of the self-test, as rows for a table in C++: embed.py FILE writes them.

Layers of make.py for every configuration, as descriptors with what they read and what
they must write. Only layouts differ between the configurations of the second generation.
"""

import pathlib
import sys

sys.dont_write_bytecode = True

import cdp  # noqa: E402
import conv  # noqa: E402
import moves  # noqa: E402
import pdp  # noqa: E402
import sdp  # noqa: E402
from case import FP16, INT8, INT16, NV_FULL, SECOND_GENERATION  # noqa: E402


def first_generation():
    hw = NV_FULL
    for precision in (INT8, INT16, FP16):
        yield conv.layer(hw, precision, 10)
        yield sdp.layer(hw, precision, 11, y=True)
        yield cdp.layer(hw, precision, 3, 12)
    yield pdp.layer(hw, INT8, pdp.MAXIMUM, 3, 2, 20, 1, 1, 1, 0)
    yield pdp.layer(hw, INT16, pdp.AVERAGE, 3, 2, 21, 1, 1, 1, 0, pad=1000)
    yield pdp.layer(hw, FP16, pdp.AVERAGE, 2, 1, 22)
    yield moves.copy(hw, 30)
    yield moves.contract(hw, INT8, 31)
    yield moves.split(hw, FP16, 32)
    yield moves.merge(hw, INT16, 33)


def second_generation(hw):
    yield conv.layer(hw, INT8, 1)
    yield sdp.layer(hw, INT8, 2, y=hw.has_y)
    yield pdp.layer(hw, INT8, pdp.MAXIMUM, 2, 1, 3)
    yield pdp.layer(hw, INT8, pdp.AVERAGE, 3, 2, 4, 1, 1, 1, 0, pad=-5)
    yield cdp.layer(hw, INT8, 5, 5)


def cases():
    yield from first_generation()
    for hw in SECOND_GENERATION:
        yield from second_generation(hw)


def rows(number, case):
    """Return what the case needs ahead of the table, and its row of it."""
    (place, output, _), = case.expected
    slots = {hex(address): slot for slot, (address, _, _) in enumerate(case.memory)}
    slots[hex(place)] = len(slots)
    names = []
    ahead = ""
    for data in [data for _, data, _ in case.memory] + [output]:
        names.append(f"kBytes{number}_{len(names)}")
        ahead += f"constexpr std::uint8_t {names[-1]}[] = {{{','.join(map(str, data))}}};\n"
    inputs = f"kInputs{number}"
    ahead += (f"constexpr std::span<const std::uint8_t> {inputs}[] = "
              f"{{{', '.join(names[:-1])}}};\n")
    fields = "".join(f"  {name} = {slots.get(value, value)};\n" for name, value in case.fields)
    used = {name.split(".")[0] for name, _ in case.fields}
    ahead += (f"void describe{number}([[maybe_unused]] nvdla_layer& layer, "
              "[[maybe_unused]] nvdla_lut& lut, [[maybe_unused]] nvdla_transfer& transfer) "
              f"{{\n{fields}}}\n")
    has = ", ".join("true" if part in used else "false" for part in ("lut", "transfer"))
    return ahead, (f'  {{"{case.hw.name}", "{case.unit}", "{case.name}", "{case.what}", {inputs}, '
                   f"{names[-1]}, describe{number}, {has}}},\n")


def main():
    if len(sys.argv) != 2:
        print("usage: embed.py FILE", file=sys.stderr)
        return 2
    parts = [rows(number, case) for number, case in enumerate(cases())]
    text = ("// SPDX-License-Identifier: MIT\n// Written by tests/golden/embed.py.\n" +
            "".join(ahead for ahead, _ in parts) + "constexpr Golden kGoldens[] = {\n" +
            "".join(row for _, row in parts) + "};\n")
    pathlib.Path(sys.argv[1]).write_text(text)
    return 0


sys.exit(main())
