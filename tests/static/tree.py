#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check every file of the tree: licence, white space, foreign data.

A complaint is one line, file:line: what is wrong; the exit status is 1 if
there was any.
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("NVDLA_SHARED") or ROOT.parent / "shared")
SHARED_IS_REQUIRED = os.environ.get("NVDLA_REQUIRE_SHARED", "0") not in ("", "0")

# The licence of each room; a longer prefix wins.
LICENCES = {
    "": "MIT",
    "Kbuild": "GPL-2.0",
    "kernel/": "GPL-2.0",
    "dkms.conf": "GPL-2.0",
    # As bindings have it.
    "kernel/upstream/nvidia,nvdla.yaml": "(GPL-2.0-only OR BSD-2-Clause)",
    "firmware/": "GPL-2.0 OR MIT",
    # As what it changes.
    "docs/nv_mini.patch": "GPL-2.0 AND MIT",
    "tests/emulator/virt-pci.patch": "GPL-2.0",
    "uapi/": "(GPL-2.0 WITH Linux-syscall-note) OR MIT",
}
# Files that cannot or need not carry a licence line.
NO_LICENCE = re.compile(
    r"LICENSES/|\.md$|\.json$|\.c$|\.gitignore$|\.gitkeep$|\.clang-format$|packages.*\.txt$"
    r"|\.map$|\.in$|/corpus/|/(emitted|compiled)/[^/]+\.txt$|/MAINTAINERS$|upstream/cover\.txt$"
    r"|^debian/(copyright|source/format|.*\.dkms)$")

# Kernel style: tabs. Everything else has none, except where make wants them
# and in shell, which indents as the kernel does.
KERNEL_STYLE = re.compile(r"^((kernel|firmware|uapi)/.*\.[chS]|runtime/sim/.*\.[ch])$")
TABS = re.compile(r"(^|/)(Makefile|Kbuild|Kconfig|MAINTAINERS|rules)$|\.sh$|\.inc$|\.json$|\.c$|\.dts$"
                  r"|\.patch$|^\.ci/run$|/corpus/|^uapi/syzkaller/nvdla\.txt$")

MAX_LINE = 100
MAX_BYTES = 1 << 20


def listed():
    """Files that are committed or about to be."""
    output = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
         "--deduplicate"],
        cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return [name for name in output.split("\0") if name and (ROOT / name).is_file()]


def shared_digests(sizes):
    """Digests of the files beside the project that have one of these sizes."""
    digests = {}
    for path in SHARED.rglob("*"):
        if path.is_file() and path.stat().st_size in sizes:
            digests[hashlib.sha256(path.read_bytes()).digest()] = path
    return digests


def check_licence(name, lines):
    if NO_LICENCE.search(name):
        return
    room = max((r for r in LICENCES if name.startswith(r)), key=len)
    want = f"SPDX-License-Identifier: {LICENCES[room]}"
    # A script's first line is its interpreter.
    first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    text = re.sub(r"\s*(\*/|-->)\s*$", "", first[0]) if first else ""
    if not text.endswith(want):
        yield 1, f"expected '{want}' at the top"


def check_text(name, lines):
    kernel = KERNEL_STYLE.search(name)
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if kernel:
            if re.match(r"\t* {8}", line):
                yield number, "indented with spaces"
            if len(line.expandtabs(8)) > MAX_LINE:
                yield number, f"longer than {MAX_LINE} columns"
            if number > 1 and re.search(r"(^|[\s;{])//", line):
                yield number, "comment with //"
        elif "\t" in line and not TABS.search(name):
            yield number, "tab"
        if "/wo" "rk/" in line:
            yield number, "path of somebody's machine"
    if lines and not lines[-1].strip():
        yield len(lines), "empty line at the end"


def main():
    files = {name: (ROOT / name).read_bytes() for name in listed()}
    # Small files may agree by chance.
    shared = shared_digests({len(data) for data in files.values() if len(data) >= 64})
    complaints = []
    if SHARED_IS_REQUIRED and not SHARED.is_dir():
        complaints.append(f"no folder {SHARED}: nothing to compare with (NVDLA_REQUIRE_SHARED)")
    for name, data in files.items():
        found = []
        if hashlib.sha256(data).digest() in shared:
            found.append((0, "is a copy of shared data"))
        if len(data) > MAX_BYTES:
            found.append((0, f"larger than {MAX_BYTES} bytes"))
        if b"\0" not in data and "/corpus/" not in name and not name.endswith(".bin"):
            try:
                text = data.decode()
            except UnicodeDecodeError:
                found.append((0, "is neither UTF-8 nor binary"))
            else:
                lines = text.split("\n")
                if lines.pop():
                    found.append((len(lines) + 1, "no newline at the end of the file"))
                found += check_licence(name, lines)
                if not name.startswith("LICENSES/"):
                    found += check_text(name, lines)
        complaints += [f"{name}:{number}: {what}" for number, what in found]
    print(*complaints, f"{len(files)} files, {len(complaints)} complaints", sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
