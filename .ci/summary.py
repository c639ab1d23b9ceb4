#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""summary.py DIRECTORY [FAILED-STAGE]: add up the JUnit files of ctest.

Prints a line for each file, the end of what each failed test said, and the
total as the last line; fails if a test failed, if nothing ran, or if a stage
failed for a reason that is no test.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


LINES_OF_FAILURE = 15


def last_words(text):
    """Return the end of what a test said, indented: its reason, seldom far from the end."""
    lines = (text or "").rstrip().splitlines()[-LINES_OF_FAILURE:]
    return "".join(f"\n    {line[:500]}" for line in lines)


def count_process(path):
    """Return the same as count() for one executable of GoogleTest, from its own file."""
    counts, failed = [0, 0, 0], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        failure = case.find("failure")
        if failure is not None:
            counts[1] += 1
            name = f"{path.stem}: {case.get('classname')}.{case.get('name')}"
            failed.append(name + last_words(failure.text))
        elif case.get("result") == "completed":
            counts[0] += 1
        elif case.get("result") == "skipped":
            counts[2] += 1
    return counts, failed


def count(path):
    """Return [passed, failed, skipped] and what failed: names, with the end of what was said."""
    counts, failed = [0, 0, 0], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        # ctest: run, fail, notrun (skipped or not built), disabled
        status = case.get("status")
        skipped = case.find("skipped") is not None
        many = path.with_suffix("") / (case.get("name") + ".xml")
        names = []
        if many.is_file():
            inner, names = count_process(many)
            counts = [a + b for a, b in zip(counts, inner)]
            failed += names
        if status == "run":
            counts[0] += not many.is_file()
        elif skipped or status == "disabled":
            counts[2] += 1
        # A process that died has no file, or one without what it died of.
        elif not names:
            counts[1] += 1
            failed.append(case.get("name") + last_words(case.findtext("system-out")))
    return counts, failed


def main():
    directory, stage = pathlib.Path(sys.argv[1]), sys.argv[2:]
    total, all_failed = [0, 0, 0], []
    for path in sorted(directory.glob("*.xml"), key=lambda p: p.stat().st_mtime):
        counts, failed = count(path)
        print("%-14s %5d passed %4d failed %4d skipped" % (path.stem, *counts))
        total = [a + b for a, b in zip(total, counts)]
        all_failed += [f"{path.stem}: {name}" for name in failed]
    if stage and not any(name.startswith(stage[0] + ":") for name in all_failed):
        total[1] += 1
        all_failed.append(f"{stage[0]}: the stage itself")
    for name in all_failed:
        print("FAILED", name)
    print("\n%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] or not total[0] else 0


sys.exit(main())
