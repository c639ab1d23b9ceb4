#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds comments and names to the house's language: counts may only fall.

A comment is a sentence. One that opens with a word of HEADS has no subject
("What is special about a layer."); those that open as a line of
wording_sentences.txt are whole sentences all the same. One thing has one
name: WORDS has the names that are given up, and what to write instead.

The counts of each room are in wording.json. A count that rises is an error,
and so is one that has fallen until --update writes it down; --update raises
none. --list prints what is counted.
"""
import collections
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COUNTS = HERE / "wording.json"
SENTENCES = HERE / "wording_sentences.txt"
SOURCES = {".c", ".h", ".cpp", ".hpp", ".ipp"}

HEADS = ("As", "By", "How", "Of", "That", "Those", "What", "Where", "Whether", "Which", "Who")

# Identifiers that are given up, with what to write and where; "" stands for all rooms. In the
# vector layers some words of plain English name operations.
VECTORS = "runtime/model/simd"
NETWORK = "runtime/compiler"
WORDS = {
    "": {
        "reals": "floats", "write_reals": "write_floats", "alu_reals": "alu_floats",
        "kTile": "kMr", "kStep": "kKr", "nudges": "correction",
        "kWhenItPays": "kAuto", "flight": "in-flight layer", "stint": "time slice",
        "make_blob": "begin_constants", "add_blob": "commit_constants",
        "refuse_argument": "throw_invalid_argument", "refuse": "throw_error",
        "at_place": "with_error_context", "in_layer": "with_error_context",
        "noun": "kind_name", "called": "name", "find_lines": "ensure_lines_fetched",
        "nvdla_port": "nvdla_hw_ops",
    },
    "kernel": {"account": "client statistics", "confirm": "probe_atom", "front": "bus_ops"},
    NETWORK: {
        "Resident": "Allocation", "Tenant": "LiveRange", "move_in": "assign_slots",
        "Wishes": "MemoryPlanOptions", "Chain": "Schedule", "PortNode": "IoTensor",
        "Port": "Binding", "Blob": "ConstantPool",
    },
    VECTORS: {
        "both": "And", "either": "Or", "differing": "Xor", "opposite": "Not", "without": "AndNot",
        "one_of": "Xor", "above": "SlideUp", "below": "SlideDown",
    },
    "runtime/backend": {"bare": "registers", "local": "inprocess"},
}

COMMENT = re.compile(
    r'(?P<text>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')'
    r"|(?P<block>/\*.*?\*/)"
    r"|(?P<lines>(?<=\n)[ \t]*//[^\n]*(?:\n[ \t]*//[^\n]*)*)"
    r"|(?P<rest>//[^\n]*)", re.S)
# What begins a line of a comment, and is not part of it.
MARGIN = re.compile(r"^\s*(?://+[/!<]*|/\*+|\*+/?)?\s*")


def comments_of(source):
    """Pairs of a line's number and the text of the comment that begins there."""
    for match in COMMENT.finditer("\n" + source):
        if match["text"]:
            continue
        lines = match[0].removesuffix("*/").split("\n")
        texts = [MARGIN.sub("", line).strip() for line in lines]
        first = 0
        # A licence, and what separates it from the comment of the file.
        while first < len(texts) and (not texts[first] or "SPDX-License" in texts[first]):
            first += 1
        if first < len(texts):
            before = match.start() + len("\n".join(lines[:first])) + (first > 0)
            yield source.count("\n", 0, max(before - 1, 0)) + 1, " ".join(texts[first:])


def code_of(source):
    """The source without comments and texts."""
    return COMMENT.sub(lambda match: "\n" * match[0].count("\n"), "\n" + source)[1:]


def headless(comment, sentences):
    """Is it a clause without a subject?"""
    return comment.split(" ")[0] in HEADS and not any(map(comment.startswith, sentences))


def room_of(path):
    """The room of a file, relative to the root."""
    return "/".join(path.parts[:2]) if path.parts[0] == "runtime" else path.parts[0]


def words_of(path):
    """The names that are given up in a file."""
    found = {}
    for place, words in WORDS.items():
        if str(path).startswith(place):
            found |= words
    return found


def find(path, source, sentences):
    """What is wrong in a file: what is counted, line, and what to do."""
    for number, comment in comments_of(source):
        if headless(comment, sentences):
            yield "comments", number, f"begins in mid-sentence: \"{comment[:60]}\""
    words = words_of(path)
    for number, line in enumerate(code_of(source).split("\n"), 1):
        for name in re.findall(r"[A-Za-z_]\w*", line):
            if name in words:
                yield "names", number, f"{name}: write {words[name]}"


def check_itself():
    """What the check is to find, and what not."""
    source = """// SPDX-License-Identifier: MIT
//
// What is special about a file.
#include "x.hpp"
/* Returns the band. */
int reals;  // Of each layer.
const char* text = "// What is this";
/*
 * Whether it is so,
 * or not.
 */
// From here on nobody serves it. What follows is of no use.
// By hand is how people do it.
int floats(int write_reals);
"""
    found = list(find(pathlib.Path("runtime/x.hpp"), source, ["By hand is"]))
    assert [(kind, number) for kind, number, _ in found] == [
        ("comments", 3), ("comments", 6), ("comments", 9), ("names", 6), ("names", 14)], found
    assert not list(find(pathlib.Path("runtime/x.hpp"), "int both, front, Port;\n", []))
    assert list(find(pathlib.Path("kernel/x.h"), "int front;\n", []))


def main():
    check_itself()
    sentences = [line for line in SENTENCES.read_text(encoding="utf-8").splitlines()
                 if line and not line.startswith("#")]
    counts = collections.defaultdict(lambda: {"comments": 0, "names": 0})
    found = []
    for top in ("kernel", "firmware", "uapi", "runtime"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            path = path.relative_to(ROOT)
            room = counts[room_of(path)]
            for kind, number, text in find(path, (ROOT / path).read_text(encoding="utf-8"),
                                           sentences):
                room[kind] += 1
                found.append((room_of(path), kind, f"{path}:{number}: {text}"))
    if sys.argv[1:] == ["--list"]:
        print("\n".join(text for _, _, text in found))
        return 0
    kept = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}
    wrong = []
    fallen = {}
    for room in sorted(counts.keys() | kept.keys()):
        for kind, count in counts[room].items():
            # A room that is new has nothing that is old.
            limit = kept.get(room, {}).get(kind, 0) if kept else count
            if count > limit:
                wrong.append(f"{room}: {count} {kind}, where {limit} were; these are all of them:")
                wrong += [f"  {text}" for at, what, text in found if (at, what) == (room, kind)]
            if count < limit or not kept:
                fallen[room] = True
    if sys.argv[1:] == ["--update"] and not wrong:
        kept = {room: counts[room] for room in sorted(counts) if any(counts[room].values())}
        COUNTS.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        return 0
    for room in fallen:
        wrong.append(f"{room}: better than tests/static/wording.json says: "
                     "run tests/static/wording.py --update")
    print("\n".join(wrong) or
          ", ".join(f"{sum(room[kind] for room in counts.values())} {kind}"
                    for kind in ("comments", "names")) + " to be written anew")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
