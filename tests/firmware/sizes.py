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
    names = sorted({name for table in tables.values() for name in table["objects"]})
    width = max(map(len, names))
    lines = ["Firmware objects, code + constants in bytes", ""]

    def row(name, cells):
        lines.append(f"{name:{width}}" + "".join(f"{cell:>16}" for cell in cells))

    def sizes(objects):
        return "%d + %d" % tuple(sum(o[key] for o in objects) for key in ("text", "rodata"))

    row("", tables)
    for name in names:
        row(name, [sizes([table["objects"][name]]) for table in tables.values()])
    row("total", [sizes(table["objects"].values()) for table in tables.values()])
    # Only gcc tells its call graph; calls through the port are not in it.
    row("stack", ["-" if table["stack"] is None else table["stack"] for table in tables.values()])
    text = "\n".join(lines) + "\n"
    (directory / sys.argv[2]).write_text(text)
    print(text, end="")


main()
