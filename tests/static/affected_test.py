#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold .ci/affected.py to what it has to choose for files that are made up here."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / ".ci"))
import affected  # noqa: E402 (its place is known only now)

ALL = list(affected.STAGES)


def choice(*names):
    """The stages that remain, and the labels of the stage `release`."""
    changes = affected.Changes(names)
    expression = changes.expression("release")
    labels = set(re.fullmatch(r"\^\((.*)\)\$", expression)[1].split("|")) if expression else None
    return [stage for stage in ALL if changes.has_tests(stage)], labels


class Choice(unittest.TestCase):
    def test_a_room_affects_what_uses_it(self):
        stages, labels = choice("runtime/compiler/graph/new.cpp")
        self.assertEqual(stages, [name for name in ALL if name not in ("freestanding", "modules")])
        self.assertLessEqual({"tests:unit/compiler", "tests:unit/loadable", "tests:examples",
                              "tests:unit/device", "tests:conformance", "tests:emulator",
                              "tests:frontdoor"}, labels)
        # They are below it, and do not use it through the interface either.
        self.assertFalse({"tests:unit/compile", "tests:unit/model", "tests:unit/support", "tests:unit/bare",
                          "tests:unit/uapi", "tests:firmware", "tests:modules"} & labels)

    def test_the_interface_stands_for_what_defines_it(self):
        # Loadables: not even through <nvdla/nvdla.hpp> does anything below use what they define.
        _, labels = choice("runtime/loadable/format/task.cpp")
        self.assertLessEqual({"tests:unit/loadable", "tests:conformance"}, labels)
        self.assertFalse({"tests:unit/model", "tests:unit/engine", "tests:unit/support", "tests:unit/bare"} & labels)

    def test_the_driver(self):
        stages, labels = choice("kernel/nvdla_sched.c")
        self.assertEqual(stages, ["static", "release", "modules", "emulate"])
        self.assertFalse({label for label in labels if label.startswith("tests:unit/")})
        self.assertLessEqual({"tests:modules", "tests:emulator", "tests:upstream"}, labels)

    def test_firmware_is_below_nearly_all(self):
        stages, labels = choice("firmware/engine/engine.c")
        self.assertEqual(stages, ALL)
        self.assertNotIn("tests:unit/uapi", labels)

    def test_an_example(self):
        _, labels = choice("runtime/examples/digits/digits.cpp")
        self.assertLessEqual({"tests:examples", "tests:simulator"}, labels)
        self.assertFalse({"tests:unit/compiler", "tests:unit/model", "tests:unit/device", "tests:conformance"} & labels)

    def test_tests_affect_themselves(self):
        stages, labels = choice("tests/unit/lut/lut_test.cpp")
        self.assertEqual(stages, ["static", "release", "asan", "arm64", "alone"])
        self.assertEqual(labels, {"tests:unit/lut", "tests:names"})
        # Also by its CMakeLists.txt; TSan has threaded tests of it.
        stages, labels = choice("tests/unit/device/CMakeLists.txt")
        self.assertEqual(stages, ["static", "release", "asan", "arm64", "alone"])
        self.assertEqual(labels, {"tests:unit/device", "tests:names"})
        # The suites in a guest run those of another folder.
        stages, _ = choice("tests/ioctl/memory_test.cpp")
        self.assertEqual(stages, ["static", "release", "emulate"])

    def test_what_tests_share_affects_those_that_include_it(self):
        _, labels = choice("tests/common/runtime/random_graph.hpp")
        self.assertIn("tests:unit/compiler", labels)
        self.assertFalse({"tests:unit/model", "tests:unit/compile", "tests:simulator"} & labels)
        # A source is behind any of the headers.
        _, labels = choice("tests/common/layers/conv_reference.cpp")
        self.assertLessEqual({"tests:unit/compiler", "tests:unit/model", "tests:unit/packing"}, labels)

    def test_documents_affect_their_readers(self):
        stages, labels = choice("docs/limits.md")
        self.assertEqual(stages, ["static", "release"])
        self.assertEqual(labels, {"tests:frontdoor", "tests:packages", "tests:examples"})
        _, labels = choice("docs/seeing.md")
        self.assertIn("tests:unit/device", labels)

    def test_what_affects_everything(self):
        for name in ("CMakeLists.txt", "cmake/NvdlaBuild.cmake", ".ci/stages.sh", "packages.txt",
                     "runtime/model/CMakeLists.txt", "Kbuild", "debian/rules", "new.cpp",
                     "tests/golden/nv_small/new.case", "tests/CMakeLists.txt", "runtime/new/x.cpp"):
            with self.subTest(name):
                self.assertEqual(choice(name), (ALL, None))
                report = "\n".join(affected.Changes([name]).report(ALL))
                self.assertIn(f"everything is affected: {name} is ", report)

    def test_nothing_affects_nothing_but_static_checks(self):
        changes = affected.Changes([])
        self.assertEqual([stage for stage in ALL if changes.has_tests(stage)], ["static"])
        self.assertIn("nothing changed", list(changes.report(ALL)))

    def test_the_report_gives_reasons(self):
        report = "\n".join(affected.Changes(["kernel/nvdla_drv.c"]).report(ALL))
        self.assertIn("changed rooms: kernel\naffected rooms: kernel\n", report)
        self.assertRegex(report, r"left out, as what they use has not changed: tests of .*unit/lut")
        self.assertIn("left out: stage asan, which has no test that is affected", report)


class Declarations(unittest.TestCase):
    def test_every_stage_is_known(self):
        script = (ROOT / ".ci/stages.sh").read_text()
        stages = re.search(r"^all=\((.*)\)$", script, re.M)[1].split()
        stages += re.search(r"all\+=\((.*)\)$", script, re.M)[1].split()
        self.assertEqual(stages, ALL)

    def test_every_folder_that_runs_programs_says_so(self):
        for folder in affected.folders():
            text = (ROOT / "tests" / folder / "CMakeLists.txt").read_text()
            if re.search(r"^ *(add_test|nvdla_add_fuzzer)\(", text, re.M):
                self.assertIn("\nnvdla_tests_run_programs()\n", text, folder)

    def test_tables_name_what_is_there(self):
        named = set(affected.ALSO) | affected.ONCE | affected.READERS
        self.assertLessEqual(named, set(affected.folders()))
        for room in {room for also in affected.ALSO.values() for room in also or ()}:
            self.assertIn(room, affected.house.rooms())


class Refusals(unittest.TestCase):
    def refused(self, folder, commit):
        done = subprocess.run([folder / ".ci/affected.py", commit, "/dev/null", "static"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def test_no_such_commit(self):
        for commit in ("nosuch", "-x", "HEAD:README.md"):
            self.assertEqual(self.refused(ROOT, commit), f"affected.py: CHANGED={commit}: the "
                             "checkout has no such commit\n")

    def test_no_checkout(self):
        with tempfile.TemporaryDirectory() as name:
            copy = pathlib.Path(name).resolve()
            for folder in (".ci", "tests/static"):
                shutil.copytree(ROOT / folder, copy / folder)
            self.assertEqual(self.refused(copy, "HEAD"), f"affected.py: {copy} is no git checkout: "
                             "CHANGED needs one, or leave it out\n")


if __name__ == "__main__":
    unittest.main()
