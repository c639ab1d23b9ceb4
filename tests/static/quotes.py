#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold the quotes of the documents to the files that they are from.

A block of code behind the line `<!-- from FILE -->` is a row of lines of that file, which may be
indented deeper there. A complaint is one line; the exit status is 1 if there was any.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUOTE = re.compile(r"^<!-- from (\S+) -->\n+```\w*\n(.*?)^```$", re.M | re.S)


def is_in(block, source):
    """Whether the lines of `block` are in `source`, one behind the other, at any indentation."""
    wanted, lines = block.splitlines(), source.splitlines()
    return any(textwrap.dedent("\n".join(lines[i:i + len(wanted)])).splitlines() == wanted
               for i in range(len(lines) - len(wanted) + 1))


def complaints(page):
    """Yield what is wrong with the quotes of a page."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT)
    quotes = QUOTE.findall(text)
    if len(quotes) != text.count("<!-- from "):
        yield f"{name}: a line '<!-- from FILE -->' is not followed by a block of code"
    for path, block in quotes:
        source = ROOT / path
        if not source.is_file():
            yield f"{name}: quotes {path}, which is no file"
        elif not is_in(block, source.read_text(encoding="utf-8")):
            first = block.splitlines()[0] if block else "(empty)"
            yield f"{name}: '{first}' and what follows is not so in {path}"


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [line for page in pages for line in complaints(page)]
    if not any("<!-- from " in page.read_text(encoding="utf-8") for page in pages):
        found.append("no page quotes anything: is the pattern right?")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
