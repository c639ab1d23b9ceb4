#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""filter.py FILE: the header with its comments as Doxygen wants them, every line at its place.

C++ headers have plain comments: one before a declaration, or behind it on its line, is about
it, and about further functions up to an empty line. Headers of the driver have kernel-doc, whose names at the beginning Doxygen does not need,
as it knows what follows; and plain comments before what is no structure.
"""

import pathlib
import re
import sys


# What Doxygen would take for commands, HTML or links in plain English.
def plain(text):
    return re.sub(r'([\\@<>&$#%"])', r"\\\1", text)


def is_declaration(line):
    return bool(line.strip()) and not re.match(r"\s*(//|#(?!define)|}|public:|private:)", line)


def follows(lines, number):
    """The first line from `number` on that is no comment of the same block."""
    while number < len(lines) and re.match(r"\s*//( |$)", lines[number]):
        number += 1
    return lines[number] if number < len(lines) else ""


def cpp(lines):
    out = []
    about = []  # what the comment before this declaration says
    begins = False  # whether a declaration begins here: the one before has ended
    head = True  # the comment at the top is about the file
    behind = None  # the column of a comment behind a declaration, which may go on below
    for number, line in enumerate(lines):
        own = re.match(r"(\s*)//( .*|)$", line)
        after = re.match(r"(.*\S\s+)// (.*)$", line)
        if head and not own:
            head = False
        if own and not out[-1:] or own and not re.match(r"\s*//", lines[number - 1]):
            about = []
        if own:
            about.append(plain(own[2]).strip())
        elif not line.strip() or re.match(r"\s*(#|}|public:|private:)", line):
            about = []
        if own and (number == 0 or head):
            out.append("/// @file" if number == 0 else "///" + plain(own[2]))
        elif own and behind is not None and len(own[1]) == behind:
            out.append(f"{own[1]}///<{plain(own[2])}")
        elif own:
            mark = "///" if is_declaration(follows(lines, number)) else "//"
            out.append(f"{own[1]}{mark}{plain(own[2])}")
            behind = None
        elif after and not re.match(r"\s*#|.*\bnamespace\b", line):
            out.append(f"{after[1]}///< {plain(after[2])}")
            behind = len(after[1])
        else:
            # Another function that the same comment is about.
            more = begins and about and re.match(r"\s*\S.*\(", line)
            out.append(f"/** {' '.join(about)} */ {line}" if more else line)
            behind = None
        begins = not own and line.rstrip().endswith((";", "}"))
    return out


def kernel(lines):
    text = "\n".join(lines)

    def comment(match):
        body, after = match[1], match[2]
        if "SPDX-License-Identifier" in body:
            return "/** @file */"
        if "---" in body:  # a heading
            return match[0]
        begin = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        documents = body.startswith("*") or after.startswith("#define") or begin.strip()
        body = body.removeprefix("*")
        body = re.sub(r"^([\s*]*)(?:(?:struct|enum) \w+ - |@\w+: )", r"\1", body)
        body = plain(re.sub(r"[&@](?=\w)", "", body))
        mark = "/**<" if begin.strip() else "/**" if documents else "/*"
        return mark + body + "*/"
    return re.sub(r"/\*(.*?)\*/(?=\s*\n[ \t]*([^\n]*))", comment, text, flags=re.S).split("\n")


def main():
    path = pathlib.Path(sys.argv[1])
    lines = path.read_text().split("\n")
    print("\n".join(cpp(lines) if path.suffix == ".hpp" else kernel(lines)), end="")


if __name__ == "__main__":
    main()
