# SPDX-License-Identifier: MIT
"""The list of mutants that change nothing, with the reason of each.

    path of the file
    - the line, or lines, without the error
    + the same with it
      The reason.

White space does not matter, nor where in the file the line is.
"""
import pathlib

LIST = pathlib.Path(__file__).with_name("equivalent.txt")


def entry(mutant):
    """A mutant as the list has it."""
    return f"{mutant.path}\n- {mutant.old}\n+ {mutant.new}\n"


def read():
    """From the key of a mutant to the reason."""
    known = {}
    text = LIST.read_text(encoding="utf-8") if LIST.exists() else ""
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        parts = {"-": "", "+": "", " ": ""}
        for line in lines[1:]:
            parts[line[0]] = (parts[line[0]] + " " + line[1:].strip()).strip()
        if not all(parts.values()):
            raise SystemExit(f"{LIST}: {lines[0]}: an entry needs a line, its mutant and a reason")
        known[(lines[0], parts["-"], parts["+"])] = parts[" "]
    return known


def check(known, root):
    """Entries whose lines are no longer in the tree."""
    wrong = 0
    for path, old, _ in known:
        file = root / path
        text = " ".join(file.read_text(encoding="utf-8").split()) if file.exists() else ""
        if old not in text:
            print(f"{LIST.relative_to(root)}: {path} has no more '{old}'")
            wrong = 1
    return wrong
