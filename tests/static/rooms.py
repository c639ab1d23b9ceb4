#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold every #include to the order of the rooms, and every room to what it must not know.

Arrows point to rooms that are above in the table, so there is no circle, and each arrow
is one that some #include needs. ARCHITECTURE.md draws both tables; architecture.py
compares them.

A complaint is one line, file:line: what is wrong; the exit status is 1 if
there was any, or if a room is not in the table.
"""

import pathlib
import re
import sys

from wording import SOURCES, code_of, room_of

ROOT = pathlib.Path(__file__).resolve().parents[2]

API = "runtime/include"

# What a room includes beside itself and the system, from below.
ROOMS = {
    "uapi": set(),
    "firmware": {"uapi"},
    "kernel": {"firmware", "uapi"},
    # What simulators link, and nothing of this project.
    "runtime/sim": set(),
    API: {"uapi"},
    "runtime/support": {API, "uapi"},
    # Of uapi what nvdla_hw.h brings.
    "runtime/model": {"runtime/support", "firmware"},
    "runtime/host_ops": {"runtime/support", API},
    "runtime/packing": {"runtime/support", "firmware", API, "uapi"},
    "runtime/lut": {"runtime/support", API, "uapi"},
    "runtime/backend": {"runtime/support", "runtime/model", "runtime/sim", "firmware", API, "uapi"},
    "runtime/device": {"runtime/packing", "runtime/backend", "runtime/support", API,
                       "uapi"},
    # Operators between two programs are those of cpu.
    "runtime/compiler": {"runtime/host_ops", "runtime/device", "runtime/packing", "runtime/lut", "runtime/support", API, "uapi"},
    "runtime/loadable": {"runtime/host_ops", "runtime/compiler", "runtime/device", "runtime/packing",
                         "runtime/backend", "runtime/support", "firmware", API},
    # Drives devices by their registers where it reaches them, else by the API.
    "runtime/selftest": {"runtime/backend", "runtime/model", "firmware", API, "uapi"},
    # What programs share. Of support only headers: programs link the library, whose insides are hidden.
    "runtime/tools/common": {"runtime/support", API, "uapi"},
    # The device server: the model behind stock QEMU.
    "runtime/emulator": {"runtime/tools/common", "runtime/backend", "runtime/support", "runtime/model",
                         "runtime/sim", "firmware", "uapi"},
    # The programs. They may drive the model itself, as silicon: replay does.
    "runtime/tools": {"runtime/tools/common", "runtime/selftest", "runtime/loadable", "runtime/host_ops",
                      "runtime/lut", "runtime/backend", "runtime/support", "runtime/model",
                      "firmware", API, "uapi"},
    # Examples are what users write: the public API, and nothing else of the library.
    "runtime/examples": {"runtime/tools/common", API},
}

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
    "runtime/loadable": ("the model and the engine", r"\bmodel::|\bnvdla_engine", ()),
    "runtime/selftest": ("networks and files", r"\b(Network|CompiledNetwork|Request|Loadable)\b", ()),
    "runtime/tools/common": ("backends, the engine and the model",
                        r"\bmodel::|\bBackend\b|\bnvdla_engine", ()),
    "runtime/emulator": ("networks and what runs them", r"\b(Network|CompiledNetwork|Session)\b", ()),
    "runtime/examples": ("the insides of the library", r"\bdetail::", ()),
}

# Folders of the compiler, and the folders of it that each must not know.
UNKNOWN = {
    "runtime/compiler/graph/": ("runtime/compiler/lower/", "runtime/compiler/passes/"),
    "runtime/compiler/lower/": ("runtime/compiler/passes/",),
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


def unknown_to(path):
    """The folders that a file's own must not know."""
    return tuple(folder for own, folders in UNKNOWN.items() if str(path).startswith(own)
                 for folder in folders)


def wrong_includes(path, source, used):
    """Complaints about a file's includes; adds the arrows that they need to `used`."""
    room = room_of(path)
    for number, line in enumerate(source.splitlines(), 1):
        match = INCLUDE.match(line)
        file = file_of(match[1], path) if match else None
        if str(file).startswith(unknown_to(path)):
            yield f"{path}:{number}: {path.parent} must not include {match[1]}"
        target = room_of(file) if file else None
        if target is None or target == room:
            continue
        used.add((room, target))
        if target not in ROOMS[room]:
            yield (f"{path}:{number}: {room} must not include {match[1]}: it may "
                   f"use {', '.join(sorted(ROOMS[room])) or 'nothing'}")


def wrong_words(path, source):
    """Complaints about what a file knows and its room must not."""
    what, pattern, places = ABSENT.get(room_of(path), ("", "(?!)", ()))
    if str(path) in places:
        return
    for number, line in enumerate(code_of(source).split("\n"), 1):
        if match := re.search(pattern, line):
            yield f"{path}:{number}: {room_of(path)} must not know {match[0]}: it is without {what}"


def wrong_table(rooms, used):
    """Complaints about the table itself."""
    above = []
    for room, targets in rooms.items():
        for target in sorted(targets):
            if target not in above:
                yield f"rooms.py: {room} -> {target}: that room is not above it in the table"
            if (room, target) not in used:
                yield f"rooms.py: {room} -> {target}: no #include needs it any more"
        above.append(room)


def check_itself():
    """What the check is to find, and what not."""
    model = pathlib.Path("runtime/model/x.cpp")
    used = set()
    assert list(wrong_includes(model, '#include "compiler/lower/schedule.hpp"\n', used))
    assert not list(wrong_includes(model, '#include "firmware/nvdla_hw.h"\n#include <map>\n', used))
    assert used == {("runtime/model", "runtime/compiler"), ("runtime/model", "firmware")}, used
    lower = pathlib.Path("runtime/compiler/lower/x.cpp")
    for name in ("compiler/passes/passes.hpp", "../passes/passes.hpp"):
        assert len(list(wrong_includes(lower, f'#include "{name}"\n', used))) == 1, name
    assert not list(wrong_includes(lower, '#include "compiler/graph/graph.hpp"\n', used))
    assert list(wrong_words(model, "\nvoid run(const nvdla_conv& conv);\n")) == [
        "runtime/model/x.cpp:2: runtime/model must not know nvdla_conv: it is without "
        "descriptors, programs, jobs and the engine"]
    assert not list(wrong_words(model, "// nvdla_conv says it.\nint nvdla_convolver;\n"))
    user = "ret = copy_from_user(to, from, size);\n"
    assert list(wrong_words(pathlib.Path("kernel/nvdla_gem.c"), user))
    assert not list(wrong_words(pathlib.Path("kernel/nvdla_program.c"), user))
    assert not list(wrong_table({"a": set(), "b": {"a"}}, {("b", "a")}))
    assert len(list(wrong_table({"a": {"b"}, "b": set()}, {("a", "b")}))) == 1
    assert len(list(wrong_table({"a": set(), "b": {"a"}}, set()))) == 1
    assert set(ABSENT) <= set(ROOMS)


def main():
    check_itself()
    complaints = []
    used = set()
    files = [path.relative_to(ROOT) for top in ("uapi", "firmware", "kernel", "runtime")
             for path in sorted((ROOT / top).rglob("*")) if path.suffix in SOURCES]
    for path in files:
        if room_of(path) not in ROOMS:
            complaints.append(f"{path}:1: {room_of(path)} is not in the table of rooms.py")
            continue
        source = (ROOT / path).read_text()
        complaints += wrong_includes(path, source, used)
        complaints += wrong_words(path, source)
    complaints += wrong_table(ROOMS, used)
    print("\n".join(complaints) or f"{len(files)} files of {len(ROOMS)} rooms: arrows point down")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
