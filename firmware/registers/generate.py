#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Generate the register header and the register table from the description.

    generate.py            write nvdla_regs.h and nvdla_reg_table.inc
    generate.py --check    fail if the committed outputs are not current

The description is the set of *.json files beside this script; README.md says
how they are written.  Everything is validated before anything is written, and
each complaint names file, register and field.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADER = "nvdla_regs.h"
TABLE = "nvdla_reg_table.inc"

MAPS = ("nv_full", "nv_small")
WINDOW = 0x1000
SPACE = 0x40000
NO_BASE = 0xffffffff
TAB = 8

# The order is that of enum nvdla_unit; it is part of trace and dump formats,
# so a new unit goes to the end.
UNIT_ORDER = ("CFGROM", "GLB", "MCIF", "CVIF", "BDMA", "CDMA", "CSC", "CMAC_A",
              "CMAC_B", "CACC", "SDP_RDMA", "SDP", "PDP_RDMA", "PDP",
              "CDP_RDMA", "CDP", "RBK", "GEC")

ACCESS = ("RO", "RW", "WO", "RW1C", "W1S", "RW-TRIGGER", "RW-PORT")
# What the value of a statistic is worth; the order is that of enum nvdla_counts.
COUNTS = ("exact", "indicative", "invalid")
KINDS = ("number", "signed", "bytes", "address")
IN_PLACE = ("bytes", "address")

IDENT = re.compile(r"[A-Z][A-Z0-9_]*\Z")
ENUMERATOR = re.compile(r"[A-Z0-9][A-Z0-9_]*\Z")

UNIT_KEYS = {"name", "desc", "base", "built"}
REG_KEYS = {"offset", "name", "common", "access", "statistic", "counts", "desc", "fields"}
FIELD_KEYS = {"name", "lsb", "width", "access", "reset", "enum", "kind", "desc",
              "first", "last", "nv_small", "copy_of"}
FILE_KEYS = {"desc", "units", "prefix", "field_macros", "single", "group"}


class DescriptionError(Exception):
    """The description contradicts itself; the text says where."""


def fail(where, what):
    raise DescriptionError(f"{where}: {what}")


def check_keys(where, obj, allowed):
    if not isinstance(obj, dict):
        fail(where, "expected an object")
    extra = sorted(set(obj) - allowed)
    if extra:
        fail(where, f"unknown key {extra[0]!r}, expected one of {sorted(allowed)}")


def integer(where, value):
    if isinstance(value, bool):
        fail(where, "expected a number, not a truth value")
    if isinstance(value, int):
        return value
    try:
        return int(value, 0)
    except (TypeError, ValueError):
        fail(where, f"{value!r} is not a number")


def no_duplicates(pairs):
    obj = {}
    for key, value in pairs:
        if key in obj:
            raise ValueError(f"key {key!r} appears twice")
        obj[key] = value
    return obj


def load(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"),
                          object_pairs_hook=no_duplicates)
    except (OSError, ValueError) as error:
        fail(path.name, error)


class Field:
    def __init__(self, where, data, register_access, enums):
        check_keys(where, data, FIELD_KEYS)
        self.name = data.get("name", "")
        if not IDENT.match(self.name):
            fail(where, f"bad field name {self.name!r}")
        where = f"{where}.{self.name}"
        self.access = data.get("access", register_access)
        if self.access not in ACCESS:
            fail(where, f"access {self.access!r} is none of {', '.join(ACCESS)}")
        self.kind = data.get("kind", "number")
        if self.kind not in KINDS:
            fail(where, f"kind {self.kind!r} is none of {', '.join(KINDS)}")
        self.desc = data.get("desc", "")
        self.copy_of = data.get("copy_of")
        self.enum = self.load_enum(where, data.get("enum"), enums)

        second = data.get("nv_small", {})
        check_keys(f"{where}.nv_small", second, {"lsb", "width", "reset"})
        self.lsb, self.width, self.reset = [], [], []
        for values in (data, {**data, **second}):
            self.lsb.append(integer(where, values.get("lsb", 0)))
            self.width.append(integer(where, values.get("width")))
            self.reset.append(integer(where, values.get("reset", 0)))
        for gen, name in enumerate(MAPS):
            self.check(f"{where} ({name})", self.lsb[gen], self.width[gen],
                       self.reset[gen])

    @staticmethod
    def load_enum(where, enum, enums):
        if enum is None:
            return None
        if isinstance(enum, str):
            if enum not in enums:
                fail(where, f"no shared enum {enum!r} in common.json")
            enum = enums[enum]
        rows = []
        for name, value in enum.items():
            if not ENUMERATOR.match(name):
                fail(where, f"bad enumerator name {name!r}")
            rows.append((name, integer(where, value)))
        if len({value for _, value in rows}) != len(rows):
            fail(where, "two enumerators have the same value")
        return tuple(rows)

    def check(self, where, lsb, width, reset):
        if not 1 <= width <= 32 or not 0 <= lsb <= 31 or lsb + width > 32:
            fail(where, f"lsb {lsb} width {width} does not fit 32 bits")
        if not 0 <= reset < 1 << width:
            fail(where, f"reset {reset:#x} does not fit {width} bits")
        for name, value in self.enum or ():
            if not 0 <= value < 1 << width:
                fail(where, f"{name} = {value} does not fit {width} bits")

    def mask(self, gen):
        return ((1 << self.width[gen]) - 1) << self.lsb[gen]

    def in_place(self):
        return self.kind in IN_PLACE


class Register:
    def __init__(self, where, data, scope, common):
        check_keys(where, data, REG_KEYS)
        self.offset = integer(where, data.get("offset"))
        if "common" in data:
            name = data["common"]
            if name not in common["registers"]:
                fail(where, f"no shared register {name!r} in common.json")
            check_keys(f"{where} {name}", data, {"offset", "common"})
            data = {"name": name, **common["registers"][name]}
        self.name = data.get("name", "")
        if not IDENT.match(self.name):
            fail(where, f"bad register name {self.name!r}")
        where = f"{where}.{self.name}"
        self.scope = scope
        self.statistic = data.get("statistic", False)
        self.desc = data.get("desc", "")
        access = data.get("access", "RW")
        if self.offset % 4 or not 0 <= self.offset < WINDOW:
            fail(where, f"offset {self.offset:#x} is not a word of the 4 KiB window")

        self.fields = []
        for entry in data.get("fields", ()):
            for single in self.unroll(where, entry):
                self.fields.append(Field(where, single, access, common["enums"]))
        if not self.fields:
            fail(where, "has no field")
        if len({field.name for field in self.fields}) != len(self.fields):
            fail(where, "two fields have the same name")
        for gen, name in enumerate(MAPS):
            used = 0
            for field in self.fields:
                if used & field.mask(gen):
                    fail(f"{where}.{field.name} ({name})", "overlaps another field")
                used |= field.mask(gen)
        kinds = {field.access for field in self.fields}
        self.access = kinds.pop() if len(kinds) == 1 else "MIXED"
        if self.statistic and self.access != "RO":
            fail(where, "a statistic must be RO")
        counts = data.get("counts", {})
        if set(counts) != (set(MAPS) if self.statistic else set()):
            fail(where, "counts is what a statistic has, for each map")
        if set(counts.values()) - set(COUNTS):
            fail(where, f"counts is one of {', '.join(COUNTS)}")
        self.counts = [COUNTS.index(counts.get(m, "exact")) for m in MAPS]

    @staticmethod
    def unroll(where, entry):
        """A field named NAME# with first and last stands for a row of them."""
        if not isinstance(entry, dict) or "first" not in entry:
            yield entry
            return
        first, last = integer(where, entry["first"]), integer(where, entry.get("last"))
        base = {k: v for k, v in entry.items() if k not in ("first", "last")}
        if "#" not in base.get("name", "") or last < first or "nv_small" in base:
            fail(where, "a repeated field needs '#' in its name, first <= last, "
                 "and no nv_small")
        for n in range(first, last + 1):
            yield {**base, "name": base["name"].replace("#", str(n)),
                   "lsb": integer(where, base.get("lsb", 0)) +
                          (n - first) * integer(where, base.get("width"))}

    def reset(self, gen):
        return sum(f.reset[gen] << f.lsb[gen] for f in self.fields)

    def mask(self, gen, *access):
        return sum(f.mask(gen) for f in self.fields if f.access in access)


class Block:
    """One file: a register layout and the units that have it."""

    def __init__(self, path, common):
        data = load(path)
        where = path.name
        check_keys(where, data, FILE_KEYS)
        self.file = path.name
        self.field_macros = data.get("field_macros", True)
        self.units = data.get("units", [])
        if not self.units:
            fail(where, "names no unit")
        for unit in self.units:
            check_keys(where, unit, UNIT_KEYS)
            if unit.get("name") not in UNIT_ORDER:
                fail(where, f"unit {unit.get('name')!r} is not in UNIT_ORDER")
            bases = unit.get("base", {})
            check_keys(f"{where} base", bases, set(MAPS))
            unit["base"] = [None if bases.get(m) is None else
                            integer(f"{where} {unit['name']} base", bases[m])
                            for m in MAPS]
            built = unit.get("built", [])
            if set(built) - set(MAPS):
                fail(where, f"built in an unknown map: {built}")
            unit["built"] = [m in built for m in MAPS]
            for gen, base in enumerate(unit["base"]):
                if base is None and unit["built"][gen]:
                    fail(where, f"{unit['name']} is built in {MAPS[gen]} without a base")
                if base is not None and (base % WINDOW or not 0 <= base < SPACE):
                    fail(where, f"base {base:#x} is not a 4 KiB window below {SPACE:#x}")
        self.prefixes = ([data["prefix"]] if "prefix" in data else
                         [unit["name"] for unit in self.units])
        self.registers = [Register(where, entry, scope, common)
                          for scope in ("single", "group")
                          for entry in data.get(scope, ())]
        self.grouped = "group" in data
        self.check_layout(where)

    def check_layout(self, where):
        names, previous = set(), -1
        for reg in self.registers:
            if reg.name in names:
                fail(f"{where}.{reg.name}", "appears twice")
            names.add(reg.name)
            if reg.offset <= previous:
                fail(f"{where}.{reg.name}", f"offset {reg.offset:#x} is not above the "
                     f"previous register's ({previous:#x})")
            previous = reg.offset
            if self.grouped and not reg.name.startswith(
                    "D_" if reg.scope == "group" else "S_"):
                fail(f"{where}.{reg.name}", "in a unit with two groups, single "
                     "registers are S_* and group registers D_*")
        if self.grouped:
            for name in ("S_STATUS", "S_POINTER", "D_OP_ENABLE"):
                if name not in names:
                    fail(where, f"a unit with two groups needs {name}")

    def prefix(self, unit):
        return self.prefixes[0] if len(self.prefixes) == 1 else unit["name"]

    def first_group_offset(self):
        return min((r.offset for r in self.registers if r.scope == "group"),
                   default=None)


class Description:
    def __init__(self, folder):
        common = load(folder / "common.json")
        check_keys("common.json", common, {"enums", "registers"})
        self.blocks = [Block(path, common) for path in sorted(folder.glob("*.json"))
                       if path.name != "common.json"]
        self.units = {}
        for block in self.blocks:
            for unit in block.units:
                if unit["name"] in self.units:
                    fail(block.file, f"{unit['name']} is described twice")
                self.units[unit["name"]] = (unit, block)
        missing = [name for name in UNIT_ORDER if name not in self.units]
        if missing:
            fail("description", f"no file describes {', '.join(missing)}")
        for gen, name in enumerate(MAPS):
            seen = {}
            for unit, _ in self.units.values():
                base = unit["base"][gen]
                if base is not None and seen.setdefault(base, unit["name"]) != unit["name"]:
                    fail("description", f"{unit['name']} and {seen[base]} share "
                         f"{base:#x} in {name}")

        self.copies = [self.original(unit, block, reg, field)
                       for unit, block in self.in_order() for reg in block.registers
                       for field in reg.fields if field.copy_of is not None]

    def in_order(self):
        for name in UNIT_ORDER:
            yield self.units[name]

    def original(self, unit, block, reg, field):
        """A field that is a copy, and the one that it has to equal, each as unit, macro of the
        register and name. "UNIT" alone: the one of the same names."""
        where = f"{block.file}.{reg.name}.{field.name}"
        names = str(field.copy_of).split(".")
        if len(names) == 1:
            names += [reg.name, field.name]
        if len(names) != 3:
            fail(where, f"copy_of {field.copy_of!r} is neither UNIT nor UNIT.REGISTER.FIELD")
        _, of_block = self.units.get(names[0], (None, None))
        found = [f for r in (of_block.registers if of_block else ()) if r.name == names[1]
                 for f in r.fields if f.name == names[2]]
        if not found:
            fail(where, f"copy_of {field.copy_of!r}: there is no {'.'.join(names)}")
        if found[0].width != field.width:
            fail(where, f"copy_of {field.copy_of!r} is not as wide")
        return (unit["name"], f"{block.prefix(unit)}_{reg.name}", field.name,
                names[0], f"{of_block.prefix(self.units[names[0]][0])}_{names[1]}", names[2])


class Macros:
    """Collects #define lines, aligns them with tabs and refuses collisions."""

    def __init__(self):
        self.lines = []
        self.names = set()

    def text(self, line=""):
        self.lines.append(line)

    def define(self, rows):
        width = max(len(f"#define {name}") for name, _ in rows) + 1
        column = (width + TAB - 1) // TAB * TAB
        for name, value in rows:
            self.claim(name)
            used = len(f"#define {name}")
            tabs = (column - used + TAB - 1) // TAB
            self.lines.append(f"#define {name}" + "\t" * tabs + value)

    def claim(self, name):
        if name in self.names:
            fail(HEADER, f"two macros are called {name}")
        self.names.add(name)


def hex32(value):
    return f"0x{value:08x}u"


def comment(text):
    """A kernel comment of one paragraph, at most 80 columns wide."""
    if len(text) <= 74:
        return [f"/* {text} */"]
    lines, line = ["/*"], " *"
    for word in text.split():
        if len(line) + 1 + len(word) > 80:
            lines.append(line)
            line = " *"
        line += f" {word}"
    return lines + [line, " */"]


def headline(reg):
    """What a reader of the header wants to know of a register, in one line."""
    notes = [reg.access] if reg.access not in ("RW", "MIXED") else []
    notes += ["statistic"] if reg.statistic else []
    return " ".join(filter(None, (reg.desc, f"[{', '.join(notes)}]" if notes else "")))


def field_macros(prefix, field):
    name = f"{prefix}_{field.name}"
    full, second = field.mask(0), field.mask(1)
    if full & ~second:
        fail(name, "the second generation's field must contain the first's")
    shift = 0 if field.in_place() else field.lsb[1]
    if not field.in_place() and field.lsb[0] != field.lsb[1]:
        fail(name, "a field that moves between the maps must be of kind bytes or address")
    rows = [(f"{name}_SHIFT", str(shift)), (f"{name}_MASK", hex32(second))]
    if full != second:
        rows.append((f"{name}_MASK_NV_FULL", hex32(full)))
    rows += [(f"{name}_{label}", str(value)) for label, value in field.enum or ()]
    return rows


def emit_unit_registers(out, prefix, block, desc):
    out.text()
    for line in comment(f"{prefix}: {desc}" if desc else prefix):
        out.text(line)
    rows = [(f"NVDLA_{prefix}_REGS_END", f"0x{block.registers[-1].offset + 4:03x}")]
    if block.grouped:
        rows.insert(0, (f"NVDLA_{prefix}_FIRST_GROUP_REG",
                        f"0x{block.first_group_offset():03x}"))
    out.define(rows)
    for reg in block.registers:
        name = f"NVDLA_{prefix}_{reg.name}"
        if block.field_macros:
            out.text()
            for line in comment(headline(reg)):
                out.text(line)
        rows = [(name, f"0x{reg.offset:03x}")]
        if block.field_macros:
            for field in reg.fields:
                rows += field_macros(name, field)
        if reg.statistic:
            rows.append((f"{name}_COUNTS",
                         f"0x{sum(c << 4 * g for g, c in enumerate(reg.counts)):02x}u"))
        out.define(rows)


def unit_table(out, name, rows):
    """rows: one list of values per line, with the unit as a trailing comment."""
    out.claim(name)
    out.text(f"#define {name} \\")
    out.text("\t{ \\")
    for values in rows:
        out.text(f"\t\t{values}, \\")
    out.text("\t}")


def generate_header(description):
    out = Macros()
    out.text("/* SPDX-License-Identifier: GPL-2.0 OR MIT */")
    out.text("/*")
    for line in (
            "Registers of NVDLA: units, bases, offsets, fields and their values.",
            "",
            "Generated by generate.py from the *.json files beside it; do not edit.",
            "",
            "Offsets are bytes inside a unit's window and the same in both register",
            "maps; the base of a window depends on the map.  NV_FULL is the first",
            "generation, NV_SMALL the map of every second-generation configuration.",
            "",
            "A field is (register & _MASK) >> _SHIFT; enumerators are not shifted.",
            "Addresses and byte counts whose low bits are missing in the first",
            "generation are byte quantities that stay in place: _SHIFT is 0.  Where the",
            "maps differ, _MASK is the wider mask of the second generation and",
            "_MASK_NV_FULL that of the first.  _COUNTS of a counter has an enum nvdla_counts",
            "for each map, 4 bits wide, map 0 lowest."):
        out.text(f" * {line}".rstrip())
    out.text(" */")
    out.text("#ifndef NVDLA_REGS_H")
    out.text("#define NVDLA_REGS_H")

    out.text()
    out.text("enum nvdla_unit {")
    for name in UNIT_ORDER:
        out.claim(f"NVDLA_UNIT_{name}")
        out.text(f"\tNVDLA_UNIT_{name},")
    out.text("\tNVDLA_UNIT_COUNT")
    out.text("};")
    out.text()
    out.text("enum nvdla_regmap {")
    for name in MAPS:
        out.claim(f"NVDLA_REGMAP_{name.upper()}")
        out.text(f"\tNVDLA_REGMAP_{name.upper()},")
    out.text("\tNVDLA_REGMAP_COUNT")
    out.text("};")

    out.text()
    for line in comment("enum nvdla_counts tells what a counter is worth, as measured on the published "
                        "logic. exact: the logic counts as described here. indicative: it moves "
                        "with the load or the results, and is not comparable. invalid: nobody "
                        "drives it, or it counts something else."):
        out.text(line)
    out.text("enum nvdla_counts {")
    for name in COUNTS:
        out.claim(f"NVDLA_COUNTS_{name.upper()}")
        out.text(f"\tNVDLA_COUNTS_{name.upper()},")
    out.text("};")

    out.text()
    out.define([("NVDLA_UNIT_WINDOW", f"0x{WINDOW:x}"),
                ("NVDLA_REG_SPACE", f"0x{SPACE:x}"),
                ("NVDLA_NO_REG", hex32(NO_BASE))])
    for gen, name in enumerate(MAPS):
        out.text()
        out.define([(f"NVDLA_{name.upper()}_{unit['name']}_BASE",
                     f"0x{unit['base'][gen]:05x}")
                    for unit, _ in description.in_order()
                    if unit["base"][gen] is not None])

    out.text()
    out.text("/* [enum nvdla_regmap][enum nvdla_unit]; NVDLA_NO_REG: no such window. */")
    rows = []
    for gen in range(len(MAPS)):
        bases = [NO_BASE if unit["base"][gen] is None else unit["base"][gen]
                 for unit, _ in description.in_order()]
        chunks = [", ".join(hex32(b) for b in bases[i:i + 6])
                  for i in range(0, len(bases), 6)]
        rows.append("{ " + ", \\\n\t\t  ".join(chunks) + " }")
    unit_table(out, "NVDLA_UNIT_BASES", rows)
    out.text()
    out.text("/* [enum nvdla_unit]; offset of D_OP_ENABLE, NVDLA_NO_REG: no such register. */")
    enables = [next((r.offset for r in block.registers if r.name == "D_OP_ENABLE"),
                    NO_BASE) for _, block in description.in_order()]
    unit_table(out, "NVDLA_UNIT_OP_ENABLES",
               [", ".join(hex32(e) for e in enables[i:i + 6])
                for i in range(0, len(enables), 6)])

    done = set()
    emit_shared(out, description)
    for unit, block in description.in_order():
        if block.file in done:
            continue
        done.add(block.file)
        for prefix in block.prefixes:
            desc = next((u["desc"] for u in block.units if u["name"] == prefix),
                        unit.get("desc", ""))
            emit_unit_registers(out, prefix, block, desc)
    out.text()
    out.text("#endif /* NVDLA_REGS_H */")
    return "\n".join(out.lines) + "\n"


def emit_shared(out, description):
    """S_STATUS and S_POINTER are alike in all grouped units: one set of macros."""
    out.text()
    out.text("/* The same in every unit with two register groups. */")
    for name in ("S_STATUS", "S_POINTER", "D_OP_ENABLE"):
        regs = [next(r for r in block.registers if r.name == name)
                for block in description.blocks if block.grouped]
        fields = {tuple((f.name, f.lsb[0], f.width[0], f.access) for f in r.fields)
                  for r in regs}
        if len(fields) != 1:
            fail(name, "differs between units")
        rows = []
        if name != "D_OP_ENABLE":
            if len({r.offset for r in regs}) != 1:
                fail(name, "has different offsets")
            rows.append((f"NVDLA_REG_{name}", f"0x{regs[0].offset:03x}"))
        for field in regs[0].fields:
            rows += field_macros(f"NVDLA_REG_{name}", field)
        out.define(rows)


ROWS = (
    ("NVDLA_UNIT_ROW", "unit, name, base_nv_full, base_nv_small, built_nv_full, "
     "built_nv_small, groups, first_group_offset, first_reg, reg_count, desc"),
    ("NVDLA_REG_ROW", "unit, name, offset, scope, access, statistic, present_nv_full, "
     "present_nv_small, reset_nv_full, reset_nv_small, read_nv_full, read_nv_small, "
     "write_nv_full, write_nv_small, w1c, w1s, trigger, counts_nv_full, counts_nv_small, "
     "first_field, field_count, desc"),
    ("NVDLA_FIELD_ROW", "name, kind, access, lsb_nv_full, width_nv_full, lsb_nv_small, "
     "width_nv_small, first_enum, enum_count, desc"),
    ("NVDLA_ENUM_ROW", "name, value"),
    ("NVDLA_COPY_ROW", "unit, register, field, unit_of, register_of, field_of"),
)


def quote(text):
    return json.dumps(text, ensure_ascii=True)


def words(*items):
    return ", ".join(items)


def generate_table(description):
    enums, enum_rows = {}, []
    fields, field_rows = {}, []
    reg_rows, unit_rows = [], []

    def enum_index(enum):
        if enum not in enums:
            enums[enum] = len(enum_rows)
            enum_rows.extend(words(quote(n), str(v)) for n, v in enum)
        return enums[enum]

    def field_index(reg):
        rows = tuple(words(quote(f.name), f.kind.upper(), f.access.replace("-", "_"),
                           str(f.lsb[0]), str(f.width[0]), str(f.lsb[1]),
                           str(f.width[1]), str(enum_index(f.enum) if f.enum else 0),
                           str(len(f.enum or ())), quote(f.desc))
                     for f in reg.fields)
        if rows not in fields:
            fields[rows] = len(field_rows)
            field_rows.extend(rows)
        return fields[rows]

    for unit, block in description.in_order():
        first_group = block.first_group_offset()
        bases = [NO_BASE if b is None else b for b in unit["base"]]
        unit_rows.append(words(
            unit["name"], quote(unit["name"]), *(hex32(b) for b in bases),
            *(str(int(b)) for b in unit["built"]), "2" if block.grouped else "0",
            hex32(NO_BASE if first_group is None else first_group),
            str(len(reg_rows)), str(len(block.registers)), quote(unit.get("desc", ""))))
        for reg in block.registers:
            # CMAC_A and CMAC_B, MCIF and CVIF are alike: one row each, shared fields.
            readable = [a for a in ACCESS if a not in ("WO", "W1S")]
            stored = ("RW", "WO", "RW-TRIGGER", "RW-PORT")
            reg_rows.append(words(
                unit["name"], quote(reg.name), f"0x{reg.offset:03x}",
                reg.scope.upper(), reg.access.replace("-", "_"),
                str(int(reg.statistic)),
                *(str(int(b is not None)) for b in unit["base"]),
                *(hex32(reg.reset(g)) for g in (0, 1)),
                *(hex32(reg.mask(g, *readable)) for g in (0, 1)),
                *(hex32(reg.mask(g, *stored)) for g in (0, 1)),
                hex32(reg.mask(1, "RW1C")), hex32(reg.mask(1, "W1S")),
                hex32(reg.mask(1, "RW-TRIGGER", "RW-PORT")),
                *(str(c) for c in reg.counts),
                str(field_index(reg)), str(len(reg.fields)), quote(reg.desc)))

    lines = ["/* SPDX-License-Identifier: GPL-2.0 OR MIT */", "/*"]
    for line in (
            "Register table: one macro call per unit, register, field and enumerator, and",
            "one per field that has to equal another one, by the names of their macros.",
            "",
            "Generated by generate.py from the *.json files beside it; do not edit.",
            "",
            "Define the row macros that you want, include this file, and it undefines",
            "them again.  Rows refer to each other by index: a unit to its first",
            "register, a register to its first field, a field to its first enumerator;",
            "equal rows are shared.  Masks: read = bits that can read non-zero, write =",
            "bits that a write stores, w1c = writing 1 clears, w1s = writing 1 sets the",
            "status bit, trigger = a write (or, at a port, any access) also acts."):
        lines.append(f" * {line}".rstrip())
    lines.append(" *")
    for name, args in ROWS:
        call = f"{name}({args})"
        lines += comment(call)[1:-1] if len(call) > 74 else [f" * {call}"]
    lines.append(" */")
    copy_rows = [words(*row) for row in description.copies]
    for (name, _), rows in zip(ROWS, (unit_rows, reg_rows, field_rows, enum_rows, copy_rows)):
        lines += ["", f"#ifdef {name}"] + [f"{name}({row})" for row in rows]
        lines += [f"#undef {name}", "#endif"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="only compare with the committed outputs")
    parser.add_argument("--source", type=pathlib.Path, default=HERE,
                        help="folder of the description (default: this script's)")
    parser.add_argument("--output", type=pathlib.Path, default=HERE,
                        help="folder of the outputs (default: this script's)")
    args = parser.parse_args()

    try:
        description = Description(args.source)
        outputs = {HEADER: generate_header(description),
                   TABLE: generate_table(description)}
    except DescriptionError as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1

    stale = []
    for name, text in outputs.items():
        path = args.output / name
        if args.check:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"generate.py: {' and '.join(stale)} not current with the description; "
              "run firmware/registers/generate.py and commit the result",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
