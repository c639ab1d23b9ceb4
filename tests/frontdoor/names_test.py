#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""names_test.py BUILD: names of tests are the same in every build.

GoogleTest prints a parameter without a name generator as it can: pointers, bytes of
structures. Names of letters, digits and . / _ - cannot hold those, and -R takes them
as they are. A test that stands there as `name_NOT_BUILT` has not been looked at.
"""

import json
import re
import subprocess
import sys

NAME = re.compile(r"[\w./-]+", re.ASCII)
POINTER = re.compile(r"0x[0-9a-f]{4,}", re.I)


def main():
    listed = subprocess.run(["ctest", "--test-dir", sys.argv[1], "--show-only=json-v1"],
                            check=True, capture_output=True).stdout
    names = [test["name"] for test in json.loads(listed)["tests"]]
    bad = [name for name in names if not NAME.fullmatch(name) or POINTER.search(name)]
    for name in bad[:50]:
        print(f"{name}: give INSTANTIATE_TEST_SUITE_P() a name generator")
    twice = sorted({name for name in names if names.count(name) > 1}) if not bad else []
    for name in twice:
        print(f"{name}: two tests have this name")
    print(f"{len(names)} names, {len(bad) + len(twice)} complaints")
    return 1 if bad or twice or not names else 0


if __name__ == "__main__":
    sys.exit(main())
