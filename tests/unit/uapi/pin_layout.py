#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write layout.inc from uapi/drm/nvdla_layer.h.

    pin_layout.py            after a deliberate change of the contract
    pin_layout.py --check    fail if something of the contract is not pinned

The committed file is what keeps the layout from changing unnoticed.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HEADER = ROOT / "uapi/drm/nvdla_layer.h"
HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * VALUE(enumerator, value), STRUCT(name, size), MEMBER(struct, name, offset, size)
 * of the contract, as written by pin_layout.py. A line that is not the same any
 * more is a change of the ABI.
 */
"""


def structs(text):
    """Yield (struct, members) in the order of the header."""
    for match in re.finditer(r"^struct (\w+) \{(.*?)^\};", text, flags=re.S | re.M):
        yield match[1], re.findall(r"(\w+)(?:\[\w+\])?;", match[2])


def enumerators(text):
    """Return the enumerators that keep their value when others are added."""
    bodies = re.findall(r"^enum \w+ \{(.*?)^\};", text, flags=re.S | re.M)
    names = [name for body in bodies for name in re.findall(r"^\s*(\w+)", body, flags=re.M)]
    return [name for name in names if not name.endswith("_COUNT")]


def main():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    rows = [f'printf("VALUE({name}, %d)\\n", (int){name});' for name in enumerators(text)]
    for struct, members in structs(text):
        rows.append(f'printf("STRUCT({struct}, %zu)\\n", sizeof(struct {struct}));')
        for member in members:
            rows.append(f'printf("MEMBER({struct}, {member}, %zu, %zu)\\n", '
                        f"offsetof(struct {struct}, {member}), "
                        f"sizeof(((struct {struct} *)0)->{member}));")
    program = ("#include <stddef.h>\n#include <stdio.h>\n#include <drm/nvdla_layer.h>\n"
               "int main(void) {\n" + "\n".join(rows) + "\n}\n")
    binary = ROOT / "build/pin_layout"
    binary.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-xc", "-", "-I", ROOT / "uapi", "-o", binary],
                   input=program, text=True, check=True)
    table = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    text = HEAD + table
    if "--check" in sys.argv[1:]:
        if (HERE / "layout.inc").read_text() != text:
            print("layout.inc does not have all of nvdla_layer.h; if what is missing is new, or\n"
                  "the change is meant, run tests/unit/uapi/pin_layout.py and commit the result")
            return 1
        return 0
    (HERE / "layout.inc").write_text(text)
    return 0


sys.exit(main())
