#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rooms and their arrows, as the CMakeLists.txt of each room declares them; compiler and linker
hold C++ to these.

house.py           checks that every declared arrow is used, that there is no circle, that no folder
                   has more than FILES files of sources, and that docs/house.svg shows what is declared
house.py --update  draws docs/house.svg

A complaint is one line, file: what is wrong; the exit status is 1 if there was any.
"""

import functools
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRAWING = "docs/house.svg"
FILES = 40
SOURCES = {".c", ".h", ".cpp", ".hpp", ".ipp", ".py", ".sh"}
# Old public headers stay for a version, as forwards.
CROWDED = {"runtime/include/nvdla"}

API = "runtime/include"
# The tiers of the public interface below its objects, by the names that NEEDS has for them.
TIERS = {tier: f"{API}/nvdla/{tier}" for tier in ("types", "operators", "lowlevel")}
# What is no library of CMake's, and what it includes.
OTHERS = {
    "uapi": (),
    "firmware": ("uapi",),
    "kernel": ("firmware", "uapi"),
    "runtime/sim": (),
    TIERS["types"]: ("uapi",),
    TIERS["operators"]: (TIERS["types"], "uapi"),
    TIERS["lowlevel"]: (TIERS["types"], "uapi"),
    API: (*TIERS.values(), "uapi"),
}
# Linked though no header of it is included: what the public interface declares, or another header,
# is defined there.
LINKED = {("runtime/device", "runtime/backend/open"), ("runtime/selftest", "runtime/device"),
          ("runtime/emulator", "runtime/device")}
LINKED |= {(f"runtime/model/{unit}", "runtime/model/simd/sets")
           for unit in ("sdp", "pdp", "cdp", "move", "conv")}

ADD = re.compile(r"nvdla_add_(?:library|loops)\(([\w/]+)([^)]*)\)")
PROGRAM = re.compile(r"target_link_libraries\((nvdla-cli|nvdla-device-server|\$\{name\}) PRIVATE([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def path_of(need):
    """The folder of a room by the name that NEEDS has for it."""
    name = need.removesuffix("_headers")
    return {"api": API, "uapi": "uapi", "firmware": "firmware", **TIERS}.get(name, f"runtime/{name}")


@functools.cache
def rooms():
    """The rooms that each room includes or links, from below."""
    found = {room: set(targets) for room, targets in OTHERS.items()}
    for path in sorted((ROOT / "runtime").rglob("CMakeLists.txt")):
        text = re.sub(r"#.*", "", path.read_text())
        for room, rest in ADD.findall(text):
            needs = re.search(r"\bNEEDS\b([\w/\s]*?)(?:\bLINKS\b|$)", rest)
            found[f"runtime/{room}"] = {path_of(need) for need in needs[1].split()} if needs else set()
    by_target = {"nvdla_" + room.removeprefix("runtime/").replace("/", "_"): room for room in found}
    by_target["nvdla"] = API
    for path in sorted((ROOT / "runtime").rglob("CMakeLists.txt")):
        folder = str(path.parent.relative_to(ROOT))
        for _, libraries in PROGRAM.findall(re.sub(r"#.*", "", path.read_text())):
            names = {by_target.get(name.removesuffix("_headers")) for name in libraries.split()}
            found.setdefault(folder, set()).update(names - {None, folder})
    return ordered(found)


def ordered(arrows):
    """The same with each room behind those that it needs; what is in a circle comes last."""
    done = {}
    while len(done) < len(arrows):
        ready = [room for room in arrows if room not in done and arrows[room] <= done.keys()]
        for room in ready or [room for room in arrows if room not in done]:
            done[room] = frozenset(arrows[room])
        if not ready:
            break
    return done


def room_of(path):
    """The room of a file or folder, relative to the root; None outside of all."""
    path = pathlib.PurePath(path)
    for folder in (path, *path.parents):
        if str(folder) in rooms():
            return str(folder)
    return None


def included_rooms(room):
    """The other rooms whose headers the files of a room include."""
    found = set()
    for path in (ROOT / room).glob("*"):
        if path.suffix not in SOURCES:
            continue
        for name in INCLUDE.findall(path.read_text(errors="replace")):
            for root in (path.parent, ROOT / "runtime", ROOT / API, ROOT, ROOT / "uapi"):
                if (root / name).is_file():
                    found.add(room_of((root / name).resolve().relative_to(ROOT)))
                    break
    return found - {room, None}


def wrong_arrows():
    """Complaints about what is declared and not used, and about circles."""
    seen = set()
    for room, targets in rooms().items():
        for target in sorted(targets - seen):
            yield f"{room}: needs {target}, which needs it"
        seen.add(room)
        if room in OTHERS or not (ROOT / room / "CMakeLists.txt").read_text().count("nvdla_add_lib"):
            continue
        for target in sorted(targets - included_rooms(room)):
            if (room, target) not in LINKED:
                yield f"{room}/CMakeLists.txt: nothing needs {target} any more"


def wrong_folders():
    """Complaints about folders that want to be several."""
    for top in ("uapi", "firmware", "kernel", "runtime", "tests"):
        for folder in sorted({path.parent for path in (ROOT / top).rglob("*")
                              if path.suffix in SOURCES and "corpus" not in path.parts}):
            count = sum(path.suffix in SOURCES for path in folder.iterdir())
            name = str(folder.relative_to(ROOT))
            if count > FILES and name not in CROWDED:
                yield f"{name}: has {count} files; {FILES} at most, as folders say what belongs together"


# --- the drawing: a box for each room of the first level, with its folders

def top_of(room):
    return "/".join(room.split("/")[:2]) if room.startswith("runtime/") else room


def tops():
    """The boxes: what each needs, without arrows that others imply, and its folders."""
    needs, folders = {}, {}
    for room, targets in rooms().items():
        needs.setdefault(top_of(room), set()).update(map(top_of, targets))
        if room != top_of(room):
            name = room.removeprefix(top_of(room) + "/").removeprefix("nvdla/")
            folders.setdefault(top_of(room), []).append(name)
    needs = {room: targets - {room} for room, targets in needs.items()}
    below = {}

    def reached(room):
        if room not in below:
            below[room] = set(needs[room]).union(*(reached(target) for target in needs[room]))
        return below[room]

    direct = {room: {target for target in targets
                     if not any(target in reached(other) for other in targets - {target})}
              for room, targets in needs.items()}
    return direct, folders


def levels(direct):
    """Rows of boxes from below: each is above all that it needs."""
    level = {}

    def of(room):
        if room not in level:
            level[room] = 1 + max((of(target) for target in direct[room]), default=-1)
        return level[room]

    rows = {}
    for room in direct:
        rows.setdefault(of(room), []).append(room)
    return [rows[number] for number in sorted(rows)]


WIDTH, GAP, LINE, PADDING, ROW = 150, 24, 15, 10, 64


def lines_of(names):
    """Names of folders, as many in a line as fit."""
    lines = [""]
    for name in names:
        if lines[-1] and len(lines[-1]) + len(name) > 20:
            lines.append("")
        lines[-1] = f"{lines[-1]}  {name}".strip()
    return [line for line in lines if line]


def draw():
    """The picture as text of SVG."""
    direct, folders = tops()
    rows = levels(direct)
    total = max(len(row) for row in rows) * (WIDTH + GAP) + GAP
    place, y = {}, GAP
    heights = {room: 2 * PADDING + LINE * (1 + len(lines_of(folders.get(room, ())))) for room in direct}
    for number, row in reversed(list(enumerate(rows))):
        # Boxes stand near what needs them.
        users = {room: [place[user][0] for user in place if room in direct[user]] for room in row}
        row = sorted(row, key=lambda room: (sum(users[room]) / len(users[room]) if users[room]
                                            else total / 2, room))
        left = (total - len(row) * (WIDTH + GAP) + GAP) / 2
        for index, room in enumerate(row):
            place[room] = (left + index * (WIDTH + GAP), y, heights[room])
        y += max(heights[room] for room in row) + (ROW if number else GAP)
    out = ['<!-- SPDX-License-Identifier: MIT -->',
           f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{y:.0f}" '
           f'viewBox="0 0 {total:.0f} {y:.0f}" font-family="sans-serif" font-size="12">',
           '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
           'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#678"/></marker></defs>',
           f'<rect width="{total:.0f}" height="{y:.0f}" fill="#fff"/>']
    for room, targets in direct.items():
        x, top, height = place[room]
        for target in sorted(targets):
            to, under, _ = place[target]
            start, end = x + WIDTH / 2, to + WIDTH / 2
            middle = (top + height + under) / 2
            out.append(f'<path d="M{start:.0f} {top + height:.0f}C{start:.0f} {middle:.0f} {end:.0f} '
                       f'{middle:.0f} {end:.0f} {under:.0f}" fill="none" stroke="#678" '
                       'marker-end="url(#head)"/>')
    for room in direct:
        x, top, height = place[room]
        name = {API: "nvdla/*.hpp"}.get(room, room.removeprefix("runtime/"))
        out.append(f'<rect x="{x:.0f}" y="{top:.0f}" width="{WIDTH}" height="{height}" rx="4" '
                   f'fill="#eef3f8" stroke="#345"/><text x="{x + PADDING:.0f}" '
                   f'y="{top + PADDING + 11:.0f}" font-weight="bold">{html.escape(name)}</text>')
        for index, line in enumerate(lines_of(folders.get(room, ())), 1):
            out.append(f'<text x="{x + PADDING:.0f}" y="{top + PADDING + 11 + LINE * index:.0f}" '
                       f'font-size="11" fill="#345" xml:space="preserve">{html.escape(line)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def check_itself():
    """What the check finds in arrows that are made up."""
    assert list(ordered({"b": {"a"}, "a": set()})) == ["a", "b"]
    assert room_of("runtime/compiler/passes/bands.cpp") == "runtime/compiler/passes"
    assert room_of("runtime/compiler/compile.cpp") == "runtime/compiler"
    assert room_of("docs/house.svg") is None
    assert "runtime/cost" in rooms()["runtime/model"] and "runtime/model" in rooms()["runtime/backend/model"]
    assert not rooms()["runtime/cost"], "cost needs nothing"


def main():
    check_itself()
    picture = ROOT / DRAWING
    if sys.argv[1:] == ["--update"]:
        picture.write_text(draw())
        return 0
    found = [*wrong_arrows(), *wrong_folders()]
    if not picture.exists() or picture.read_text() != draw():
        found.append(f"{DRAWING}: shows other rooms than there are; draw it by tests/static/house.py --update")
    print("\n".join(found) or f"{len(rooms())} rooms, {sum(map(len, rooms().values()))} arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
