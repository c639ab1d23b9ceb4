#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What .ci/summary.py and .ci/stages.sh say of results that are made up here."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

CI = pathlib.Path(__file__).resolve().parents[2] / ".ci"
sys.path.insert(0, str(CI))
sys.dont_write_bytecode = True
import summary  # noqa: E402 (its place is known only now)

PASSED = '<testcase name="p{0}" status="run"/>'
FAILED = ('<testcase name="broken" status="fail"><failure/>'
          '<system-out>much\nit is 3, not 4\n</system-out></testcase>')
SCRIPT_SKIPPED = ('<testcase name="s" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
                  '<system-out>skipped: no cases; fetch them\n</system-out></testcase>')
GTEST_SKIPPED = ('<testcase name="g" status="notrun"><skipped message="..."/><system-out>'
                 '[ RUN      ] A.B\na_test.cpp:12: Skipped\nthis processor lacks it\n\n'
                 '[  SKIPPED ] A.B (0 ms)\n</system-out></testcase>')
PART = '<testcase name="room.1" status="run"/>'
PART_FILE = ('<testsuites><testsuite><testcase classname="A" name="one" result="completed"/>'
             '<testcase classname="A" name="two" result="skipped">'
             '<skipped message="a_test.cpp:12&#x0A;this processor lacks it"/></testcase>'
             '<testcase classname="A" name="three" result="completed">'
             '<failure>not equal</failure></testcase></testsuite></testsuites>')


class Summary(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def results(self, stage, *cases):
        text = "<testsuite>" + "".join(cases) + "</testsuite>"
        (self.folder / f"{stage}.xml").write_text(text)

    def say(self, *arguments, required=""):
        environment = dict(os.environ, NVDLA_REQUIRE_SHARED=required)
        done = subprocess.run([sys.executable, CI / "summary.py", arguments[0], self.folder,
                               *arguments[1:]], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def passes(self, number):
        return [PASSED.format(i) for i in range(number)]

    def test_a_line_for_a_stage(self):
        self.results("own", *self.passes(3), SCRIPT_SKIPPED)
        self.assertEqual(self.say("stage", "own", "0", "7"), (
            0, "own                3 passed    0 failed    1 skipped      7 s\n"))

    def test_a_failure_with_its_last_words(self):
        self.results("own", PASSED, FAILED)
        status, text = self.say("stage", "own", "8", "7")
        self.assertEqual(status, 1)
        self.assertIn("FAILED own: broken\n    much\n    it is 3, not 4\n", text)

    def test_a_time_out_and_a_crash_are_reported_as_such(self):
        """CTest itself runs these three, so what its log looks like is not assumed here."""
        (self.folder / "CTestTestfile.cmake").write_text(
            'add_test(slow "/bin/sh" "-c" "echo half of it; exec sleep 60")\n'
            "set_tests_properties(slow PROPERTIES TIMEOUT 1)\n"
            'add_test(crash "/bin/sh" "-c" "kill -SEGV $$")\n'
            'add_test(wrong "/bin/false")\n')
        with open(self.folder / "own.log", "w", encoding="utf-8") as log:
            subprocess.run(["ctest", "--test-dir", self.folder, "--output-junit",
                            self.folder / "own.xml", "--output-on-failure"], stdout=log, check=False)
        status, text = self.say("stage", "own", "8", "7")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"FAILED own: slow \(time-out after [12] s\)\n    half of it\n")
        self.assertRegex(text, r"FAILED own: crash \(SegFault\)\n")
        self.assertRegex(text, r"FAILED own: wrong\n")

    def test_a_time_out_is_reported_beside_failures_of_the_same_process(self):
        self.results("own", '<testcase name="room.1" status="fail" time="900.1"><failure/>'
                            "<system-out>still at it</system-out></testcase>")
        (self.folder / "own").mkdir()
        (self.folder / "own" / "room.1.xml").write_text(PART_FILE)
        (self.folder / "own.log").write_text(
            " 1/1 Test #1: room.1 ..........***Timeout 900.10 sec\n")
        _, text = self.say("stage", "own", "8", "900")
        self.assertIn("FAILED own: room.1: A.three", text)
        self.assertIn("FAILED own: room.1 (time-out after 900 s)\n    still at it", text)

    def test_a_stage_that_fails_itself_shows_the_end_of_its_log(self):
        (self.folder / "own.log").write_text("compiling\nerror: no such type\n")
        status, text = self.say("stage", "own", "1", "7")
        self.assertEqual(status, 1)
        self.assertIn("the stage itself; the end of", text)
        self.assertIn("\n    error: no such type", text)
        status, text = self.say("total", "9", "own")
        self.assertEqual((status, text.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_tests_that_vanished(self):
        wanted = summary.least("freestanding")
        self.assertGreater(wanted, 1)
        self.results("freestanding", *self.passes(wanted))
        self.assertEqual(self.say("stage", "freestanding", "0", "7")[0], 0)
        self.results("freestanding", *self.passes(wanted - 1))
        status, text = self.say("stage", "freestanding", "0", "7")
        self.assertEqual(status, 1)
        self.assertIn(f"only {wanted - 1} tests passed, at least {wanted} must (least.txt)", text)

    def test_all_tests_are_more(self):
        with unittest.mock.patch.dict(os.environ, NVDLA_ALL_TESTS="1"):
            self.assertGreater(summary.least("asan"), 1)
            wanted = summary.least("asan")
            self.results("asan", *self.passes(wanted - 1))
            self.assertEqual(self.say("stage", "asan", "0", "7")[0], 1)
        self.assertLess(summary.least("asan"), wanted)
        self.assertEqual(self.say("stage", "asan", "0", "7")[0], 0)

    def test_a_skipped_test_counts_unless_shared_data_are_required(self):
        wanted = summary.least("freestanding")
        self.results("freestanding", *self.passes(wanted - 1), SCRIPT_SKIPPED)
        self.assertEqual(self.say("stage", "freestanding", "0", "7")[0], 0)
        self.assertEqual(self.say("stage", "freestanding", "0", "7", required="1")[0], 1)

    def test_every_stage_has_a_least_number(self):
        for line in (CI / "stages.sh").read_text().splitlines():
            if line.startswith("all=("):
                for stage in line[5:-1].split():
                    self.assertGreater(summary.least(stage), 0, stage)
                return
        self.fail("stages.sh names no stages")

    def test_reasons_of_skips_and_the_total(self):
        self.results("one", *self.passes(2), SCRIPT_SKIPPED, GTEST_SKIPPED)
        self.results("two", PART)
        (self.folder / "two").mkdir()
        (self.folder / "two" / "room.1.xml").write_text(PART_FILE)
        status, text = self.say("total", "9")
        self.assertEqual(status, 1)
        self.assertIn("skipped     1: no cases; fetch them\n", text)
        self.assertIn("skipped     2: this processor lacks it\n", text)
        self.assertEqual(text.splitlines()[-1], "3 passed, 1 failed, 3 skipped")
        status, text = self.say("stage", "two", "8", "1")
        self.assertIn("FAILED two: room.1: A.three\n    not equal", text)

    def test_nothing_ran(self):
        self.assertEqual(self.say("total", "9")[0], 1)

    def test_an_unknown_stage(self):
        done = subprocess.run([CI / "stages.sh", "static", "speed"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no stage is called 'speed'; there are static freestanding", done.stderr)


if __name__ == "__main__":
    unittest.main()
