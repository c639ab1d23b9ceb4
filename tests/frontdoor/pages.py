# SPDX-License-Identifier: MIT
"""Commands of a page: its indented lines, outside of fences; and tables of them."""

import collections
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

# First words of indented blocks that are none: what a command prints, formulas.
NO_COMMAND = ("picture", "layers", "layer", "job", "wrong", "v")

# `section` is the heading above.
Command = collections.namedtuple("Command", "section text")


def files():
    """Return the files of the tree, committed or about to be."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted({name for name in listed.split("\0") if name and (ROOT / name).is_file()})


def timed(page, section):
    """Return the first column of a table in a section that begins with `| command |`."""
    text = (ROOT / page).read_text().split(f"# {section}\n", 1)[-1]
    table = re.search(r"^\| command \|.*\n\|-.*\n((\|.*\n)+)", re.split(r"^#", text, flags=re.M)[0],
                      re.M)
    return re.findall(r"^\| `(.*?)` \|", table.group(1), re.M) if table else []


def commands(page):
    """Return the commands of a page in their order, each as often as it is there, without
    comments. One that goes on in the next line is one."""
    found, section, fenced, other, begun = [], "", False, False, ""
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        elif line.startswith("#"):
            section = line.lstrip("#").strip()
        elif line.startswith("    "):
            other = other or line.split()[0] in NO_COMMAND
            text = begun + re.split(r"\s{2,}#|\s+# ", line.strip())[0]
            begun = text[:-1].rstrip() + " " if text.endswith("\\") else ""
            # A comment may go on by itself.
            if not (other or begun or text.startswith("#")):
                found.append(Command(section, text))
        else:
            other = other and not line
    return found
