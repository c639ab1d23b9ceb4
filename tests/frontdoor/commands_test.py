#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What commands return and print where a user meets their edges: commands_test.py NVDLA DIGITS."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

NVDLA, DIGITS = sys.argv[1:3]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = str(ROOT / "runtime/examples/digits/images/five-dejavu-serif-sheared.png")


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.loadable = self.path("digits.nvdla")
        self.run_program(DIGITS, "--save", self.loadable, "-d", "model:nv_small")

    def path(self, name, text=None):
        path = self.folder / name
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(path)

    def run_program(self, *arguments, status=0):
        done = subprocess.run(arguments, capture_output=True, text=True, check=False,
                              cwd=self.folder)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    def nvdla(self, *arguments, status=0):
        return self.run_program(NVDLA, *arguments, status=status)

    def test_input_that_cannot_be_used_is_status_2_everywhere(self):
        broken = self.path("nv_small/case.json", "{")
        text = self.path("text", "nothing of ours\n")
        record = self.path("broken.record", "NVDLADMP")
        for arguments in (["run", text], ["dump", text], ["profile", text], ["dt", "check", text],
                          ["replay", broken], ["replay", record], ["diff", record, "auto"],
                          ["regs", record], ["regs", text], ["lut", "plot", "--loadable", text],
                          ["run", self.loadable, "-i", text],
                          ["run", self.loadable, "--labels", text],
                          ["run", self.path("missing")], ["replay", self.path("missing")]):
            with self.subTest(arguments=arguments):
                self.nvdla(*arguments, status=2)
        self.run_program(DIGITS, text, status=2)

    def test_a_device_that_is_not_there_is_status_3_everywhere(self):
        good = ["replay", str(ROOT / "tests/golden/nv_small")]
        for arguments in (["info"], ["run", self.loadable], ["profile", self.loadable], good,
                          ["selftest"], ["measure"]):
            with self.subTest(arguments=arguments):
                self.nvdla(*arguments, "-d", "sim:" + self.path("nobody"), status=3)

    def test_numbers_name_their_range(self):
        for arguments, expected in (
                (["run", self.loadable, "--repeat", "0"], "from 1 to 1000000"),
                (["run", self.loadable, "--repeat", "99999999999999999999"], "from 1 to 1000000"),
                (["run", self.loadable, "--repeat", "3x"], "a whole number from 1"),
                (["replay", "--threads", "5000", "."], "from 0 to 1024"),
                (["replay", "--threads", "4294967297", "."], "from 0 to 1024"),
                (["selftest", "--limit", "2d"], "a time from 1s to 86400s"),
                (["selftest", "--limit", "1500ms"], "in whole s"),
                (["measure", "--clock", "0"], "a rate from 1kHz"),
                (["measure", "-d", "model", "--clock", "1GHz"], "counts cycles itself"),
                (["lut", "plot", "tanh", "--input-scale", "1e999"], "a number above 0"),
                (["dt", "node", "--address", "0", "--interrupt", "1", "--clock-rate", "9THz"],
                 "a rate from 1kHz"),
                (["run", self.loadable, "-d", "model,threads=9999999999"], "'threads=<1 to 1024>'"),
                (["run", self.loadable, "-d", "sim:/s,stall=1h30"], "'stall=<1s to 86400s>'")):
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.nvdla(*arguments, status=2).stderr)
        self.nvdla("selftest", "--list", "--limit", "2min")
        node = self.nvdla("dt", "node", "--address", "0x10000000", "--interrupt", "7",
                          "--config", "nv_full", "--clock-rate", "1.2GHz",
                          "--sram", "512K@0x20000000").stdout
        self.assertIn("clock-frequency = <1200000000>", node)

    def test_json(self):
        def document(*arguments):
            return json.loads(self.nvdla(*arguments, "--json").stdout)
        self.assertEqual(document("info", "-d", "model:nv_small")["atom"], 8)
        self.assertIn("nv_full", [m["configuration"] for m in document("info")["models"]])
        (found,) = document("regs", "CDMA.D_BANK", "0x2000b")["registers"]
        self.assertEqual(found["fields"], {"DATA_BANK": 11, "WEIGHT_BANK": 2})
        self.assertGreater(len(document("regs")["registers"]), 300)
        self.assertEqual(len(document("profile", self.loadable)["layers"]), 5)
        plot = document("lut", "plot", "sigmoid")
        self.assertLess(plot["error_steps"], 1)
        self.assertGreater(len(plot["points"]), 100)
        text = self.nvdla("run", self.loadable, "-i", PICTURE, "--json").stdout
        values = json.loads(text)["outputs"][0]["values"]
        self.assertEqual([type(value) for value in values], [int] * 10)
        self.nvdla("profile", self.loadable, "--json", "--svg", "-", status=2)

    def test_a_record_may_have_any_name(self):
        for name in ("run", "run.trace", "run.cfg"):
            with self.subTest(name=name):
                record = self.path(name)
                self.nvdla("run", self.loadable, "-i", PICTURE, "--record", record)
                self.assertIn("1 passed, 0 failed", self.nvdla("replay", record).stdout)
                self.assertIn("no difference", self.nvdla("diff", record, "auto").stdout)
                self.nvdla("regs", record)

    def test_layers_beside_older_files(self):
        folder = self.path("layers")
        first = self.nvdla("run", self.loadable, "-i", PICTURE, "--dump-layers", folder)
        self.assertEqual(first.stderr, "")
        self.path("layers/900-old.npy", "")
        second = self.nvdla("run", self.loadable, "-i", PICTURE, "--dump-layers", folder)
        self.assertIn("1 file there is not of this run, such as 900-old.npy", second.stderr)

    def test_repeated_runs_and_classes(self):
        names = self.path("names", "".join(f"class {i}\n" for i in range(10)))
        out = self.nvdla("run", self.loadable, "-i", PICTURE, "--repeat", "20", "--labels",
                         names).stdout
        self.assertRegex(out, r"20 runs: median .*s, 90% .*s, 99% .*s, fastest .*s, slowest ")
        self.assertRegex(out.splitlines()[1], r" class 5$")
        found = json.loads(self.nvdla("run", self.loadable, "-i", PICTURE, "--repeat", "20",
                                      "--labels", names, "--json").stdout)
        self.assertEqual(found["runs"]["count"], 20)
        self.assertLessEqual(found["runs"]["median"], found["runs"]["percentile_90"])
        self.assertEqual(found["outputs"][0]["top"][0]["index"], 5)
        short = self.path("short", "one\n")
        self.assertIn("1 lines, and output 'scores' has 10 elements",
                      self.nvdla("run", self.loadable, "--labels", short, status=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
