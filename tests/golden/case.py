# SPDX-License-Identifier: MIT
"""A register case as it is written: memory before and after, registers in order.

The same layer as a descriptor of <drm/nvdla_layer.h> is noted beside the registers.
"""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DESCRIPTION = ROOT / "firmware/registers"

SOURCE, OPERANDS, WEIGHTS, DESTINATION = 0x80000000, 0x80800000, 0x81000000, 0x82000000
# enum nvdla_layer_kind
CONV_SDP, SDP, PDP, CDP, RUBIK, BDMA = 1, 3, 5, 6, 7, 8
INT8, INT16, FP16 = "int8", "int16", "fp16"
CODE = {INT8: 0, INT16: 1, FP16: 2}
BYTES = {INT8: 1, INT16: 2, FP16: 2}


class Hardware:
    """What the layout of data depends on, of one configuration."""

    def __init__(self, name, atom, entry, entries, kernels, channels, weight_align,
                 regmap="nv_small", has_y=False):
        self.name = name
        self.regmap = regmap
        self.atom = atom  # bytes of an atom of memory
        self.entry = entry  # bytes of an entry of the convolution buffer
        self.entries = entries  # of a bank
        self.kernels = kernels  # of a group, int8
        self.channels = channels  # of a weight cube
        self.weight_align = weight_align  # of WEIGHT_BYTES
        self.has_y = has_y  # SDP's operator Y


NV_FULL = Hardware("nv_full", 32, 128, 256, 32, 64, 128, "nv_full", has_y=True)
NV_SMALL = Hardware("nv_small", 8, 8, 512, 8, 8, 8)
SECOND_GENERATION = (
    Hardware("nv_large", 32, 64, 512, 32, 64, 64, has_y=True),
    Hardware("nv_medium_1024_full", 32, 32, 512, 32, 32, 32, has_y=True),
    Hardware("nv_medium_512", 16, 32, 512, 16, 32, 32),
    Hardware("nv_small_256_full", 8, 32, 128, 8, 32, 32, has_y=True),
    Hardware("nv_small_256", 8, 32, 128, 8, 32, 32),
    NV_SMALL,
)


def read_registers():
    """Return {map: {"UNIT.REGISTER": (address, {field: (lsb, width)})}} of the description."""
    common = json.loads((DESCRIPTION / "common.json").read_text())["registers"]
    maps = {NV_FULL.name: {}, NV_SMALL.name: {}}
    for path in sorted(DESCRIPTION.glob("*.json")):
        content = json.loads(path.read_text())
        for unit in content.get("units", []):
            for register in content.get("single", []) + content.get("group", []):
                name = register.get("common") or register["name"]
                fields = register.get("fields") or common.get(name, {}).get("fields", [])
                for regmap, base in unit["base"].items():
                    places = {}
                    for field in fields:
                        own = field | field.get(regmap, {})
                        places[field["name"]] = (own["lsb"], own["width"])
                    address = int(base, 0) + int(register["offset"], 0)
                    maps[regmap][f"{unit['name']}.{name}"] = (address, places)
    return maps


REGISTERS = read_registers()


class Case:
    """One case of a configuration; write() it when all is known."""

    def __init__(self, hw, unit, name, what):
        self.hw, self.unit, self.name, self.what = hw, unit, name, what
        self.registers = REGISTERS[hw.regmap]
        self.regs, self.memory, self.expected, self.checks = [], [], [], []
        self.fields = []  # of the descriptor: (name, value), which is a number or an address
        self.interrupts = 0

    def set(self, register, value=0, **fields):
        """Write a register: a plain value, or fields by name; those must fit."""
        address, places = self.registers[register]
        for field, number in fields.items():
            lsb, width = places[field]
            assert 0 <= number < 1 << width, (register, field, number)
            value |= number << lsb
        self.regs.append([hex(address), hex(value & 0xffffffff), register.replace(".", "_")])

    def address(self, prefix, value, low="_LOW", high="_HIGH"):
        self.set(prefix + low, value)
        self.set(prefix + high, 0)

    def describe(self, section, **fields):
        """Note fields of the descriptor; those of nought are left out, as it begins as zeros."""
        self.fields += [(f"{section}.{name}", value) for name, value in fields.items() if value]

    def surface(self, name, address, line=0, surface=0):
        self.fields.append((f"{name}.slot", hex(address)))
        self.describe(name, line_stride=line, surface_stride=surface)

    def load(self, address, data, file):
        self.memory.append((address, data, file))

    def expect(self, address, data):
        self.expected.append((address, data, "out.bin"))

    def check(self, register, value):
        address, _ = self.registers[register]
        self.checks.append([hex(address), hex(value), register.replace(".", "_")])

    def files(self):
        """Return {path below the folder of golden cases: contents}."""
        folder = f"{self.hw.name}/{self.unit}/{self.name}/"
        content = {
            "desc": self.what,
            "fill": [{"addr": hex(a), "size": len(d), "byte": 0xa5} for a, d, _ in self.expected],
            "mem": [{"addr": hex(a), "size": len(d), "file": f} for a, d, f in self.memory],
            "regs": self.regs,
            "expect_intr_status": hex(self.interrupts),
            "expect_mem": [{"addr": hex(a), "size": len(d), "file": f}
                           for a, d, f in self.expected],
            "expect_regs": self.checks,
        }
        lines = ",\n".join(f'  "{key}": ' + (json.dumps(value) if key != "regs" else "[\n    " +
                           ",\n    ".join(map(json.dumps, value)) + "\n  ]")
                           for key, value in content.items())
        found = {folder + f: d for _, d, f in self.memory + self.expected}
        found[folder + "case.json"] = ("{\n" + lines + "\n}\n").encode()
        return found
