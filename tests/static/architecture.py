#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds ARCHITECTURE.md to the tree.

- What it has in backticks is a file or folder, a function of a file ("file: function"), a test,
  a target of make, a command of nvdla, or a name that the sources have.
- A road (a fenced block that is called so) is a tree of calls. A line has a function, the file that
  defines it, and what it does there; the nearest function above with less indentation calls it, by
  itself or by others of its file. "~" stands before a function that is reached by a pointer, a queue
  or an interrupt.
- Rooms, their order and what each must not know are those of rooms.py; the arrows are in a drawing,
  which house.py makes. Licences are those of tree.py.
- Each word of the glossary occurs in the sources, and has one sentence.
- The page has at most LINES lines of COLUMNS columns.

A complaint is one line, file:line: what is wrong; the exit status is 1 if there was any.
"""

import collections
import pathlib
import re
import sys

import features
import house
import rooms
import tree
import wording

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "ARCHITECTURE.md"
LINES, COLUMNS = 200, 120

ROAD = re.compile(r"( *)(~ )?([\w:]+) +([\w./-]+\.\w+) {2,}(\S.*)")
WORD = re.compile(r"\* \*\*(?!an? )(.+?)\*\*: (.+)")
CODE = re.compile(r"`([^`\n]+)`")
# Names of files, with a folder or without; "*" as in shells.
PATH = re.compile(r"[\w.*-]+(/[\w.,*-]*)+|[\w*-]+\.(c|h|hpp|cpp|ipp|py|sh|md|json|txt|inc|cmake)")


def ends(text, start):
    """The place behind the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def definitions(source, name, of_any_class=False):
    """The text of each definition of a function, declarations left out. A name with a class is
    defined with it, or inside of the class."""
    qualifier = r"(?:\w+::)*" if of_any_class else ""
    # What is behind a tab is inside of a function of C.
    pattern = re.compile(r"^( *)(?:\w[\w:<>,&*~ \t]*[ \t&*])?" + qualifier + re.escape(name) + r"\(",
                         re.M)
    for match in pattern.finditer(source):
        after = re.search(r"[;{]", source[ends(source, match.end() - 1):])
        if after is None or after[0] == ";":
            continue
        # It ends in its line, or with a bracket below its first column.
        close = re.compile(r"^.*\}[ \t]*$|(?s:.*?)^" + match[1] + r"\}", re.M)
        end = close.match(source, source.rfind("\n", 0, match.end()) + 1)
        yield source[match.start():end.end() if end else len(source)]
    outer, inner = name.rpartition("::")[::2]
    if outer and re.search(r"^\s*(class|struct) (\w+ )*" + re.escape(outer.split("::")[-1]) + r"\b[^;]*\{",
                           source, re.M):
        yield from definitions(source, inner)


def calls(source, caller, callee):
    """Does a function call another, by itself or by functions of the same file?"""
    callee = callee.split("::")[-1]
    bodies, seen = list(definitions(source, caller)), {caller}
    while bodies:
        body = bodies.pop()
        # Without its own name.
        names = set(re.findall(r"\b\w+\b", body[body.index("("):]))
        if callee in names:
            return True
        for name in set(re.findall(r"\b(\w+)\(", body)) - seen:
            seen.add(name)
            bodies += definitions(source, name, of_any_class=True)
    return False


class Tree:
    """What the check asks of the tree."""

    def __init__(self):
        self.files = set(tree.listed())
        self.folders = {str(parent) for name in self.files
                        for parent in pathlib.PurePath(name).parents}
        sources = [name for name in self.files if pathlib.PurePath(name).suffix in wording.SOURCES
                   and name.split("/")[0] in ("uapi", "firmware", "kernel", "runtime")]
        text = "\n".join(self.read(name) for name in sources)
        self.text = text.lower()
        self.words = set(re.findall(r"\w+", text))
        self.words |= set(re.findall(r"^function\((\w+)", self.read("cmake/NvdlaBuild.cmake"), re.M))
        self.tests = features.Tests()
        self.targets = set(re.findall(r"^([\w-]+):", self.read("Makefile"), re.M))
        self.commands = set(re.findall(r"\badd_(\w+)\(", self.read("runtime/tools/cli/input/commands.hpp")))

    @staticmethod
    def read(name):
        return (ROOT / name).read_text(encoding="utf-8")

    def find(self, name):
        """The file or folder that is meant, below the root or runtime/; or None."""
        for path in (name.rstrip("/"), "runtime/" + name.rstrip("/")):
            if path in self.files or path in self.folders:
                return path
        known = self.files | self.folders
        pattern = name if "/" in name else "*/" + name
        return next((path for path in sorted(known) if pathlib.PurePath(path).match(pattern)), None) \
            if "*" in name or "/" not in name else None

    def is_several(self, name, folders):
        """Do several files have this name, none of them in one of the folders?"""
        found = [pathlib.PurePath(path) for path in self.files if path.endswith("/" + name)]
        return "/" not in name and name not in self.files and len(found) > 1 and \
            not any(str(path.parent) in folders for path in found)

    def has_word(self, word):
        """Is it a word, or several of them, of code or comments?"""
        return re.search(r"\b" + re.escape(word.lower()).replace(r"\ ", "[ _-]"), self.text)


def wrong_name(there, name):
    """What is wrong with what stands in backticks, or nothing."""
    if match := re.fullmatch(r"(\S+): ([\w:]+)", name):
        return wrong_stop(there, match[2], match[1])
    if match := re.fullmatch(r"make ([\w-]+)( .*)?", name):
        return None if match[1] in there.targets else "the Makefile has no such target"
    if match := re.fullmatch(r"nvdla (\w+)( .*)?", name):
        return None if match[1] in there.commands else "nvdla has no such command"
    if PATH.fullmatch(name):
        return None if there.find(name) else "there is no such file or folder"
    # All static checks are registered under one prefix, which says nothing of the rest.
    if name.startswith("static."):
        return None if name.split(".")[1] in there.tests.text else "there is no such check"
    if there.tests.has(name):
        return None
    words = re.findall(r"[A-Za-z_]\w+", name)
    missing = [word for word in words if word not in there.words]
    return f"no source has {', '.join(missing)}" if missing or not words else None


def wrong_stop(there, function, file):
    """What is wrong with a function in a file, or nothing."""
    path = there.find(file)
    if path is None:
        return f"there is no {file}"
    if not any(definitions(there.read(path), function)):
        return f"{path} does not define {function}"
    return None


def wrong_road(there, lines):
    """Complaints about a road, with the numbers of its lines."""
    callers = []
    for number, line in lines:
        match = ROAD.fullmatch(line)
        if not line:
            callers = []
            continue
        if match is None:
            yield number, f"is no stop, 'function  file  what it does': {line}"
            continue
        depth, by_pointer, function, file, _ = match.groups()
        while callers and callers[-1][0] >= len(depth):
            callers.pop()
        wrong = wrong_stop(there, function, file)
        if wrong:
            yield number, wrong
        elif callers and not by_pointer:
            _, caller, where = callers[-1]
            path = there.find(where)
            if path and not calls(there.read(path), caller, function):
                yield number, f"{caller} does not call {function}"
        callers.append((len(depth), function, file))


def wrong_rooms(rows):
    """Complaints about the table of rooms."""
    last = rows[-1][0] if rows else 1
    listed = [name.strip("`").rstrip("/") for _, (name, *_) in rows]
    if listed != list(rooms.ROOMS):
        yield last, f"lists {', '.join(listed)}; rooms.py has {', '.join(rooms.ROOMS)}"
    for number, cells in rows:
        absent = rooms.ABSENT.get(cells[0].strip("`").rstrip("/"))
        if absent and absent[0] not in cells[-1]:
            yield number, f"{cells[0]}: does not say what rooms.py holds it to, '{absent[0]}'"


def wrong_licences(number, line):
    """Complaints about the line of licences: "Licences: `a/` X; `b/` and `c` Y; all else Z."."""
    found = {}
    for clause in line.removeprefix("Licences: ").rstrip(".").split("; "):
        names, licence = CODE.findall(clause), re.split(r"` |all else ", clause)[-1]
        for name in names or [""]:
            found[name] = licence
    # What is a room, a folder or everything; single files say it themselves.
    expected = {name: licence for name, licence in tree.LICENCES.items()
                if not name or name.endswith("/") or name in found}
    if found != expected:
        yield number, f"licences are {found}; in tree.py they are {expected}"


def wrong_words(there, rows):
    """Complaints about the glossary."""
    seen = collections.Counter(word for _, (word, *_) in rows)
    for number, (word, meaning) in rows:
        for name in re.split(r", | or ", word):
            if not there.has_word(name):
                yield number, f"no source has the word '{name}'"
        if not re.fullmatch(r"[^.]*(?:\.(?! )[^.]*)*\.", meaning):
            yield number, f"'{word}' has no sentence, or several"
        if seen[word] > 1:
            yield number, f"'{word}' is there twice"


def parts_of(text):
    """Fenced blocks, tables and the glossary: kind, name and numbered lines or cells."""
    section, fence, block = "", None, []
    rows, words = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if fence is not None:
                yield "fence", fence, block
            fence, block = (line[3:].strip(), []) if fence is None else (None, [])
        elif fence is not None:
            block.append((number, line))
        if fence is None and line.startswith("|"):
            rows.append((number, [cell.strip() for cell in line.strip("|").split(" | ")]))
        elif rows:
            # Without the heading and the line below it.
            yield "table", section, rows[2:]
            rows = []
        if match := WORD.fullmatch(line):
            words.append((number, match.groups()))
        if fence is None and line.startswith("#"):
            section = line.lstrip("# ")
    if rows:
        yield "table", section, rows[2:]
    if words:
        yield "words", "", words


def complaints(there, text):
    """All that is wrong with the page: a line and what."""
    lines = text.splitlines()
    if len(lines) > LINES:
        yield len(lines), f"has {len(lines)} lines; one page has {LINES} at most"
    fenced = False
    folders = set()  # where the files lie that this item has named
    for number, line in enumerate(lines, 1):
        if not line.startswith("  "):
            folders.clear()
        if len(line) > COLUMNS:
            yield number, f"has {len(line)} columns; {COLUMNS} at most"
        fenced ^= line.startswith("```")
        for name in [] if fenced else CODE.findall(line):
            if wrong := wrong_name(there, name):
                yield number, f"`{name}`: {wrong}"
            elif PATH.fullmatch(name):
                if there.is_several(name, folders):
                    yield number, f"`{name}`: several files are called so; name the folder before"
                path = pathlib.PurePath(there.find(name))
                folders |= {str(path), str(path.parent)}
        if line.startswith("Licences: "):
            yield from wrong_licences(number, line)
    parts = list(parts_of(text))
    for wanted in (("fence", "road"), ("table", "Rooms"), ("words", "")):
        if not any((kind, name) == wanted for kind, name, _ in parts):
            yield len(lines), f"has no {' '.join(wanted).rstrip()}"
    if f"({house.DRAWING})" not in text:
        yield len(lines), f"does not show {house.DRAWING}"
    if not any(line.startswith("Licences: ") for line in lines):
        yield len(lines), "has no line of licences"
    for kind, name, rows in parts:
        if (kind, name) == ("fence", "road"):
            yield from wrong_road(there, rows)
        elif (kind, name) == ("table", "Rooms"):
            yield from wrong_rooms(rows)
        elif kind == "words":
            yield from wrong_words(there, rows)
        elif kind == "fence":
            yield rows[0][0] if rows else 1, f"has a block '{name}', which is no road"


def check_definitions():
    """What is a definition, and what is in it."""
    source = """class Band {
 public:
  int height() const { return height_; }
  void move(int by) override {
    shift(by);
  }
};
static int start(struct job *job,
\t\t int (*then)(int))
{
\treturn advance(job);
}
int advance(struct job *job);
void Tile::run(int x) {
  if (start(x)) return;
  start(x);
}
"""
    found = {name: list(definitions(source, name))
             for name in ("start", "advance", "Tile::run", "Band::move", "Band::height", "Tile::move")}
    assert [len(bodies) for bodies in found.values()] == [1, 0, 1, 1, 1, 0], found
    assert "advance(job)" in found["start"][0] and "Tile" not in found["start"][0]
    assert found["Band::height"][0].endswith("height_; }"), found["Band::height"]
    assert found["Band::move"][0].rstrip().endswith("}") and "static" not in found["Band::move"][0]


def check_roads(there):
    """What is wrong with a road, and what not."""
    right = """nvdla_ioctl_submit        kernel/nvdla_submit.c  copies
  nvdla_submit_push       kernel/nvdla_submit.c  arms
  ~ nvdla_job_run         kernel/nvdla_job.c     waits
    nvdla_sched_ready     kernel/nvdla_sched.c   queues
cut_bands                 compiler/passes/bands.cpp  bands
  split_conv              packing/bands.cpp       cuts"""
    road = list(enumerate(right.splitlines(), 1))
    assert not list(wrong_road(there, road)), list(wrong_road(there, road))
    for before, after, number in (("  nvdla_submit_push ", "  nvdla_sched_ready ", 2),
                                  ("nvdla_job.c ", "nvdla_jobs.c", 3), ("~ ", "  ", 3),
                                  ("packing/bands.cpp", "packing/lines.cpp", 6),
                                  ("arms", "", 2)):
        found = list(wrong_road(there, list(enumerate(right.replace(before, after).splitlines(), 1))))
        assert found and found[0][0] == number, (before, found)


def check_itself(there):
    """What the check is to find, and what not."""
    check_definitions()
    check_roads(there)
    for name in ("kernel/nvdla_sched.c", "kernel/", "cost/", "backend.hpp", "make test",
                 "nvdla diff", "static.rooms", "test_engine", "nvdla_hw_ops", "Lowering::emit",
                 "kernel/nvdla_fence.c: nvdla_fence_end", "firmware/registers/*.json"):
        assert wrong_name(there, name) is None, (name, wrong_name(there, name))
    for name in ("kernel/nvdla_schedule.c", "runtime/core/", "backends.hpp", "make tests", "nvdla see",
                 "static.room", "nvdla_ports", "Lowering::omit", "firmware/registers/*.xml",
                 "kernel/nvdla_fence.c: nvdla_fence_start"):
        assert wrong_name(there, name), name

    table = [(number, [f"`{room}/`", "what", rooms.ABSENT.get(room, ("nothing",))[0]])
             for number, room in enumerate(rooms.ROOMS, 1)]
    assert not list(wrong_rooms(table))
    assert len(list(wrong_rooms(table[1:]))) == 1
    assert len(list(wrong_rooms([*table[:-1], (9, ["`runtime/examples/`", "what", "nothing"])]))) == 1

    licences = ("Licences: `kernel/` and `Kbuild` GPL-2.0; `firmware/` GPL-2.0 OR MIT; "
                "`uapi/` (GPL-2.0 WITH Linux-syscall-note) OR MIT; all else MIT.")
    assert not list(wrong_licences(1, licences)), list(wrong_licences(1, licences))
    assert list(wrong_licences(1, licences.replace("OR MIT; `uapi", "OR BSD; `uapi")))
    assert list(wrong_licences(1, licences.replace("`firmware/` GPL-2.0 OR MIT; ", "")))

    assert not list(wrong_words(there, [(1, ["line stride", "It is 1.5 atoms."])]))
    for row in (["frobnicator", "It is."], ["atom", "It is"], ["atom", "It is. It was."]):
        assert len(list(wrong_words(there, [(1, row)]))) == 1, row
    assert len(list(wrong_words(there, [(1, ["atom", "It is."]), (2, ["atom", "It was."])]))) == 2

    assert there.is_several("main.cpp", set()) and there.is_several("main.cpp", {"kernel"})
    assert not there.is_several("main.cpp", {"runtime/tools/cli"})
    assert not there.is_several("device_name.cpp", set())

    found = [what for _, what in complaints(there, "a" * (COLUMNS + 1) + "\n" * LINES + "\n`x y`\n")]
    assert len(found) == 8, found


def main():
    there = Tree()
    check_itself(there)
    if PAGE not in there.files:
        print(f"{PAGE}:1: there is no such file")
        return 1
    found = [f"{PAGE}:{number}: {what}" for number, what in complaints(there, there.read(PAGE))]
    print("\n".join(found) or f"{PAGE}: {len(rooms.ROOMS)} rooms, and all that it names is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
