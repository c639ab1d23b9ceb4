#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run every command of README.md as it is written there, in build/ of this tree.

Commands are the indented lines, but for output, and quoted words that begin like one.
COMMANDS says of each how it is run and what it prints; one without an entry fails, and
so does an entry whose command the README does not have any more. Commands that build
run in the tree; others in a folder of links to it, so that they write nowhere else. Of
those that take minutes only the structure is looked at: what make would run.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import pages

ROOT = pages.ROOT
PICTURE = "runtime/examples/digits/images/five-dejavu-serif-sheared.png"

QUOTED = re.compile(r"(make|cmake|ctest) .*|build/(bin|tests)/.*|tests/.*\.sh( .*)?|\w+=.* build/.*")


class Run:
    """Run it: a line of its output, the status (None: any), words that stand for others, in the
    tree or not."""

    def __init__(self, line, status=0, instead=(), tree=False, environment=None):
        self.line, self.status, self.instead = line, status, instead
        self.tree, self.environment = tree, environment or {}


def dry(line):
    """Only what make would run; `make test` and `make emulate` themselves are stages of CI."""
    return Run(line, instead=(("make ", "make -n "),), tree=True)


class Program:
    """The name of a program that is built."""


class Copy:
    """Run it in a repository of its own, with a file that it has to mend."""

    def __init__(self, file, wrong, right):
        self.file, self.wrong, self.right = file, wrong, right


COMMANDS = {
    "make run": Run(r"14 pictures in .*each", tree=True),
    "make help": Run(r"make run +classify", tree=True),
    "make test": dry(r"\.ci/stages\.sh *$"),
    'make test STAGES="static release"': dry(r"\.ci/stages\.sh static release$"),
    "make test-all": dry(r"\.ci/stages\.sh --all"),
    "make modules": dry(r"build-module\.sh"),
    "make emulate": dry(r"tests/emulator/suite\.sh 6\.12 build"),
    "make emulate INTERACTIVE=1": dry(r"tests/emulator/emulate\.sh 6\.12 --interactive"),
    # What DKMS does with it is a test of its own.
    "sudo make dkms && sudo dkms install nvdla/0.1.0": Run(
        r"now: dkms install nvdla/0\.1\.0$", tree=True,
        instead=(("sudo make dkms && sudo dkms install nvdla/0.1.0",
                  "make dkms DESTDIR={scratch}/dkms"),)),
    "make docs": dry(r"docs/reference/build\.py build/docs"),
    "make bench": dry(r"bench\.py build/tests/bench_compare --json build/bench\.json"),
    "make packages": dry(r"debian/build\.sh build/packages"),
    # Built and installed in a bare root by a test of its own; here it is the right version.
    "sudo apt install build/packages/*_0.1.0_*.deb": Run(
        r"nvdla VERSION 0\.1\.0 ", tree=True,
        instead=(("sudo apt install build/packages/*_0.1.0_*.deb",
                  "grep '^project(' CMakeLists.txt"),)),
    "make upstream-series": dry(r"tests/upstream/check\.sh build"),
    "make install": dry(r"cmake --install build$"),
    "make install PREFIX=...": Run(r"Installing: .*/share/doc/nvdla/LICENSES/MIT", tree=True,
                                   instead=(("...", "{scratch}/prefix"),)),
    # After the one above: it sets the prefix back to what it is without.
    "make build": Run(r"", tree=True),
    "build/bin/nvdla": Program(),
    "build/tests/nvdla-lift": Program(),
    "build/bin/convolution model:nv_small": Run(
        r"nv_small: 24576 of 24576 elements are as expected after 3538944 multiply-accumulates"),
    "build/bin/nvdla info": Run(r"nv_medium_1024_full"),
    "build/bin/nvdla regs CDMA.D_BANK 0x2000b": Run(r"WEIGHT_BANK.*\b2\b"),
    "build/bin/nvdla replay tests/golden": Run(r"2\d passed, 0 failed, 0 skipped"),
    "build/bin/nvdla selftest --device model:nv_small": Run(
        r"model:nv_small: 15 passed, 0 failed, 2 left out"),
    "build/bin/nvdla dt node --address 0x10000000 --interrupt 7": Run(
        r'compatible = "nvidia,nvdla-nv-small";'),
    "build/bin/digits --save digits.nvdla": Run(r""),
    "build/bin/nvdla dump digits.nvdla": Run(r"conv 0"),
    "build/bin/nvdla dump digits.nvdla --svg network.svg": Run(r""),
    "build/bin/network": Run(r"^resnet50 +56 "),
    "build/bin/network resnet18 --device model:nv_small": Run(
        r"resnet18: 23 tensors, 2685928 elements, 0 differ"),
    "build/bin/nvdla run digits.nvdla --record run.record": Run(r"scores: 10x1x1 int8"),
    "build/bin/nvdla diff run.record model:nv_full": Run(r"no difference in 1 job"),
    "build/bin/nvdla run digits.nvdla --input PICTURE.png --stats": Run(
        r"conv 0", instead=(("PICTURE.png", PICTURE),)),
    "build/bin/nvdla run digits.nvdla --compare model --dump-layers layers": Run(
        r"5 layers are as on model"),
    "build/bin/nvdla profile digits.nvdla --svg profile.svg": Run(r"conv 0"),
    "build/bin/nvdla run digits.nvdla --profile --profile-trace trace.json": Run(r"conv 0.*%"),
    "build/bin/nvdla lut plot sigmoid --svg sigmoid.svg": Run(r"largest error: .* LSB"),
    "cmake --preset release && cmake --build build": Run(
        r"Build files have been written to: .*/build", tree=True,
        instead=(("--build build", "--build build -- -n"),)),
    "ctest --test-dir build -L unit": Run(r"Total Tests: \d{3,}", tree=True,
                                          instead=(("-L unit", "-L unit -N"),)),
    "tests/static/format.sh --fix": Copy("wrong.cpp", "int  main( ){}\n", "int main() {}\n"),
    'RC_PARAMS="seed=7 max_success=100000" build/tests/model': Run(
        r"PASSED.* [1-9]\d* test", environment={"GTEST_FILTER": "PropertyOfLayers.*"}),
}


def written():
    """Return the commands of the README in their order, and quoted words that are some."""
    text = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text(), flags=re.M | re.S)
    quoted = [word for word in re.findall(r"`([^`\n]+)`", text) if QUOTED.fullmatch(word)]
    return list(dict.fromkeys([command.text for command in pages.commands("README.md")] + quoted))


def shell(command, folder, environment=None):
    """Return what a command says, and its status; nothing of an outer make gets in."""
    clean = {k: v for k, v in os.environ.items()
             if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR", "PREFIX")}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=clean | (environment or {}),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.stdout, done.returncode


def run(command, entry, scratch):
    """Return what is wrong, or nothing."""
    for word, other in entry.instead:
        if word not in command:
            return f"the table replaces {word}, which it does not have"
        command = command.replace(word, other.format(scratch=shlex.quote(str(scratch))))
    said, status = shell(command, ROOT if entry.tree else scratch / "tree", entry.environment)
    if entry.status not in (status, None):
        return f"status {status}, expected {entry.status}:\n{said[-2000:]}"
    if not re.search(entry.line, said, re.M):
        return f"no line is like {entry.line}:\n{said[-2000:]}"
    return None


def run_in_copy(command, entry, scratch):
    copy = scratch / "copy"
    copy.mkdir()
    script = shlex.split(command)[0]
    said, status = shell(
        f"cp --parents {script} {pathlib.Path(script).parent}/sources.sh .clang-format {copy} && "
        f"git init -q {copy}", ROOT)
    (copy / entry.file).write_text(entry.wrong)
    if status == 0:
        said, status = shell(command, copy)
    if status != 0 or (copy / entry.file).read_text() != entry.right:
        return f"status {status}; {entry.file} is {(copy / entry.file).read_text()!r}:\n{said}"
    return None


def check(command, entry, scratch):
    if isinstance(entry, Program):
        there = os.access(ROOT / command, os.X_OK)
        return None if there else "no such program was built"
    if isinstance(entry, Copy):
        return run_in_copy(command, entry, scratch)
    return run(command, entry, scratch)


def main():
    commands = written()
    failed = [f"{command}: it has no entry in {pathlib.Path(__file__).name}"
              for command in commands if command not in COMMANDS]
    failed += [f"{command}: README.md does not have it any more"
               for command in COMMANDS if command not in commands]
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "tree").mkdir()
        for path in ROOT.iterdir():
            (scratch / "tree" / path.name).symlink_to(path)
        for command, entry in COMMANDS.items():
            wrong = check(command, entry, scratch) if command in commands else None
            print(f"{'FAILED' if wrong else 'ran   '} {command}", flush=True)
            failed += [f"{command}: {wrong}"] if wrong else []
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
