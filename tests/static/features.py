#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that docs/features.md tells the truth about where things are.

In the tables there, the second column names files, the third tests as
Suite.Name (GoogleTest) or as ctest knows them. All of them must be there. A
complaint is one line, file:line: what is wrong; the exit status is 1 if there
was any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "features.md"

GTEST = re.compile(
    r"^\s*(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+)\s*,\s*(\w+)", re.M)
# Names that are put together from variables count up to the first of them.
CTEST = re.compile(r"add_test\(NAME \"?([\w./-]*)|nvdla_add_(?:static_check|\w*test|fuzzer)\(([\w./-]+)")


def known_tests():
    exact, prefixes = set(), set()
    for path in (ROOT / "tests").rglob("*"):
        if path.suffix == ".cpp":
            exact.update(".".join(match) for match in GTEST.findall(path.read_text()))
        elif path.name == "CMakeLists.txt":
            for made, named in CTEST.findall(path.read_text()):
                if made:
                    prefixes.add(made)
                if named:
                    exact.add(named)
    return exact, prefixes


def main():
    exact, prefixes = known_tests()
    complaints = rows = 0
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or set(cells[0]) <= set("-: "):
            continue
        if cells[0] == "feature":
            continue
        rows += 1
        places = re.findall(r"`([^`]+)`", cells[1])
        proofs = re.findall(r"`([^`]+)`", cells[2])
        wrong = [f"no file {name}" for name in places if not (ROOT / name).exists()]
        wrong += [f"no test {name}" for name in proofs
                  if name not in exact and not any(p and name.startswith(p) for p in prefixes)]
        if not places:
            wrong.append("names no file")
        if not proofs:
            wrong.append("names no test")
        for text in wrong:
            print(f"{TABLE.relative_to(ROOT)}:{number}: {text}")
        complaints += len(wrong)
    if rows == 0:
        print(f"{TABLE.relative_to(ROOT)}: no table")
        return 1
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
