#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run every command of the documentation as it is written there, in the order of each page.

  guide_commands.py                 all pages, but README.md (readme_commands.py), GUEST_PAGES and
                                    COPY_PAGES
  guide_commands.py PAGE...         these
  guide_commands.py --guest GUEST   print what tests/emulator/guide.sh takes: the commands of the
                                    sections that are for a guest, see guide_table.py

A command without an entry in guide_table.py fails, and so does an entry whose command the page
does not have any more. Commands of one page share a folder of links to the tree, so that they
find what earlier ones wrote, and the programs of build/bin; those of COPY_PAGES a copy of the
tree in build/copy, which is kept for the next time.
"""

import filecmp
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pages
import readme_commands
from guide_table import COPY_PAGES, GUEST_PAGES, GUESTS, PAGES, Ctest, Guest
from pages import ROOT


def with_commands():
    """Return the pages of the tree that have commands, but the README."""
    return [page for page in pages.files()
            if page.endswith(".md") and page != "README.md" and pages.commands(page)]


def in_guest(page, section):
    return any((page, section) in sections for sections in GUESTS.values())


def with_entries(page):
    """Return section, text and entry (or None) of each command of a page, in their order."""
    entries = PAGES.get(page, {})
    return [(section, text, entries.get((section, text), entries.get(text)))
            for section, text in pages.commands(page)]


def misplaced(page):
    """Yield what is wrong with the table of a page."""
    commands = with_entries(page)
    for section, command, entry in commands:
        if entry is None:
            yield f"{page}: {command}: it has no entry in guide_table.py"
        elif in_guest(page, section) != isinstance(entry, Guest):
            yield (f"{page}: {command}: its section '{section}' is "
                   f"{'one' if in_guest(page, section) else 'none'} for a guest in guide_table.py")
    used = [entry for _, _, entry in commands]
    for key, entry in PAGES.get(page, {}).items():
        if not any(entry is other for other in used):
            yield f"{page}: {key}: the page does not have it any more"
    sections = {section for section, _, _ in commands}
    for listed in GUESTS.values():
        for other, section in listed:
            if other == page and section not in sections:
                yield f"{page}: no section with commands is called '{section}'"
    for section in sections:
        its = [command for other, command, _ in commands if other == section]
        if pages.timed(page, section) not in ([], its):
            yield f"{page}: the table of '{section}' has other commands than the section"


def run_test(command, name):
    """Return what is wrong with a test whose command this should be, or nothing."""
    said, _ = readme_commands.shell(f"ctest --test-dir build -N -V -R '^{re.escape(name)}$'", ROOT)
    found = re.search(r"Test command: (.*)", said)
    if not found:
        return f"there is no test {name}"
    runs = found.group(1).replace('"', "").replace(f"{ROOT}/", "")
    return None if runs == command else f"{name} runs '{runs}'"


def run_page(page, scratch):
    """Yield what is wrong when the commands of a page are run."""
    yield from misplaced(page)
    done = set()
    for _, command, entry in with_entries(page):
        if entry is None or isinstance(entry, Guest) or command in done:
            continue
        done.add(command)
        if isinstance(entry, Ctest):
            wrong = run_test(command, entry.name)
        else:
            path = {"PATH": f"{ROOT}/build/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
            if isinstance(entry, readme_commands.Run):
                entry.environment = entry.environment | path
            wrong = readme_commands.check(command, entry, scratch)
        print(f"{'FAILED' if wrong else 'ran   '} {page}: {command}", flush=True)
        if wrong:
            yield f"{page}: {command}: {wrong}"


def replaced(command, entry):
    for word, other in entry.instead:
        if word not in command:
            sys.exit(f"{command}: the table replaces {word}, which it does not have")
        command = command.replace(word, other)
    return command


def print_guest(name):
    for page, section in GUESTS[name]:
        for wrong in misplaced(page):
            sys.exit(wrong)
        for its, command, entry in with_entries(page):
            if its == section:
                before = f"{{ {entry.before}; }} && " if entry.before else ""
                print(command, before + replaced(command, entry), entry.status, entry.line,
                      sep="\n")


def copied():
    """Return a folder with a copy of the tree. What is there and the same keeps its time."""
    scratch = ROOT / "build/copy"
    tree = scratch / "tree"
    wanted = set(pages.files())
    for path in list(tree.rglob("*")):
        name = str(path.relative_to(tree))
        if path.is_file() and not name.startswith("build/") and name not in wanted:
            path.unlink()
    for name in wanted:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if not ((tree / name).exists() and filecmp.cmp(ROOT / name, tree / name, shallow=False)):
            shutil.copy(ROOT / name, tree / name)
    return scratch


def run_in_links(page):
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "tree").mkdir()
        for path in ROOT.iterdir():
            (scratch / "tree" / path.name).symlink_to(path)
        try:
            yield from run_page(page, scratch)
        finally:
            server = scratch / "tree/server.pid"
            if server.exists():
                subprocess.run(["kill", server.read_text().strip()], check=False)


def run(chosen):
    failed = [f"{page}: it has commands, and no entry in guide_table.py"
              for page in with_commands() if page not in PAGES]
    suite = (ROOT / "tests/emulator/suite.sh").read_text()
    failed += [f"tests/emulator/suite.sh: no boot has the commands of '{guest}'"
               for guest in GUESTS if f"$(guide {guest})" not in suite]
    for page in chosen:
        failed += run_page(page, copied()) if page in COPY_PAGES else run_in_links(page)
    print(*failed, sep="\n")
    return 1 if failed else 0


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--guest"] and arguments[1:] and arguments[1] in GUESTS:
        print_guest(arguments[1])
        return 0
    if any(page not in PAGES for page in arguments):
        sys.exit(__doc__)
    return run(arguments or [page for page in PAGES if page not in GUEST_PAGES + COPY_PAGES])


if __name__ == "__main__":
    sys.exit(main())
