#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""cycles_test.py PROGRAM EXPRESSION: no network takes more predicted cycles than it did, nor more
than without any choice of the compiler.

PROGRAM is bench_cycles, and only rows that match EXPRESSION are looked at. kept.json beside this file
has the cycles that were reached. NVDLA_UPDATE=1 takes those that are found instead, and writes the
table of docs/performance.md: for who changes choices on purpose, with the expression '.'.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
KEPT = FOLDER / "kept.json"
PAGE = FOLDER.parents[2] / "docs" / "performance.md"
BEGIN, END = "<!-- cycles -->\n", "<!-- end of cycles -->\n"


def key(row):
    """Return what names a row: the network and its condition."""
    precision = "" if row["precision"] == "int8" else " " + row["precision"]
    return f"{row['network']} {row['device']} batch {row['batch']}{precision} {row['choices']}"


def measure(program, expression):
    """Return the rows that the program finds."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.json"
        subprocess.run([program, "--only", expression, "--rules", FOLDER / "rules.json",
                        "--json", path], check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def millions(cycles):
    """Return cycles as text, in millions with three digits that count."""
    return f"{cycles / 1e6:.3g}" if cycles < 1e8 else f"{cycles / 1e6:.0f}"


def table(rows):
    """Return the rows as a table of Markdown: off, rules and chosen for each device."""
    text = ("| network | device | off | rules | chosen | images a second | MACs alone | bytes alone |\n"
            "|---|---|---|---|---|---|---|---|\n")
    found = {}
    for row in rows:
        condition = row["network"], row["device"], row["batch"], row["precision"]
        found.setdefault(condition, {})[row["choices"]] = row
    for (network, device, batch, precision), choices in found.items():
        chosen = choices["chosen"]
        cells = [f"`{network}`" + (f", {batch} images" if batch > 1 else "") +
                 (f" in {precision}" if precision != "int8" else ""),
                 device.removeprefix("model:").removesuffix(",clock=1GHz").replace(
                     ",clock=1GHz", "").replace(",", ", ")]
        cells += [millions(choices[name]["cycles_per_image"]) if name in choices else ""
                  for name in ("off", "rules", "chosen")]
        cells += [f"{chosen['frames_per_second']:.3g}"
                  if chosen["frames_per_second"] < 100 else f"{chosen['frames_per_second']:.0f}",
                  millions(chosen["mac_bound"] / batch), millions(chosen["byte_bound"] / batch)]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def update(rows):
    """Keep these rows."""
    lines = [f' {json.dumps(key(row))}: {row["cycles"]}' for row in rows]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + BEGIN + table(rows) + END + rest.split(END)[1])


def faults(rows, kept):
    """Yield a line for each row that has grown, or is slower than without choices."""
    off = {key(row): row["cycles"] for row in rows if row["choices"] == "off"}
    for row in rows:
        name = key(row)
        if row["choices"] != "chosen":
            continue
        plain = off[re.sub(" chosen$", " off", name)]
        if row["cycles"] > plain:
            yield f"{name}: {row['cycles']} cycles, {plain} without any choice"
        if name not in kept:
            yield f"{name}: kept.json does not have it; NVDLA_UPDATE=1 adds it"
        elif row["cycles"] > kept[name]:
            yield f"{name}: {row['cycles']} cycles, {kept[name]} before"


def main():
    """Compare, or update."""
    program, expression = sys.argv[1:]
    rows = measure(program, expression)
    if os.environ.get("NVDLA_UPDATE"):
        update(rows)
        return 0
    found = list(faults(rows, json.loads(KEPT.read_text())))
    print("\n".join(found))
    print(f"{len(rows)} rows, {len(found)} faults")
    return 1 if found or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
