#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""sizes.py DIRECTORY OUTPUT: table of what freestanding.py measured."""

import json
import pathlib
import sys


def main():
    directory = pathlib.Path(sys.argv[1])
    tables = {path.parent.name: json.loads(path.read_text())
              for path in sorted(directory.glob("*/sizes.json"))}
    if not tables:
        sys.exit(f"{directory}: no sizes.json; freestanding.* must run first")
    names = sorted({name for table in tables.values() for name in table})
    width = max(map(len, names))
    lines = ["Firmware objects, code + constants in bytes",
             " " * width + "".join(f"{target:>16}" for target in tables)]

    def row(name, cells):
        lines.append(f"{name:{width}}" + "".join(
            f"{'%d + %d' % (cell['text'], cell['rodata']):>16}" for cell in cells))

    for name in names:
        row(name, [table[name] for table in tables.values()])
    row("total", [{key: sum(sizes[key] for sizes in table.values()) for key in ("text", "rodata")}
                  for table in tables.values()])
    text = "\n".join(lines) + "\n"
    (directory / sys.argv[2]).write_text(text)
    print(text, end="")


main()
