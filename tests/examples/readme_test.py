#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""README.md quotes a source file word for word: readme_test.py README SOURCE."""
import difflib
import pathlib
import re
import sys

readme, source = (pathlib.Path(path) for path in sys.argv[1:3])
wanted = source.read_text()
blocks = re.findall(r"^```cpp\n(.*?)^```$", readme.read_text(), re.M | re.S)
if wanted in blocks:
    sys.exit(0)
if not blocks:
    sys.exit(f"{readme} has no ```cpp block; it should quote {source}")
best = max(blocks, key=lambda b: difflib.SequenceMatcher(None, b, wanted).ratio())
sys.stdout.writelines(difflib.unified_diff(
    best.splitlines(True), wanted.splitlines(True), str(readme), str(source)))
sys.exit(f"{readme} does not quote {source} word for word")
