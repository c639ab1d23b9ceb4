#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold `nvdla compile` and `nvdla run MODEL.onnx` to their words: compile_test.py NVDLA MODELS.

MODELS is tests/unit/import/quantized, whose networks ONNX Runtime has computed, too.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

NVDLA = sys.argv[1]
MODELS = pathlib.Path(sys.argv[2])
MODEL = str(MODELS / "int8.onnx")
DIGITS = MODELS.parents[3] / "runtime" / "examples" / "digits"


def run(*arguments):
    """Standard output, standard error and the exit status."""
    done = subprocess.run([NVDLA, *arguments], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


class Compile(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return str(self.folder / name)

    def test_loadable_runs(self):
        out, _, status = run("compile", MODEL, "-o", self.path("a.nvdla"))
        self.assertEqual(status, 0)
        self.assertIn("input x: 1x3x12x12 float", out)
        self.assertIn("nodes for nv_full: ", out)
        for network in (self.path("a.nvdla"), MODEL):
            _, _, status = run("run", network, "-i", str(MODELS / "input.f32"), "-d", "model:nv_full",
                               "-o", self.path("y.f32"))
            self.assertEqual(status, 0)
            self.assertEqual((self.folder / "y.f32").read_bytes(), (MODELS / "int8.f32").read_bytes())

    def test_same_bytes(self):
        for name in ("a", "b"):
            run("compile", MODEL, "-o", self.path(name))
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())

    def test_check_and_reports(self):
        out, _, status = run("compile", MODEL, "--check", "--report", self.path("r.json"))
        self.assertEqual(status, 0)
        self.assertRegex(out, r"Conv +device")
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["configuration"], "nv_full")
        for end in ("txt", "csv"):
            run("compile", MODEL, "-o", self.path("a"), "--report", self.path(f"r.{end}"))
            self.assertIn("Conv", (self.folder / f"r.{end}").read_text())

    def test_cut(self):
        out, _, status = run("compile", MODEL, "-o", self.path("a"), "--outputs", "value25")
        self.assertEqual(status, 0, out)
        self.assertIn("output value25: ", out)

    def test_samples(self):
        """A model of floats becomes one in int8; pictures go in as they are."""
        images = sorted(str(path) for path in (DIGITS / "images").glob("*.png"))
        for device in ("nv_full", "nv_small"):
            _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o", self.path("d.nvdla"),
                                   "-d", f"model:{device}", "--samples", str(DIGITS / "images"),
                                   "--mean", "128", "--std", "128", "--report", self.path("r.json"))
            self.assertEqual(status, 0, error)
            dump, _, _ = run("dump", self.path("d.nvdla"))
            self.assertRegex(dump, r"note: nvdla \S+ compile --cpu tail --mean 128 --std 128, 1\d samples")
            report = json.loads((self.folder / "r.json").read_text())
            self.assertEqual(report["scales"][0]["scale"], 1 / 128)
            self.assertGreater(report["scales"][-1]["decibels_so_far"], 30)
            self.assertEqual([node["operator"] for node in report["nodes"]][:2], ["Pad", "Conv"])
            names = "zero one two three four five six seven eight nine".split()
            (self.folder / "labels").write_text("\n".join(names) + "\n")
            for image in images:
                out, error, status = run("run", self.path("d.nvdla"), "-d", f"model:{device}", "-i",
                                         image, "--labels", self.path("labels"))
                self.assertEqual(status, 0, error)
                best = out.splitlines()[1].split()[-1]
                self.assertEqual(best, pathlib.Path(image).name.split("-")[0])
        _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o", self.path("d.nvdla"),
                               "-d", "model:nv_small")
        self.assertEqual(status, 2)
        self.assertIn("give samples of its inputs (--samples)", error)

    def test_errors(self):
        (self.folder / "bad.onnx").write_bytes(b"\xff\xff")
        (self.folder / "empty.onnx").write_bytes(b"")
        for arguments, words in (
                ((MODEL,), "expected either --output FILE or --check"),
                ((MODEL, "-o", "a", "--check"), "expected either --output FILE or --check"),
                ((self.path("bad.onnx"), "--check"), "it is no ONNX model, or it is truncated"),
                ((self.path("empty.onnx"), "--check"), "it is empty"),
                ((self.path("none.onnx"), "--check"), "cannot read"),
                ((MODEL, "--check", "--shape", "x"), "--shape x: expected NAME=1x3x224x224"),
                ((MODEL, "--check", "--shape", "x=1xx2"), "expected NAME=1x3x224x224"),
                ((MODEL, "--check", "--shape", "z=1"), "no input is called 'z'; there are: 'x'"),
                ((MODEL, "--check", "--outputs", "z"), "nothing computes the output 'z'"),
                ((MODEL, "--check", "--precision", "fp16"), "expected int8, not fp16"),
                ((MODEL, "--check", "--samples", self.path("none.npy")), "cannot be opened"),
                ((MODEL, "--check", "--samples", self.path("bad.onnx")), "it is no sample"),
                ((MODEL, "--check", "--mean", "1,2"), "has 3 channels, and mean is given for 2"),
                ((MODEL, "--check", "--report", "r.pdf"), "expected a name that ends with .txt"),
                ((MODEL, "--check", "--cpu", "some"), "--cpu"),
        ):
            _, error, status = run("compile", *arguments)
            self.assertEqual(status, 2, arguments)
            self.assertIn(words, error)
        _, error, status = run("run", self.path("a.nvdla"), "--shape", "x=1")
        self.assertEqual(status, 2)
        self.assertIn("are for models; expected NAME.onnx", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
