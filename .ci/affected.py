#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Choose the tests that the changes since a commit can affect.

affected.py COMMIT FILE STAGE...: prints which rooms changed, which tests they affect, and which
stages are left out and why; writes to FILE a line for each stage that remains, with the
expression of ctest labels (-L) that choose its tests, or nothing behind the stage for all.

Changed files are those that differ between COMMIT and the working tree. What they affect follows
from the tree:

- Rooms depend on those that they include, by the arrows of tests/static/house.py.
- Tests have a label for their folder. They depend on its room (cmake/NvdlaBuild.cmake has it), on
  what their sources include, and on the programs that their CMakeLists.txt runs. A header of the
  C++ interface stands for the rooms that define what it declares.
- ALSO has what scripts use beside that.
- The build system, this folder and whatever no room owns affect everything.
"""

import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/static"))
import house  # noqa: E402 (its place is known only now)
from house import room_of  # noqa: E402
from wording import SOURCES  # noqa: E402

# Folders of tests whose scripts use more than their CMakeLists.txt names; None stands for all
# rooms.
ALSO = {
    "arm64": {"runtime/tools/cli", "runtime/examples"},
    "emulator": {"kernel", "runtime/tools/cli", "runtime/emulator", "runtime/examples"},
    "frontdoor": None,
    "hostile": {"kernel", "runtime/tools/cli", "runtime/emulator"},
    "ioctl": {"kernel"},
    "mutation": None,
    "packages": None,
    "static": None,
    "upstream": {"kernel", "runtime/tools/cli", "runtime/emulator"},
}
# Folders whose tests read any document; tests in C++ name theirs.
READERS = {"frontdoor", "examples", "packages"}
# What only looks at the source, runs in a guest, or is tested once: no sanitizer has it.
ONCE = {"emulator", "frontdoor", "hostile", "ioctl", "mutation", "packages", "static", "upstream"}
# The tests that a stage has: "*": any, "sanitized": all but those of ONCE, "label NAME": folders
# with tests that have this label; else folders, or labels that CMake adds by hand.
STAGES = {
    "static": None,
    "freestanding": ("firmware", "unit/uapi"),
    "release": "*",
    "asan": "sanitized",
    "tsan": "label threads",
    "fuzz": ("fuzz",),
    "modules": ("modules",),
    "emulate": ("emulator", "hostile"),
    "arm64": "label arm64",
    "alone": "sanitized",
}
# What needs all of the library that the interface stands for.
TOPS = ("runtime/loadable/read", "runtime/loadable/write", "runtime/compiler")

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
BUILD = re.compile(r"(^|/)(CMakeLists\.txt|Kbuild|Makefile|Kconfig|[^/]+\.cmake(\.in)?)$")
DOCUMENT = re.compile(r"\.md$|^docs/|^LICENSES/|^LICENSE$")
API = house.API
PUBLIC = frozenset((API, *house.TIERS.values()))


class Refused(Exception):
    """What is wrong with the commit."""


def read(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


@functools.cache
def sources(folder):
    """The C and C++ files below a folder, relative to the root."""
    return [path.relative_to(ROOT) for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in SOURCES]


@functools.cache
def closure(room):
    """A room and all that it includes, by the arrows."""
    found = {room}
    for target in house.rooms()[room]:
        found |= closure(target)
    # Programs use what is behind the interface; the library has arrows for that.
    if room.startswith("runtime/") and room not in library():
        for path in sources(room):
            found |= behind_includes(path)
    return frozenset(found)


def declared(header):
    """Patterns of definitions of what a header of the interface declares."""
    text = read(header)
    for name in re.findall(r"\b(?:class|struct) NVDLA_API (\w+)", text):
        yield re.compile(rf"^(?:\w[^;{{}}=()\n]*\s)?\**&?{name}::~?\w", re.M)
    for name in re.findall(r"^NVDLA_API [^;(]*?\b(\w+)\(", text, re.M):
        yield re.compile(rf"^\w[^;{{}}=()\n]*\b{name}\(", re.M)


@functools.cache
def implementers(header):
    """The rooms that define what a header of the interface declares."""
    patterns = tuple(declared(header))
    return frozenset(room for room in library() if PUBLIC & house.rooms()[room]
                     for path in sources(room)
                     if path.suffix == ".cpp" and any(p.search(read(path)) for p in patterns))


@functools.cache
def library():
    """The rooms of the library: all that its top needs, by the arrows."""
    found, waiting = set(), list(TOPS)
    while waiting:
        room = waiting.pop()
        if room not in found:
            found.add(room)
            waiting += house.rooms()[room]
    return frozenset(found)


@functools.cache
def included(path):
    """The files of the tree that a file includes."""
    found = set()
    for name in INCLUDE.findall(read(path)):
        for root in (path.parent, pathlib.Path(), *map(pathlib.Path, ("runtime", "uapi", API, "tests"))):
            if (ROOT / root / name).is_file():
                found.add((ROOT / root / name).resolve().relative_to(ROOT))
                break
    return frozenset(found)


@functools.cache
def behind_includes(path):
    """The rooms, and all below them, that implement the interface's headers of a file."""
    found, headers = set(), [name for name in included(path) if room_of(name) in PUBLIC]
    seen = set(headers)
    while headers:
        header = headers.pop()
        for room in implementers(header):
            found |= closure(room)
        more = {name for name in included(header) if room_of(name) in PUBLIC} - seen
        seen |= more
        headers += more
    return frozenset(found)


# --- tests

@functools.cache
def folders():
    """The folders of tests, below tests/, as their CMakeLists.txt add them."""
    found, waiting = [], [""]
    while waiting:
        folder = waiting.pop()
        text = read(pathlib.PurePath("tests", folder, "CMakeLists.txt"))
        if folder and folder != "common" and "nvdla_add_room(" not in text:
            found.append(folder)
        for names in re.findall(r"nvdla_add_room\(([^)]*)\)", text):
            waiting += [f"{folder}/{name}".lstrip("/") for name in names.split()]
    return sorted(found)


@functools.cache
def room_of_folder(folder):
    """The room whose tests a folder has, by nvdla_room_of_tests()."""
    name = folder.rpartition("/")[2]
    table = dict(re.findall(r"set\(room_of_(\w+) (\w+)\)", read("cmake/NvdlaBuild.cmake")))
    return table.get(name, name)


def owner(path):
    """The folder of tests that has a file, or nothing."""
    inside = str(path).removeprefix("tests/")
    return max((f for f in folders() if inside.startswith(f + "/")), key=len, default=None)


@functools.cache
def targets():
    """The folder that defines each target of CMake."""
    found = {}
    for path in ROOT.glob("*/**/CMakeLists.txt"):
        if path.relative_to(ROOT).parts[0] not in ("firmware", "runtime", "tests"):
            continue
        for name in re.findall(r"(?:add_executable|add_library|nvdla_add_test)\(([\w-]+)",
                               path.read_text()):
            found[name] = path.parent.relative_to(ROOT)
    return found


@functools.cache
def used(folder):
    """The rooms and the files of other folders that the tests of a folder use."""
    text = read(f"tests/{folder}/CMakeLists.txt")
    found, files = set(), set()
    name = room_of_folder(folder)
    for room in house.rooms():
        if re.match(rf"(runtime/)?{name}(/|$)", room):
            found |= closure(room)
    programs = re.findall(r"(?:TARGET_FILE|TARGET_OBJECTS):([\w-]+)", text)
    programs += re.findall(r"COMMAND ([\w-]+)", text)
    for listed in re.findall(r"add_dependencies\([\w-]+\s([^)]*)\)", text):
        programs += listed.split()
    for name in programs:
        place = targets().get(name)
        if place is None:
            continue
        if place.parts[0] == "tests":
            files.add(place / "CMakeLists.txt")
        else:
            found |= closure(room_of(place))
    waiting = [path for path in sources(f"tests/{folder}")]
    waiting += [(ROOT / "tests" / folder / name).resolve().relative_to(ROOT)
                for name in re.findall(r"\.\./[\w./-]+\.cpp", text)]
    waiting += [pathlib.Path(name) for name in re.findall(r"\btests/[\w./-]+\.cpp", text)]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        if not (ROOT / path).is_file():
            continue
        if path.parts[0] != "tests":
            found |= closure(room_of(path))
            continue
        files.add(path)
        found |= behind_includes(path)
        for name in included(path) - seen:
            seen.add(name)
            if room_of(name) in PUBLIC:
                found.add(room_of(name))
                continue
            waiting.append(name)
            # The sources of a header of the tests.
            waiting += [other for other in (name.with_suffix(".cpp"),) if other not in seen]
    return frozenset(found), frozenset(files)


@functools.cache
def labelled(label):
    """The folders with tests that have a label."""
    return {folder for folder in folders()
            if re.search(rf"LABELS[^)]*\b{label}\b", read(f"tests/{folder}/CMakeLists.txt"))}


# --- changes

class Changes:
    """What changed, and what that affects."""

    def __init__(self, names):
        self.names = {pathlib.PurePosixPath(name) for name in names}
        self.rooms, self.folders, self.documents = set(), set(), set()
        self.everything = {}  # file: why
        for path in sorted(self.names):
            self.add(path)
        self.affected_rooms = {room for room in house.rooms() if closure(room) & self.rooms}
        # Those of the tests that changes of sources affect, and of documents.
        self.labels, self.readers = set(), set()
        for folder in folders():
            if self.is_affected(folder):
                self.labels.add(f"tests:{folder}")
            elif self.reads_documents(folder):
                self.readers.add(f"tests:{folder}")
        if closure("kernel") & self.rooms or "emulator" in self.folders:
            self.labels.add("tests:modules")
        if self.folders:
            self.labels.add("tests:names")

    def add(self, path):
        room = room_of(path)
        if path.parts[0] == "tests" and owner(path):
            self.folders.add(owner(path))
        elif path.parts[:2] == ("tests", "common") and path.suffix in SOURCES:
            self.folders.add("common")
        elif path.parts[0] == "tests":
            self.everything[str(path)] = "used by tests of many rooms"
        elif DOCUMENT.search(str(path)):
            self.documents.add(str(path))
        elif BUILD.search(str(path)):
            self.everything[str(path)] = "part of the build system"
        elif room in house.rooms():
            self.rooms.add(room)
        else:
            self.everything[str(path)] = "of no room"

    def reads_documents(self, folder):
        if folder in READERS and self.documents:
            return True
        return any(f'NVDLA_SOURCE_DIR "/{name}"' in read(path) for name in self.documents
                   for path in sources(f"tests/{folder}"))

    def is_affected(self, folder):
        """Can the changes of sources affect the tests of a folder?"""
        if folder in self.folders:
            return True
        if folder in ALSO and ALSO[folder] is None:
            return bool(self.rooms)
        needs, files = used(folder)
        if needs.union(*(closure(room) for room in ALSO.get(folder, ()))) & self.rooms:
            return True
        return any(file in self.names or owner(file) in self.folders and file.suffix == ".txt" or
                   file.parts[:2] == ("tests", "common") and self.has_common_sources
                   for file in files)

    @property
    def has_common_sources(self):
        """Did a source change that tests link, whichever header of tests/common they include?"""
        return any(path.parts[:2] == ("tests", "common") and path.suffix == ".cpp"
                   for path in self.names)

    def has_tests(self, stage):
        """Does a stage have tests that are affected?"""
        kinds = STAGES[stage]
        if kinds is None or self.everything:
            return True
        labels = self.labels_of(stage)
        if isinstance(kinds, tuple):
            return any(f"tests:{kind}" in labels for kind in kinds)
        chosen = [folder for folder in folders() if f"tests:{folder}" in labels]
        if kinds == "sanitized":
            return any(folder not in ONCE for folder in chosen)
        if kinds.startswith("label "):
            return any(folder in labelled(kinds.removeprefix("label ")) for folder in chosen)
        return any(folder != "static" for folder in chosen)

    def labels_of(self, stage):
        """The labels of affected tests. One reading of a document is enough."""
        return self.labels | self.readers if stage == "release" else self.labels

    def expression(self, stage):
        """The labels of a stage's tests for ctest -L; empty for all of them."""
        if STAGES[stage] is None or self.everything:
            return ""
        return "^(" + "|".join(sorted(self.labels_of(stage))) + ")$"

    def report(self, stages):
        """Lines for a user."""
        if not self.names:
            yield "nothing changed"
        for name, why in self.everything.items():
            yield f"everything is affected: {name} is {why}"
        if self.rooms:
            yield "changed rooms: " + " ".join(sorted(self.rooms))
        if self.folders:
            yield "changed tests: " + " ".join(f"tests/{name}" for name in sorted(self.folders))
        if self.documents:
            yield "changed documents: " + " ".join(sorted(self.documents))
        if self.everything:
            return
        yield "affected rooms: " + (" ".join(sorted(self.affected_rooms)) or "none")
        left = [f for f in folders() if f"tests:{f}" not in self.labels | self.readers]
        if left:
            yield ("left out, as what they use has not changed: tests of " +
                   " ".join(f"tests/{name}" for name in left))
        for stage in stages:
            if not self.has_tests(stage):
                yield f"left out: stage {stage}, which has no test that is affected"


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True,
                          check=False)
    return done.stdout if done.returncode == 0 else None


def changed_since(commit):
    """Names of the files that differ from a commit, both names of those that moved."""
    top = git("rev-parse", "--show-toplevel")
    if top is None or pathlib.Path(top.strip()).resolve() != ROOT:
        raise Refused(f"{ROOT} is no git checkout: CHANGED needs one, or leave it out")
    if git("rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}") is None:
        raise Refused(f"CHANGED={commit}: the checkout has no such commit")
    listed = git("diff", "--name-only", "--no-renames", "-z", commit + "^{commit}", "--")
    listed += git("ls-files", "--others", "--exclude-standard", "-z")
    return {name for name in listed.split("\0") if name}


def main():
    commit, output, *stages = sys.argv[1:]
    try:
        changes = Changes(changed_since(commit))
    except Refused as error:
        print(f"affected.py: {error}", file=sys.stderr)
        return 2
    print("\n".join(changes.report(stages)))
    lines = [f"{stage} {changes.expression(stage)}".rstrip() for stage in stages
             if changes.has_tests(stage)]
    pathlib.Path(output).write_text("".join(line + "\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
