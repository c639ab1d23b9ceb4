#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""kernel_doc.py FILE: a header of the driver in Doxygen's notation, every line at its place.

Kernel-doc names what it documents, `@bytes:`; Doxygen takes what follows a comment, and reads the
name as a command. Each comment stays where it is and is about what it was about.
"""

import pathlib
import re
import sys


# Escapes what Doxygen would take for commands, HTML or links in plain English.
def plain(text):
    return re.sub(r'([\\@<>&$#%"])', r"\\\1", text)


def convert(text):

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
    return re.sub(r"/\*(.*?)\*/(?=\s*\n[ \t]*([^\n]*))", comment, text, flags=re.S)


def main():
    print(convert(pathlib.Path(sys.argv[1]).read_text()), end="")


if __name__ == "__main__":
    main()
