#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check the names of the uapi headers: they are in everybody's name space.

Every macro, tag, enumerator, typedef and function begins with one of the prefixes, and none is a
type of the kernel's. A complaint is one line, file:line: what is wrong; the exit status is 1 if
there was any.

    uapi.py [HEADER...]        those of the tree without an argument
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIXES = {
    "macro": ("NVDLA_", "DRM_NVDLA_", "DRM_IOCTL_NVDLA_"),
    "enumerator": ("NVDLA_", "DRM_NVDLA_"),
    "tag": ("nvdla_", "drm_nvdla_"),
    "typedef": ("nvdla_", "drm_nvdla_"),
    "function": ("nvdla_", "drm_nvdla_"),
}


def blank(match):
    """Comments become lines without text, so that numbers of lines stay."""
    return "\n" * match[0].count("\n")


def names(text):
    """Yield (offset, kind, name) of everything that a header gives a global name."""
    for match in re.finditer(r"^[ \t]*#[ \t]*(?:define|ifndef)[ \t]+(\w+)", text, re.M):
        yield match.start(1), "macro", match[1]
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", blank_line, text, flags=re.M)
    for match in re.finditer(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", code):
        yield match.start(1), "tag", match[1]
    for match in re.finditer(r"\benum\b[^;{]*\{(.*?)\}", code, re.S):
        for name in re.finditer(r"(?:^|,)\s*([A-Za-z_]\w*)", match[1]):
            yield match.start(1) + name.start(1), "enumerator", name[1]
    for match in re.finditer(r"\btypedef\b[^;{]*?(?:\{[^}]*\})?[^;{}]*?\b(\w+)\s*;", code):
        yield match.start(1), "typedef", match[1]
    for match in re.finditer(r"^\w[\w\s*]*?\b(\w+)\s*\([^;{]*\)\s*[;{]", code, re.M):
        yield match.start(1), "function", match[1]


def blank_line(match):
    return re.sub(r"[^\n]", " ", match[0])


def complaints(path):
    text = re.sub(r"/\*.*?\*/", blank, path.read_text(), flags=re.S)
    found = list(names(text))
    if not any(kind == "tag" for _, kind, _ in found):
        yield f"{path}: has no structure; is it a uapi header?"
    for offset, kind, name in sorted(found):
        if not name.startswith(PREFIXES[kind]):
            line = text.count("\n", 0, offset) + 1
            yield (f"{path}:{line}: the {kind} {name} begins with none of "
                   f"{', '.join(PREFIXES[kind])}")


def main():
    headers = [pathlib.Path(name) for name in sys.argv[1:]]
    headers = headers or sorted((ROOT / "uapi").rglob("*.h"))
    found = [line for path in headers for line in complaints(path)]
    print(*found, sep="\n")
    return 1 if found or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
