#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The golden register cases of the tree's own: make.py writes them, make.py --check compares.

What is expected is computed here, in plain Python, from the documented arithmetic and
layouts; neither model nor compiler had a part in it. Each unit and precision is there
once. Of registers only offsets and fields come from the tree.
"""

import pathlib
import sys

sys.dont_write_bytecode = True

import cdp  # noqa: E402
import conv  # noqa: E402
import moves  # noqa: E402
import pdp  # noqa: E402
import sdp  # noqa: E402
from case import FP16, INT8, INT16, NV_FULL, NV_SMALL  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def cases():
    yield conv.layer(NV_SMALL, INT8, 1)
    yield sdp.layer(NV_SMALL, INT8, 2, y=False)
    yield pdp.layer(NV_SMALL, INT8, pdp.MAXIMUM, 2, 1, 3)
    yield pdp.layer(NV_SMALL, INT8, pdp.AVERAGE, 3, 2, 4, 1, 1, 1, 0, pad=-5)
    yield cdp.layer(NV_SMALL, INT8, 5, 5)
    for seed, precision in enumerate((INT8, INT16, FP16), 10):
        yield conv.layer(NV_FULL, precision, seed)
        yield sdp.layer(NV_FULL, precision, seed, y=True)
        yield cdp.layer(NV_FULL, precision, 3, seed)
    yield pdp.layer(NV_FULL, INT8, pdp.MINIMUM, 3, 2, 20, 1, 1, 1, 0)
    yield pdp.layer(NV_FULL, INT16, pdp.AVERAGE, 3, 2, 21, 1, 1, 1, 0, pad=1000)
    yield pdp.layer(NV_FULL, FP16, pdp.AVERAGE, 2, 1, 22)
    yield pdp.layer(NV_FULL, FP16, pdp.MAXIMUM, 3, 2, 23, 1, 1, 1, 0)
    yield moves.copy(NV_FULL, 30)
    yield moves.contract(NV_FULL, INT8, 31)
    yield moves.split(NV_FULL, FP16, 32)
    yield moves.merge(NV_FULL, INT16, 33)


def main():
    wanted = {}
    for case in cases():
        wanted |= case.files()
    if sys.argv[1:] == ["--check"]:
        there = {str(path.relative_to(HERE)): path.read_bytes()
                 for name in (NV_FULL.name, NV_SMALL.name)
                 for path in (HERE / name).rglob("*") if path.is_file()}
        for name in sorted(there.keys() | wanted.keys()):
            if there.get(name) != wanted.get(name):
                print(f"tests/golden/{name}: differs from what make.py writes")
        return 1 if there != wanted else 0
    if sys.argv[1:]:
        print("usage: make.py [--check]", file=sys.stderr)
        return 2
    for name, data in wanted.items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_bytes(data)
    return 0


sys.exit(main())
