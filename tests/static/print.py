#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds programs that print in another way than by tools/common/print.hpp.

It escapes what text from files, devices and command lines may hold; whoever
calls the standard library passes that on to the terminal as it is.
"""
import pathlib
import re
import sys

ROOMS = ("runtime/tools", "runtime/emulator", "runtime/examples")

# Files that print nothing but their own words and numbers, or bytes that no terminal sees.
EXEMPT = {
    "runtime/tools/common/print.hpp": "is the way",
    "runtime/tools/files/files.cpp": "writes files, and standard output as one",
    "runtime/examples/convolution/convolution.cpp": "has the public interface only",
    "runtime/examples/activation/activation.cpp": "has the public interface only",
    "runtime/emulator/device/dma_log.cpp": "writes numbers into a file",
    "runtime/emulator/window_plugin.cpp": "is loaded into another program",
}

WAYS = re.compile(
    r"fmt::v?print\(|std::v?f?printf\(|\bv?f?printf\(|\bdprintf\(|\bf?puts\(|\bputchar\(|"
    r"\bf?putc\(|std::cout\b|std::cerr\b|std::clog\b|\bperror\(|"
    r"fwrite\([^;]*\bstd(?:out|err)\b|write\(STD(?:OUT|ERR)_FILENO")


def found_in(text):
    """Numbers of the lines that print, comments left out."""
    for number, line in enumerate(text.splitlines(), 1):
        if WAYS.search(line.split("//")[0]):
            yield number


def check_itself():
    """What the check is to find, and what not."""
    for line in ('  fmt::print("{}", x);', "std::cout << name;", 'std::fputs(s, stderr);',
                 'std::fprintf(stderr, "%s", s);', "perror(path);"):
        assert list(found_in(line)) == [1], line
    for line in ('program::print("{}", x);', '  print(stderr, "{}", x);', "// fmt::print(x)",
                 "snprintf(a, 3, b);", "void print(int);"):
        assert not list(found_in(line)), line


def main():
    check_itself()
    wrong = []
    for room in ROOMS:
        for path in sorted(pathlib.Path(room).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".ipp") or str(path) in EXEMPT:
                continue
            for number in found_in(path.read_text(encoding="utf-8")):
                wrong.append(f"{path}:{number}: prints by itself; "
                             "right is program::print() of tools/common/print.hpp")
    for path in EXEMPT:
        if not pathlib.Path(path).exists():
            wrong.append(f"tests/static/print.py: there is no {path}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
