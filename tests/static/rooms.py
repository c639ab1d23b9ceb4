#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold each room to what it must not know, and #include of C to the order of the rooms.

The compiler holds C++ to the arrows of its CMakeLists.txt (house.py); C has one include path.
ARCHITECTURE.md has the rooms and their words; architecture.py compares them.

A complaint is one line, file:line: what is wrong; the exit status is 1 if
there was any, or if a file is of no room.
"""

import pathlib
import re
import sys

import house
from wording import SOURCES, code_of, room_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = house.API

# The rooms of the first level, in their order from below, as ARCHITECTURE.md lists them.
ROOMS = list(house.ordered(house.tops()[0]))
# What C includes beside itself and the system.
C_ROOMS = {"uapi": set(), "firmware": {"uapi"}, "kernel": {"firmware", "uapi"}, "runtime/sim": set()}

OBJECTS = r"\b(Device|Buffer|Queue|Fence|Program|Network|CompiledNetwork|Request|Session)\b"
DESCRIPTORS = (r"\bnvdla_(layer|conv|sdp|sdp_x|sdp_y|pdp|cdp|rubik|bdma|surface|slot|span|transfer"
               r"|convert|lut)\b|\bNVDLA_(LAYER|SLOT|RULE)_")

# What the code of a room, without comments and texts, must not have: in words, as a pattern, and
# the files that are there for it.
ABSENT = {
    "uapi": ("types whose size differs between architectures",
             r"\b(float|double|bool|char|short|int|long|unsigned|size_t)\b", ()),
    "firmware": ("floats and allocation", r"\b(float|double|k?[mz]alloc|free)\b", ()),
    "kernel": ("reads of user memory outside of `kernel/nvdla_program.c`",
               r"\bcopy_(struct_)?from_user\b|\bv?memdup_user\b|\bget_user\b|\bstrncpy_from_user\b",
               ("kernel/nvdla_program.c",)),
    # Its example is what users write, in C++.
    "runtime/sim": ("anything of the library", r"\bdrm/|\bNVDLA_API\b|\bnamespace\b",
                    ("runtime/sim/example/verilator_harness.cpp",)),
    API: ("registers, the engine and the model",
          r"\bmodel::|\breg_write\b|\bnvdla_engine|\bNVDLA_REG_", ()),
    "runtime/model": ("descriptors, programs, jobs and the engine",
                      DESCRIPTORS + r"|\bnvdla_(program|job|engine|error)(_\w+)?\b", ()),
    "runtime/support": ("objects that own memory of a device", OBJECTS, ()),
    "runtime/host_ops": ("descriptors and objects", OBJECTS + r"|\bnvdla_\w+", ()),
    "runtime/packing": ("objects: it packs bytes into spans", OBJECTS, ()),
    "runtime/lut": ("objects", OBJECTS, ()),
    "runtime/backend": ("networks, requests and the layout of tensors",
                        r"\b(Network|CompiledNetwork|Request|Session|Tensor|TensorDesc)\b", ()),
    "runtime/device": ("registers, the engine and the model",
                       r"\bmodel::|\breg_write\b|\bnvdla_engine|\bNVDLA_REG_", ()),
    "runtime/compiler": ("registers, the engine and compiled programs",
                        r"\bmodel::|\breg_write\b|\bnvdla_(engine|program)(_\w+)?\b|\bNVDLA_REG_", ()),
    "runtime/import": ("descriptors and devices",
                       DESCRIPTORS + r"|\b(Device|Buffer|Queue|Fence|CompiledNetwork|Request)\b",
                       ()),
    "runtime/loadable": ("the model and the engine", r"\bmodel::|\bnvdla_engine", ()),
    "runtime/selftest": ("networks and files", r"\b(Network|CompiledNetwork|Request|Loadable)\b", ()),
    "runtime/cost": ("anything but numbers", r"\bnvdla_\w+|\bmodel::|\bDeviceInfo\b", ()),
    "runtime/emulator": ("networks and what runs them", r"\b(Network|CompiledNetwork|Session)\b", ()),
    "runtime/examples": ("the insides of the library", r"\bdetail::", ()),
}

INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)[">]')


def file_of(name, path):
    """The file that `#include name` in `path` reaches; None for the system's headers."""
    roots = (path.parent, pathlib.Path(), pathlib.Path("runtime"), pathlib.Path("uapi"),
             pathlib.Path(API))
    for root in roots:
        if (ROOT / root / name).is_file():
            return (ROOT / root / name).resolve().relative_to(ROOT)
    return None


def wrong_includes(path, source):
    """Complaints about what a file of C includes."""
    room = room_of(path)
    for number, line in enumerate(source.splitlines(), 1):
        match = INCLUDE.match(line)
        file = file_of(match[1], path) if match else None
        target = room_of(file) if file else room
        if target != room and target not in C_ROOMS[room]:
            yield (f"{path}:{number}: {room} must not include {match[1]}: it may "
                   f"use {', '.join(sorted(C_ROOMS[room])) or 'nothing'}")


def wrong_words(path, source):
    """Complaints about what a file knows and its room must not."""
    what, pattern, places = ABSENT.get(room_of(path), ("", "(?!)", ()))
    if str(path) in places:
        return
    for number, line in enumerate(code_of(source).split("\n"), 1):
        if match := re.search(pattern, line):
            yield f"{path}:{number}: {room_of(path)} must not know {match[0]}: it is without {what}"


def check_itself():
    """What the check is to find, and what not."""
    engine = pathlib.Path("firmware/engine/x.c")
    assert list(wrong_includes(engine, '#include "kernel/nvdla_sched.h"\n'))
    assert not list(wrong_includes(engine, '#include <drm/nvdla_layer.h>\n#include <map>\n'))
    model = pathlib.Path("runtime/model/x.cpp")
    assert list(wrong_words(model, "\nvoid run(const nvdla_conv& conv);\n")) == [
        "runtime/model/x.cpp:2: runtime/model must not know nvdla_conv: it is without "
        "descriptors, programs, jobs and the engine"]
    assert not list(wrong_words(model, "// nvdla_conv says it.\nint nvdla_convolver;\n"))
    user = "ret = copy_from_user(to, from, size);\n"
    assert list(wrong_words(pathlib.Path("kernel/nvdla_gem.c"), user))
    assert not list(wrong_words(pathlib.Path("kernel/nvdla_program.c"), user))
    assert set(ABSENT) <= set(ROOMS)


def main():
    check_itself()
    complaints = []
    files = [path.relative_to(ROOT) for top in ("uapi", "firmware", "kernel", "runtime")
             for path in sorted((ROOT / top).rglob("*")) if path.suffix in SOURCES]
    for path in files:
        if room_of(path) not in ROOMS:
            complaints.append(f"{path}:1: no CMakeLists.txt makes a room of {path.parent}")
            continue
        source = (ROOT / path).read_text()
        if room_of(path) in C_ROOMS:
            complaints += wrong_includes(path, source)
        complaints += wrong_words(path, source)
    print("\n".join(complaints) or f"{len(files)} files of {len(ROOMS)} rooms know what they may")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
