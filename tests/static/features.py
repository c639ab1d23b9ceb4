#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that docs/features.md and docs/limits.md tell the truth.

In their tables the third column names tests: Suite.Name (GoogleTest), a row of
a parameterised one as Suite/row, or as ctest knows them. The second column
names files in features.md; in limits.md rules and fields of nvdla_layer.h, and
one of the tests beside a rule must speak of it. Every rule must be in
limits.md. A complaint is one line, file:line: what is wrong; the exit status is
1 if there was any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / "uapi/drm/nvdla_layer.h").read_text()

GTEST = re.compile(
    r"^\s*(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+)\s*,\s*(\w+)", re.M)
# Names that are put together from variables count up to the first of them.
CTEST = re.compile(r"add_test\(NAME \"?([\w./-]*)|nvdla_add_(?:static_check|\w*test|fuzzer)\(([\w./-]+)")
LITERAL = re.compile(r'"([^"\\\n]*)"')

FIXTURE = re.compile(r"^class (\w+) (.*?)^};", re.M | re.S)

RULES = {name: f"NVDLA_RULE_{name}"
         for name in re.findall(r"NVDLA_RULE_(\w+) = [1-9]", HEADER)}
FIELDS = set(re.findall(r"@(\w+):", HEADER))


def pieces(pattern, source):
    """Each match with the text from there to the next one."""
    found = list(pattern.finditer(source))
    ends = [match.start() for match in found[1:]] + [len(source)]
    return [(match, source[match.start():end]) for match, end in zip(found, ends)]


class Tests:
    """What each test is, by name: the text that says so, as far as there is any."""

    def __init__(self):
        self.text = {}
        self.prefixes = set()
        for path in (ROOT / "tests").rglob("*"):
            if path.suffix == ".cpp":
                self.add_source(path.read_text())
            elif path.name == "CMakeLists.txt":
                for made, named in CTEST.findall(path.read_text()):
                    # What a loop adds has a variable behind the dot.
                    if made or named.endswith("."):
                        self.prefixes.add(made or named)
                    else:
                        self.add(named, "")

    def add(self, name, text):
        self.text[name] = self.text.get(name, "") + text

    def add_source(self, source):
        suites = {}  # parameterised ones, and what all rows of them go through
        fixtures = dict(FIXTURE.findall(source))
        for match, text in pieces(GTEST, source):
            suite, name = match.groups()
            self.add(f"{suite}.{name}", fixtures.get(suite, "") + text)
            if "TEST_P" in match.group(0):
                suites[suite] = suites.get(suite, "") + text
        # A row is what follows its name, up to the next one's.
        for match, text in pieces(LITERAL, source) if suites else []:
            row = re.sub(r"\W", "_", match.group(1))
            for suite, common in suites.items():
                self.add(f"{suite}/{row}", text + common)

    def has(self, name):
        return name in self.text or any(p and name.startswith(p) for p in self.prefixes)


def check_places(names, _proofs, _tests):
    if not names:
        return ["names no file"]
    return [f"no file {name}" for name in names if not (ROOT / name).exists()]


def check_rules(names, proofs, tests):
    wrong = []
    for name in names:
        if not name.startswith("NVDLA_RULE_"):
            if name not in FIELDS:
                wrong.append(f"no field {name}")
        elif name not in RULES.values():
            wrong.append(f"no rule {name}")
        elif not any(name in tests.text.get(proof, "") for proof in proofs):
            # What is legal expects no rule at all.
            if not all("Boundaries" in proof for proof in proofs):
                wrong.append(f"none of the tests expects {name}")
    return wrong


def rows_of(page, heading):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or set(cells[0]) <= set("-: "):
            continue
        if cells[0] != heading:
            yield number, cells


def check_page(name, heading, check, tests):
    page = ROOT / "docs" / name
    complaints = []
    mentioned = set()
    seen = {}
    for number, cells in rows_of(page, heading):
        names, proofs = (re.findall(r"`([^`]+)`", cell) for cell in cells[1:])
        # Merging branches leaves both forms of a line that each has changed.
        alike = seen.setdefault((cells[1], min(proofs, default="")), number)
        if alike != number:
            complaints.append(f"docs/{name}:{number}: the same places as line {alike}, "
                              "and a test that is there, too")
        mentioned.update(names)
        wrong = check(names, proofs, tests)
        wrong += [f"no test {proof}" for proof in proofs if not tests.has(proof)]
        if not proofs:
            wrong.append("names no test")
        complaints += [f"docs/{name}:{number}: {text}" for text in wrong]
    if not mentioned:
        complaints.append(f"docs/{name}: no table")
    return complaints, mentioned


def main():
    tests = Tests()
    complaints, _ = check_page("features.md", "feature", check_places, tests)
    more, mentioned = check_page("limits.md", "limit", check_rules, tests)
    complaints += more
    complaints += [f"docs/limits.md: no line for {rule}"
                   for rule in RULES.values() if rule not in mentioned]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
