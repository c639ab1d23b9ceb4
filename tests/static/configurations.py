#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that every configuration of firmware/nvdla_hw.c is wherever one has to be named.

docs/extending.md tells what goes there. A complaint is one line; the exit status is 1 if there
was any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARDWARE = "firmware/nvdla_hw.c"

# Where it is named, how, and why.
PLACES = (
    ("kernel/nvdla_platform.c", r'"nvidia,nvdla-{hyphened}",\s*\.data = "{name}"',
     "the driver takes no device tree for it"),
    ("kernel/upstream/nvidia,nvdla.yaml", r"^ {{14}}- nvidia,nvdla-{hyphened}$",
     "the binding does not have it for systems on chip"),
    ("kernel/upstream/nvidia,nvdla.yaml", r"^ {{10}}- nvidia,nvdla-{hyphened}$",
     "the binding does not have it alone"),
    ("docs/bring-up.md", r"^\| number .*\| {number} \|.*\n\|[-|]*\n\| configuration .*\| {name} \|",
     "nobody knows its number in new_id"),
    ("tests/golden/case.py", r'Hardware\("{name}",', "the self-test has no golden layers for it"),
    ("tests/unit/compile/hw_test.cpp", r'{{"{name}",', "nobody checks its parameters"),
    ("tests/unit/compile/configurations_test.cpp", r'{{"{name}",', "nobody checks its limits"),
)
# Of those without a second memory interface, which a node cannot have SRAM for.
WITHOUT_SRAM = ("kernel/upstream/nvidia,nvdla.yaml", r"^allOf:[\s\S]*- nvidia,nvdla-{hyphened}$")


def complaints():
    source = (ROOT / HARDWARE).read_text()
    blocks = re.findall(r'\.name = "(\w+)",(.*?)\n\t\}', source, re.S)
    if not blocks:
        yield f"{HARDWARE}: has no configurations"
    for index, (name, block) in enumerate(blocks):
        for path, pattern, why in PLACES:
            pattern = pattern.format(name=name, hyphened=name.replace("_", "-"), number=index + 1)
            if not re.search(pattern, (ROOT / path).read_text(), re.M):
                yield f"{path}: has no {name}: {why}"
        path, pattern = WITHOUT_SRAM
        listed = re.search(pattern.format(hyphened=name.replace("_", "-")), (ROOT / path).read_text(), re.M) is not None
        if listed == ("NVDLA_HW_SRAM" in block):
            yield (f"{path}: {name} is{'' if listed else ' not'} among those without SRAM, and has "
                   f"{'it' if listed else 'none'}")


def main():
    found = list(complaints())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
