#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold docs/formats.md and docs/simulator.md to the code that writes and reads these formats.

Structures of dumps and records: a table each, whose offsets and sizes are those that the compiler
gives the header's fields, all of them in their order. Sections and messages: their numbers. The
loadable: the fields of each table of its schema and of each operation of the CPU, in their order,
as that is the format. A
complaint is one line; the exit status is 1 if there was any.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DUMP = ROOT / "firmware/nvdla_dump_format.h"
PROTOCOL = ROOT / "runtime/sim/nvdla_sim_protocol.h"
SCHEMA = ROOT / "runtime/loadable/format/loadable.fbs"
DESCRIPTORS = ROOT / "runtime/loadable/format/descriptors.hpp"
CPU_FIELDS = ROOT / "runtime/host_ops/operation_fields.hpp"
CPU_OPERATIONS = ROOT / "runtime/host_ops/operation.hpp"
CPU_NAMES = ROOT / "runtime/host_ops/operation.cpp"


def rows(text):
    """Yield the cells of each row of a table, as words without their quotes."""
    for line in text.splitlines():
        if line.startswith("|") and not set(line) <= set("|- "):
            yield [cell.strip().strip("`") for cell in line.strip("|").split("|")]


def sections(page):
    """Return the text below each heading of the third level."""
    parts = re.split(r"^### (.*)$", page, flags=re.M)
    return {title: text.partition("\n## ")[0] for title, text in zip(parts[1::2], parts[2::2])}


def structures(source):
    """Return the fields of each structure of a header, in their order."""
    found = {}
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", source, re.M | re.S):
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        found[name] = re.findall(r"^\s*\w+ (\w+)(?:\[\d+\])?;", body, re.M)
    return found


def measured(fields):
    """Return (offset, bytes) of each field and the bytes of each structure, by the compiler."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "firmware/nvdla_dump_format.h"',
             "int main(void) {"]
    for name, members in fields.items():
        lines.append(f'printf("{name} - 0 %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("{name} {member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                  f'sizeof(((struct {name} *)0)->{member}));' for member in members]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "measure"
        subprocess.run(["cc", "-x", "c", "-I", ROOT, "-o", program, "-"], check=True,
                       input="\n".join([*lines, "return 0; }"]), text=True)
        said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {(struct, member): (int(offset), int(size))
            for struct, member, offset, size in map(str.split, said.splitlines())}


def check_structures(parts):
    fields = structures(DUMP.read_text())
    sizes = measured(fields)
    for name, members in fields.items():
        title = f"`struct {name}`, {sizes[name, '-'][1]} bytes"
        if title not in parts:
            yield f"no heading '{title}'"
            continue
        wanted = [[*map(str, sizes[name, member]), member] for member in members]
        written = [row[:3] for row in rows(parts[title]) if row[0] != "offset"]
        if written != wanted:
            yield f"{title}: has {written}, the compiler {wanted}"
    for title in parts:
        name = re.match(r"`struct (\w+)`", title)
        if name and name[1] not in fields:
            yield f"{title}: {DUMP.name} has no such structure"


def check_numbers(title, text, wanted):
    """Each number with its name, as the code has it, and no other."""
    written = {row[1]: row[0] for row in rows(text) if row[0].isdigit()}
    if written != wanted:
        yield f"{title}: has {written}, the code {wanted}"


def check_dump_types(parts):
    types = dict((name, number) for name, number in
                 re.findall(r"NVDLA_DUMP_(\w+) = (\d+),", DUMP.read_text()
                            .partition("enum nvdla_dump_type {")[2].partition("};")[0]))
    yield from check_numbers("Types of sections", parts.get("Types of sections", ""), types)


def check_constants(page, source, names):
    for name, form in names.items():
        value = re.search(rf"{name}\s*=?\s*(?:\()?(0x[0-9a-f]+|\d+)", source)
        if not value:
            yield f"the code has no {name}"
        elif form.format(int(value[1], 0)) not in page:
            yield f"'{form.format(int(value[1], 0))}' is not there ({name})"


def check_protocol(page):
    source = PROTOCOL.read_text()
    wanted = {f"{number} {name}" for name, number in
              re.findall(r"NVDLA_SIM_(\w+) = (\d+),", source)}
    written = {row[0] for row in rows(page.partition("## The protocol")[2])
               if re.fullmatch(r"\d+ [A-Z]+", row[0])}
    if written != wanted:
        yield f"messages {sorted(written ^ wanted)} are not in both"
    data = int(re.search(r"MAX_DATA\s+(\d+)", source)[1])
    for text in (f"{data} at most", f"{data + 16} at most"):
        if text not in page:
            yield f"'{text}' is not there"
    yield from check_constants(page, source, {"NVDLA_SIM_VERSION": "## The protocol, version {}",
                                              "NVDLA_SIM_CONFIGURATION_BYTES":
                                                  "configuration ({} bytes",
                                              "NVDLA_SIM_NAME_BYTES": "name for people ({} bytes)"})


def check_loadable(page, parts):
    schema = re.sub(r"//.*", "", SCHEMA.read_text())
    wanted = {name: re.findall(r"(\w+): ?\[?(\w+)\]?", body) for name, body in
              re.findall(r"(?:table|struct) (\w+) \{(.*?)\}", schema, re.S)}
    text = parts.get("The container", "")
    written = {row[0]: re.findall(r"(\w+) `?\[?(\w+)\]?`?", row[1])
               for row in rows(text) if row[0] != "table"}
    for name in sorted(wanted.keys() | written.keys()):
        if wanted.get(name) != written.get(name):
            yield f"table {name}: has {written.get(name)}, the schema {wanted.get(name)}"
    yield from check_constants(page, DESCRIPTORS.read_text(), {
        "kOpStride": "operations {} bytes", "kSurfaceStride": "surfaces {} bytes",
        "kDependencyStride": "dependencies {} bytes", "kLutStride": "tables {} bytes",
        "kNetworkBytes": "network descriptor of {} bytes"})


def check_cpu(parts):
    """Yield what is wrong with the table of the CPU's operations: names, and fields in order."""
    names = dict(re.findall(r"operator\(\)\(const (\w+)&\) const \{ return \"([\w-]+)\"; \}",
                            CPU_NAMES.read_text()))
    walks = dict(re.findall(
        r"void walk_fields\(Walker&(?: walker)?, (\w+)&(?: op)?\) \{(.*?)\}\n\n",
        CPU_FIELDS.read_text(), re.M | re.S))
    # Operations that are another structure have its fields.
    bases = dict(re.findall(r"struct (\w+) : (\w+) \{\};", CPU_OPERATIONS.read_text()))
    wanted = {operation: [(name, form) for form, name in
                          re.findall(r"walker\.(\w+)\(\"(\w+)\"", walks[bases.get(kind, kind)])]
              for kind, operation in names.items() if bases.get(kind, kind) in walks}
    if len(wanted) != len(names):
        yield f"{len(names)} operations have names, {len(wanted)} have fields"
    written = {row[0]: re.findall(r"(\w+) `(\w+)`", row[1] + "`")
               for row in rows(parts.get("Operations of the CPU", "")) if row[0] in names.values()}
    for name in sorted(wanted.keys() | written.keys()):
        if wanted.get(name) != written.get(name):
            yield f"operation {name}: has {written.get(name)}, the code {wanted.get(name)}"


def main():
    page = (ROOT / "docs/formats.md").read_text()
    parts = sections(page)
    complaints = [f"docs/formats.md: {text}" for text in (
        *check_structures(parts), *check_dump_types(parts), *check_loadable(page, parts),
        *check_cpu(parts),
        *check_constants(page, DUMP.read_text(), {"DUMP_VERSION": "version {} of dumps"}))]
    complaints += [f"docs/simulator.md: {text}" for text in
                   check_protocol((ROOT / "docs/simulator.md").read_text())]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
