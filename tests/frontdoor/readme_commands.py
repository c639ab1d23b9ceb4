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
# One of ONNX's own cases, of Debian's libonnx-testdata.
MODEL = "/usr/share/libonnx-testdata/data/node/test_relu/model.onnx"
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


class Copy:
    """Run it in a repository of its own, with a file that it has to mend."""

    def __init__(self, file, wrong, right):
        self.file, self.wrong, self.right = file, wrong, right


COMMANDS = {
    "make run": Run(r"14 pictures in .*each", tree=True),
    "make test": dry(r"\.ci/stages\.sh *$"),
    "build/bin/digits --save digits.nvdla": Run(r""),
    "build/bin/nvdla run digits.nvdla --input PICTURE.png --stats": Run(
        r"conv1", instead=(("PICTURE.png", PICTURE),)),
    "build/bin/nvdla dump digits.nvdla --svg network.svg": Run(r""),
    "build/bin/nvdla profile digits.nvdla --svg profile.svg": Run(r"conv1"),
    "build/bin/nvdla compile MODEL.onnx --output model.nvdla": Run(
        r"1 node for nv_full: 1 device", instead=(("MODEL.onnx", MODEL),)),
    "build/bin/digits_onnx": Run(r"int8 +99\.\d"),
    "build/bin/convolution model:nv_small": Run(
        r"nv_small: 24576 of 24576 elements are as expected after 3538944 multiply-accumulates"),
    "make help": Run(r"make run +classify", tree=True),
    "make docs": dry(r"docs/reference/build\.py build/docs"),
}


def written():
    """Return the commands of the README in their order, and quoted words that are some."""
    text = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text(), flags=re.M | re.S)
    quoted = [word for word in re.findall(r"`([^`\n]+)`", text) if QUOTED.fullmatch(word)]
    return list(dict.fromkeys([command.text for command in pages.commands("README.md")] + quoted))


# A make that runs this test hands these on, and each changes what the commands of a reader do.
MAKE_VARIABLES = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "DESTDIR", "PREFIX", "STAGES",
                  "CHANGED", "ROOM", "BENCH", "SETS", "QUICK", "KERNEL", "KERNELS", "INTERACTIVE")


def shell(command, folder, environment=None):
    """Return what a command says, and its status; nothing of an outer make gets in."""
    clean = {k: v for k, v in os.environ.items() if k not in MAKE_VARIABLES}
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
    if isinstance(entry, Copy):
        return run_in_copy(command, entry, scratch)
    return run(command, entry, scratch)


def programs_of_first_steps():
    """Yield programs of the first commands that `make run` does not build."""
    dry_run, _ = shell("make -n run", ROOT)
    built = re.search(r"--target (.*)", dry_run)
    names = {"nvdla-cli": "nvdla"}
    targets = built[1].split() if built else []
    if targets == ["first_steps"]:
        lists = (ROOT / "cmake" / "NvdlaBuild.cmake").read_text()
        targets = re.search(r"set\(first_steps (.*)\)", lists)[1].split()
    there = {names.get(name, name) for name in targets}
    for section, text in pages.commands("README.md"):
        program = re.match(r"build/bin/(\S+)", text)
        if section == "First steps" and program and program[1] not in there:
            yield f"make run does not build {program[1]}, which README.md uses right after it"


def devices():
    """Yield what the list of devices has otherwise than `nvdla --help`."""
    said, _ = shell("build/bin/nvdla --help", ROOT)
    names = re.search(r"Names of devices.*?\n(.*?)\n`nvdla info`", said, re.S)
    helped = {name: set() for name in re.findall(r"^  (\S+)", names[1] if names else "", re.M)}
    for form, options in re.findall(r"^Options of (\w+),.*\n((?:  .*\n)+)", said, re.M):
        (name,) = [name for name in helped if name.startswith(form + ":")]
        helped[name] = set(re.findall(r"^  (\w+)=", options, re.M))
    text = (ROOT / "README.md").read_text()
    listed = {name: set(re.findall(r"`(\w+)=`", options))
              for name, options in re.findall(r"^\| `(\S+)` \|.*?\|(.*)\|$",
                                              text.split("\n## Devices")[-1], re.M)
              if not name.startswith("docs/")}
    if not helped or listed != helped:
        yield f"devices: README.md has {listed}, nvdla --help {helped}"


def statuses():
    """Yield what the table of exit statuses has otherwise than `nvdla --help`."""
    said, _ = shell("build/bin/nvdla run --help", ROOT)
    helped = " ".join(said[said.find("Exit status: "):].split()).removesuffix(".")
    table = re.findall(r"^\| (\d) \| (.*) \|$", (ROOT / "README.md").read_text(), re.M)
    listed = "Exit status: " + ", ".join(f"{number} {text}" for number, text in table)
    if helped.replace(",", "") != listed.replace(",", ""):
        yield f"exit statuses: README.md has '{listed}', --help '{helped}'"


def length():
    """Yield that it is too long."""
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > 150:
        yield f"README.md has {lines} lines; at most 150 are read"


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
    for facts in (programs_of_first_steps, devices, statuses, length):
        failed += facts()
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
