#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""names_test.py SOURCE BUILD: names of tests are the same in every build.

A row of a parameterised test needs a name generator: without one it is a number that
depends on the order of the rows. Names of tests may hold nothing but letters,
digits and . / _ - +: GoogleTest prints what it does not know as pointers and bytes. Each test of
ctest has the label of its folder.
"""

import json
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"[\w./+-]+", re.ASCII)
POINTER = re.compile(r"0x[0-9a-f]{4,}", re.I)
MACRO = "INSTANTIATE_TEST_SUITE_P("


def arguments(text, start):
    """Return how many arguments the macro has whose bracket is before `start`."""
    depth, number = 1, 1
    while depth:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[start], 0)
        number += text[start] == "," and depth == 1
        start += 1
    return number


def without_generator(source):
    """Yield file:line of each that gives its rows no names."""
    for path in sorted((source / "tests").rglob("*.cpp")):
        text = path.read_text()
        for match in re.finditer(re.escape(MACRO), text):
            if arguments(text, match.end()) < 4:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(source)}:{line}: {MACRO}...) without a name generator"


def names_of_cases(executable):
    """Yield the tests of an executable of GoogleTest, as Suite.Name."""
    listed = subprocess.run([executable, "--gtest_list_tests"], check=True, capture_output=True,
                            text=True).stdout
    suite = ""
    for line in listed.splitlines():
        # What is behind "#" is the value of a parameter, as it is printed.
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite:
            yield suite + name


def main():
    source, build = map(pathlib.Path, sys.argv[1:])
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                            check=True, capture_output=True).stdout
    tests = json.loads(listed)["tests"]
    names = [test["name"] for test in tests]
    properties = {test["name"]: {one["name"]: one["value"] for one in test["properties"]}
                  for test in tests}
    unlabelled = [name for name, has in properties.items()
                  if not any(label.startswith("tests:") for label in has.get("LABELS", []))]
    # The first part of each executable that is built stands for all of them.
    executables = {test["command"][0] for test in tests if "command" in test and
                   "GTEST_SHARD_INDEX=0" in properties[test["name"]].get("ENVIRONMENT", [])}
    for executable in sorted(executables):
        prefix = pathlib.Path(executable).name + "."
        names += [prefix + name for name in names_of_cases(executable)]
    complaints = list(without_generator(source))
    complaints += [f"{name}: no name for a test" for name in names
                   if not NAME.fullmatch(name) or POINTER.search(name)]
    if len(set(names)) != len(names):
        complaints += sorted({f"{name}: two tests have this name" for name in names
                              if names.count(name) > 1})
    complaints += [f"{name}: no label tests:FOLDER" for name in unlabelled]
    print(*complaints[:50], f"{len(names)} names, {len(complaints)} complaints", sep="\n")
    return 1 if complaints or not names else 0


if __name__ == "__main__":
    sys.exit(main())
