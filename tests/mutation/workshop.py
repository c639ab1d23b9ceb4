# SPDX-License-Identifier: MIT
"""Where mutants are compiled and tested: a copy of the sources of a room, made into a shared
library that test executables are linked to, so that a mutant costs one file and a run. Where
symbols are hidden it costs the link of the executables, too."""
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess

# What a test may take beyond what it takes without a mutant.
SLOWER = 4
SECONDS_MORE = 2
MEMORY = 8 << 30


class Failed(Exception):
    pass


def compile_commands(build):
    """How the build directory compiles each file, alone or as one of several at once."""
    with open(build / "compile_commands.json", encoding="utf-8") as stream:
        found = {entry["file"]: shlex.split(entry["command"]) for entry in json.load(stream)}
    for unity in [file for file in found if "/Unity/unity_" in file]:
        text = pathlib.Path(unity).read_text(encoding="utf-8")
        for path in re.findall(r'^#include "(.*)"$', text, re.M):
            found.setdefault(path, found[unity])
    return found


def link_command(build, target):
    """How the build directory links a target, without the output."""
    result = subprocess.run(
        ["ninja", "-C", str(build), "-t", "commands", target],
        capture_output=True,
        text=True,
        check=False,
    )
    # ": && c++ ... && :"
    words = shlex.split((result.stdout.splitlines() or [""])[-1])
    if "-o" not in words or not (build / target).exists():
        raise Failed(f"{target} is not built in {build}")
    return words[words.index("&&") + 1 : len(words) - words[::-1].index("&&") - 1]


class Test:
    """A test executable, linked to the shared library."""

    def __init__(self, target):
        self.target = target
        self.binary = None
        self.words = None  # how it is linked
        self.seconds = 0


class Workshop:
    """One copy of a room; several work side by side."""

    def __init__(self, root, build, room, place):
        self.root, self.build, self.room = root, build, room
        self.place = place
        self.library = place / "libroom.so"
        self.tests = [Test(target) for target in room.tests]
        self.originals = {}  # objects without a mutant
        self.commands = {}
        self.objects = {}

    # Two things differ from the build's flags: symbols are visible, or no executable would find
    # them; and fewer optimisations, which take longer than the tests.
    def set_up(self):
        commands = compile_commands(self.build)
        for folder in self.room.folders:
            shutil.copytree(self.root / folder, self.place / folder)
        for path in self.room.sources(self.root):
            words = commands.get(str(self.root / path))
            if words is None:
                raise Failed(f"{self.build} does not compile {path}")
            words = [w for w in words if not w.startswith(("-O", "-g", "-fvisibility"))]
            words = words[1:] if pathlib.Path(words[0]).name == "ccache" else words
            output = self.place / path.replace("/", "_")
            words[words.index("-o") + 1] = str(output.with_suffix(".o"))
            words[words.index("-c") + 1] = str(self.place / path)
            # Headers of the copy first.
            optimise = self.room.optimise
            self.commands[path] = [words[0], f"-I{self.place}", *words[1:], optimise, "-w"]
            self.objects[path] = output.with_suffix(".o")
            self.originals[path] = self.compile(path)
            if self.originals[path] is None:
                raise Failed(f"{path} does not compile")
        for test in self.tests:
            test.words = self.link_words(test)
        self.link()
        for test in self.tests:
            self.link_test(test)
            begin = os.times()
            if not self.run(test, 120):
                raise Failed(f"{test.target} fails without a mutant")
            end = os.times()
            test.seconds = end.children_user + end.children_system
            test.seconds -= begin.children_user + begin.children_system

    def compile(self, path):
        """Compiles a file of the copy; the object, None if it does not compile."""
        result = subprocess.run(
            self.commands[path], cwd=self.place, capture_output=True, check=False
        )
        return None if result.returncode else self.objects[path].read_bytes()

    def link_words(self, test):
        words = link_command(self.build, test.target)
        test.binary = self.place / pathlib.Path(test.target).name
        words[words.index("-o") + 1] = str(test.binary)
        archives = [word for word in words
                    if word.startswith(self.room.archive) and word.endswith(".a")]
        if not archives:
            raise Failed(f"{test.target} is not linked to {self.room.archive}")
        if self.room.hidden:
            # Objects of the archives may be parts of several files: the room's own come first and
            # count.
            at = words.index(archives[0])
            return words[:at] + [*map(str, self.objects.values())] + words[at:] + ["-Wl,-z,muldefs"]
        words = [str(self.library) if word in archives else word for word in words]
        return words + ["-Wl,-rpath," + str(self.place)]

    def link_test(self, test):
        result = subprocess.run(test.words, cwd=self.build, capture_output=True, check=False)
        if result.returncode:
            raise Failed(f"{test.target}: {result.stderr.decode(errors='replace')}")

    def link(self):
        if self.room.hidden:
            return
        self.library.unlink(missing_ok=True)
        compiler = next(iter(self.commands.values()))[0]
        words = [compiler, "-shared", "-o", str(self.library), *map(str, self.objects.values())]
        subprocess.run(words, check=True, capture_output=True)

    def run(self, test, seconds):
        """Whether the test passes. Processor time is bounded, so that a busy machine kills none."""

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with subprocess.Popen(
            [str(test.binary)],
            cwd=self.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
            start_new_session=True,
            env={
                **os.environ,
                "GTEST_FAIL_FAST": "1",
                "GTEST_BRIEF": "1",
                # The same random layers for each mutant.
                "NVDLA_SEED": "1",
            },
        ) as process:
            try:
                return process.wait(timeout=20 * seconds) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return False

    def judge(self, mutant, source, seen):
        """What becomes of a mutant: "invalid", "equal", "survived" or the test that killed it."""
        path = self.place / mutant.path
        path.write_text(source[: mutant.start] + mutant.text + source[mutant.end :])
        # What a header is part of is not known here.
        changed = [mutant.path] if mutant.path in self.commands else list(self.commands)
        try:
            objects = [self.compile(p) for p in changed]
            if None in objects:
                return "invalid"
            if objects == [self.originals[p] for p in changed]:
                return "equal"
            digest = hashlib.sha256(b"".join(objects)).digest()
            if seen.setdefault((mutant.path, digest), mutant) is not mutant:
                return "equal"
            self.link()
            for test in self.tests:
                if self.room.hidden:
                    self.link_test(test)
                if not self.run(test, SLOWER * test.seconds + SECONDS_MORE):
                    return test.binary.name
            return "survived"
        finally:
            path.write_text(source)
            for p in changed:
                self.objects[p].write_bytes(self.originals[p])
