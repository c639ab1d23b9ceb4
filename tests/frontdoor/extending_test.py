#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Apply docs/nv_mini.patch but for one of its files: tests/static/configurations.py names that."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pages
from pages import ROOT

PATCH = (ROOT / "docs/nv_mini.patch").read_text()
CHECK = "tests/static/configurations.py"
# Of this one all others need an entry.
FIRST = "firmware/nvdla_hw.c"


def said_without(left_out, files):
    """Return what the check says of a tree to which the patch is applied but for one file."""
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        for path in [*files, CHECK]:
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, tree / path)
        parts = [part for part in re.split(r"^(?=--- a/)", PATCH, flags=re.M)
                 if not part.startswith(f"--- a/{left_out}\n")]
        subprocess.run(["patch", "-p1", "-s"], input="".join(parts), text=True, cwd=tree,
                       check=True)
        done = subprocess.run([sys.executable, tree / CHECK], stdout=subprocess.PIPE, text=True,
                              check=False)
        return done.stdout.split("\n"), done.returncode


def main():
    failed = []
    files = re.findall(r"^\+\+\+ b/(.*)$", PATCH, re.M)
    if said_without("", files) != ([""] * 2, 0):
        failed.append(f"the whole patch: {said_without('', files)}")
    for path in set(files) - {FIRST}:
        lines, status = said_without(path, files)
        if status != 1 or not any(re.match(f"{path}: has no nv_mini: ", line) for line in lines):
            failed.append(f"without {path}: status {status}: {lines}")
    page = (ROOT / "docs/extending.md").read_text()
    for path in set(files):
        if f"`{path}`" not in page:
            failed.append(f"docs/extending.md does not name {path}, which the patch changes")
    # The places that it names are there.
    known = set(pages.files())
    for path in re.findall(r"`([\w.,/-]+/[\w.,/-]+\.\w+)`", page):
        if path not in known:
            failed.append(f"docs/extending.md: there is no {path}")
    print(*failed, sep="\n")
    return 1 if failed or len(files) < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
