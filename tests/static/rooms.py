#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold every #include to the order of the rooms: arrows point one way.

A complaint is one line, file:line: what is wrong; the exit status is 1 if
there was any, or if a room is not in the table.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a room may include beside itself and the system. "api" is runtime/include/nvdla.
ROOMS = {
    "uapi": set(),
    "firmware": {"uapi"},
    "kernel": {"firmware", "uapi"},
    "runtime/arith": {"api"},
    "runtime/model": {"runtime/arith", "firmware", "uapi"},
    "runtime/include": {"uapi"},
    "runtime/base": {"api", "uapi"},
    # What simulators link, and nothing of this project.
    "runtime/sim": set(),
    "runtime/backend": {"runtime/base", "runtime/arith", "runtime/model", "runtime/sim", "firmware",
                        "api", "uapi"},
    "runtime/layout": {"runtime/base", "runtime/arith", "firmware", "api", "uapi"},
    "runtime/lut": {"runtime/base", "runtime/arith", "api", "uapi"},
    "runtime/device": {"runtime/layout", "runtime/backend", "runtime/base", "runtime/arith", "api",
                       "uapi"},
    # Operators between two programs.
    "runtime/cpu": {"runtime/arith", "runtime/base", "api"},
    "runtime/network": {"runtime/cpu", "runtime/device", "runtime/layout", "runtime/lut", "runtime/base",
                        "runtime/arith", "api", "uapi"},
    "runtime/loadable": {"runtime/cpu", "runtime/network", "runtime/device", "runtime/layout", "runtime/lut",
                         "runtime/backend", "runtime/base", "runtime/arith", "firmware", "api",
                         "uapi"},
    # Drives devices by their registers where it reaches them, else by the API.
    "runtime/selftest": {"runtime/backend", "runtime/base", "runtime/model", "firmware", "api",
                         "uapi"},
    # What programs share. Of base only headers: programs link the library, whose insides are hidden.
    "runtime/program": {"runtime/base", "api", "uapi"},
    # The programs. They may drive the model itself, as silicon: replay and the emulator's device do.
    "runtime/tools": {"runtime/program", "runtime/selftest", "runtime/loadable", "runtime/lut",
                      "runtime/backend", "runtime/base", "runtime/arith", "runtime/model",
                      "runtime/sim", "firmware", "api", "uapi"},
    # Examples are what users write: the public API, and nothing else of the library.
    "runtime/examples": {"runtime/program", "api"},
}

INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)[">]')
SOURCES = {".c", ".h", ".cpp", ".hpp", ".ipp"}


def room_of(path):
    """The room that a file of the tree lies in."""
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] == "runtime" else parts[0]


def target_of(name, path):
    """The room that `#include name` in `path` reaches; None for the system's headers."""
    roots = (path.parent, pathlib.Path(), pathlib.Path("runtime"), pathlib.Path("uapi"))
    for root in roots:
        if (ROOT / root / name).is_file():
            return room_of((ROOT / root / name).resolve().relative_to(ROOT))
    return "api" if (ROOT / "runtime/include" / name).is_file() else None


def main():
    complaints = []
    files = [path.relative_to(ROOT) for top in ("uapi", "firmware", "kernel", "runtime")
             for path in sorted((ROOT / top).rglob("*")) if path.suffix in SOURCES]
    for path in files:
        room = room_of(path)
        if room not in ROOMS:
            complaints.append(f"{path}:1: {room} is not in the table of rooms.py")
            continue
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            target = target_of(match[1], path) if match else None
            own = {room, "api"} if room == "runtime/include" else {room}
            if target and target not in ROOMS[room] | own:
                complaints.append(f"{path}:{number}: {room} must not include {match[1]}: it may "
                                  f"use {', '.join(sorted(ROOMS[room])) or 'nothing'}")
    print("\n".join(complaints) or f"{len(files)} files of {len(ROOMS)} rooms: arrows point down")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
