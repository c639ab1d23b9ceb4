#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold the list of rules in docs/testing.md to the tree.

Each file that it names is there, each folder of tests has one, it has at most
ROWS rows, and the numbers beside it are those of .ci/least.txt. A complaint is one
line, file:line: what is wrong; the exit status is 1 if there was any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/testing.md"
HEADING = "## Which tests hold which rule"
ROWS = 60
# They have no tests of their own.
NO_TESTS = {"tests/unit"}


def section(page):
    """The numbered lines below the heading, up to the next one."""
    inside = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("## "):
            inside = line == HEADING
        elif inside:
            yield number, line


def folders(files):
    """The folders of tests that a list of files has: those below tests/ and tests/unit/."""
    found = set()
    for name in files:
        parts = pathlib.PurePath(name).parts
        depth = 3 if parts[:2] == ("tests", "unit") else 2
        if len(parts) > depth:
            found.add("/".join(parts[:depth]))
    return found - NO_TESTS


def complaints(page, files, least):
    """What is wrong with a page, for the files of a tree and the text of least.txt."""
    rows, named = 0, set()
    text = " ".join(line for _, line in section(page))
    for number, line in section(page):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or set(cells[0]) <= {"-"} or cells == ["rule", "files"]:
            continue
        rows += 1
        places = ["tests/" + name for name in re.findall(r"`([^`]+)`", cells[-1])]
        named.update(places)
        if len(cells) != 2 or not cells[0] or not places:
            yield f"{PAGE}:{number}: a row is a rule and the files that hold it"
        for name in places:
            if name not in files:
                yield f"{PAGE}:{number}: there is no file {name}"
    if not 0 < rows <= ROWS:
        yield f"{PAGE}:1: {rows} rules; the list has 1 to {ROWS}"
    for folder in sorted(folders(files) - folders(named)):
        yield f"{PAGE}:1: no rule names a file of {folder}"
    numbers = re.findall(r"^(\w+) (\d+)(?: (\d+))?$", least, re.M)
    listed = ", ".join(f"{name} {quick}" + (f" ({all_tests})" if all_tests else "")
                       for name, quick, all_tests in numbers)
    if f"`.ci/least.txt`: {listed}." not in text:
        yield (f"{PAGE}:1: .ci/least.txt has other numbers: {listed}; which rule was won or lost? "
               "Change both")


def check_itself():
    """What the check is to find, and what not."""
    least = "# about\nstatic 2\nrelease 3 7\n"
    files = {"tests/unit/lut/lut_test.cpp", "tests/lift/main.cpp", "tests/CMakeLists.txt"}
    rows = ["| tables are near | `unit/lut/lut_test.cpp` |", "| layers lift | `lift/main.cpp` |"]

    def found(rows, numbers="static 2, release 3 (7)"):
        page = "\n".join([HEADING, f"`.ci/least.txt`: {numbers}.", "| rule | files |", "|---|---|",
                          *rows, "## Other", "| rows | `of another` |"])
        return [text.split(": ", 1)[1] for text in complaints(page, files, least)]

    assert not found(rows), found(rows)
    assert found(rows[:1]) == ["no rule names a file of tests/lift"]
    assert found(rows[1:]) == ["no rule names a file of tests/unit/lut"]
    assert found(rows + ["| x | `lift/none.cpp` |"]) == ["there is no file tests/lift/none.cpp"]
    assert found(rows + ["| x | nothing |"]) == ["a row is a rule and the files that hold it"]
    assert found(rows * 31) == ["62 rules; the list has 1 to 60"]
    assert "which rule was won or lost?" in found(rows, "static 2, release 4 (7)")[0]
    assert "which rule was won or lost?" in found(rows, "static 2, release 3 (6)")[0]


def main():
    check_itself()
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*")
             if path.is_file() and "__pycache__" not in path.parts}
    wrong = list(complaints((ROOT / PAGE).read_text(), files, (ROOT / ".ci/least.txt").read_text()))
    print("\n".join(wrong) or f"{PAGE}: the list of rules is that of the tree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
