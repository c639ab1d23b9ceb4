#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Say what the JUnit files of ctest in DIRECTORY tell.

summary.py stage DIRECTORY NAME STATUS SECONDS: a line for a stage, and the end of
what each failed test said; fails if a test failed, if fewer passed than least.txt
asks for, or if STATUS, of the stage itself, is not 0.

summary.py total DIRECTORY SECONDS [FAILED-STAGE]: what was skipped and why, and the
total as the last line; fails if anything did.
"""

import collections
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


LINES_OF_FAILURE = 15
LEAST = pathlib.Path(__file__).with_name("least.txt")


def shared_is_required():
    """Whether what needs NVDLA_SHARED must have run: 1 in CI where the folder is there."""
    return os.environ.get("NVDLA_REQUIRE_SHARED", "0") not in ("", "0")


def last_words(text):
    """Return the end of what a test said, indented: its reason, seldom far from the end."""
    lines = (text or "").rstrip().splitlines()[-LINES_OF_FAILURE:]
    return "".join(f"\n    {line[:500]}" for line in lines)


def ends(log):
    """Return how the tests that did not pass ended, by name: "Timeout", "Exception: SegFault".

    CTest writes that to its log only: in its JUnit file a time-out looks like any failure.
    """
    text = log.read_text(errors="replace") if log.is_file() else ""
    return dict(re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*(?:\x1b\[[\d;]*m)*\*\*\*"
                           r"(\S.*?) +[\d.]+ sec", text, re.M))


def end_text(end, case):
    """Return how a test ended if it did not end by itself, as " (time-out after 900 s)"."""
    if end == "Timeout":
        return f" (time-out after {float(case.get('time') or 0):.0f} s)"
    return f" ({end.removeprefix('Exception: ')})" if end.startswith("Exception") else ""


def reason_of_skip(text):
    """Return why a test was skipped: a script's `skipped: why`, or GTEST_SKIP()'s message."""
    match = re.search(r"^skipped: (.*)$|: Skipped\n(.+)$|^\S+:\d+\n(.+)$", text or "", re.M)
    return next(filter(None, match.groups())) if match else "it does not say why"


class Results:
    """Numbers of passed, failed and skipped tests; names of what failed, reasons of skips."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.reasons = collections.Counter()

    def skip(self, text):
        self.skipped += 1
        self.reasons[reason_of_skip(text)] += 1

    def add_process(self, path):
        """Add one executable of GoogleTest, from its own file."""
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            failure = case.find("failure")
            if failure is not None:
                self.failed += 1
                name = f"{path.stem}: {case.get('classname')}.{case.get('name')}"
                self.failures.append(name + last_words(failure.text))
            elif case.get("result") == "completed":
                self.passed += 1
            elif case.get("result") == "skipped":
                self.skip(case.find("skipped").get("message"))

    def add_stage(self, path):
        ended = ends(path.with_suffix(".log"))
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            # ctest: run, fail, notrun (skipped or not built), disabled
            status = case.get("status")
            process = path.with_suffix("") / (case.get("name") + ".xml")
            known = len(self.failures)
            if process.is_file():
                self.add_process(process)
            if status == "run":
                self.passed += not process.is_file()
            elif case.find("skipped") is not None or status == "disabled":
                self.skip(case.findtext("system-out"))
            else:
                # A process that died has no file, or one without what it died of.
                end = end_text(ended.get(case.get("name"), ""), case)
                if end or len(self.failures) == known:
                    self.failed += 1
                    self.failures.append(case.get("name") + end +
                                         last_words(case.findtext("system-out")))


def least(stage):
    """Return the number of least.txt for a stage, 0 if it has none or some tests were chosen."""
    if os.environ.get("NVDLA_SOME_TESTS"):
        return 0
    for line in LEAST.read_text().splitlines():
        name, *numbers = line.split()
        if name == stage:
            # The last one is that of `make test-all`.
            return int(numbers[-1 if os.environ.get("NVDLA_ALL_TESTS") else 0])
    return 0


def print_stage(directory, name, status, seconds):
    results = Results()
    path = directory / f"{name}.xml"
    if path.is_file():
        results.add_stage(path)
    print(f"{name:<14} {results.passed:5} passed {results.failed:4} failed "
          f"{results.skipped:4} skipped {seconds:6} s", flush=True)
    for failure in results.failures:
        print(f"FAILED {name}: {failure}")
    ran = results.passed + (0 if shared_is_required() else results.skipped)
    if results.failures:
        return 1
    if status:
        log = directory / f"{name}.log"
        said = log.read_text(errors="replace") if log.is_file() else ""
        print(f"FAILED {name}: the stage itself; the end of {log}:" + last_words(said))
        return 1
    if ran < least(name):
        print(f"FAILED {name}: only {ran} tests passed, at least {least(name)} must ({LEAST.name}); "
              "which ones are gone?")
        return 1
    return 0


def print_total(directory, seconds, failed_stage):
    results = Results()
    for path in directory.glob("*.xml"):
        results.add_stage(path)
    if failed_stage and not results.failed:
        results.failed = 1
    for reason, number in sorted(results.reasons.items()):
        print(f"skipped {number:5}: {reason[:500]}")
    print(f"\n{seconds} s; logs are in {directory}")
    print(f"{results.passed} passed, {results.failed} failed, {results.skipped} skipped")
    return 1 if results.failed or not results.passed else 0


def main():
    what, directory, *rest = sys.argv[1:]
    if what == "stage":
        return print_stage(pathlib.Path(directory), rest[0], int(rest[1]), int(rest[2]))
    return print_total(pathlib.Path(directory), int(rest[0]), rest[1:])


if __name__ == "__main__":
    sys.exit(main())
