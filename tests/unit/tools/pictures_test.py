#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold the pictures of `nvdla` to the numbers: pictures_test.py NVDLA DIGITS NETWORK.

The XML is parsed, positions are turned into numbers by the labels of the axes as
a reader would, and those are compared with functions computed here, and with
what the commands print.
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

NVDLA, DIGITS, NETWORK = sys.argv[1:4]
SPACE = "{http://www.w3.org/2000/svg}"


class Picture:
    """An SVG file by its kinds of elements."""

    def __init__(self, path):
        self.root = xml.etree.ElementTree.parse(path).getroot()
        self.texts = [(float(t.get("x")), float(t.get("y")), t.get("text-anchor"),
                       "".join(t.itertext())) for t in self.root.iter(SPACE + "text")]
        self.boxes = [(float(b.get("x")), float(b.get("y")), float(b.get("width")),
                       b.get("class").split()[1], b.findtext(SPACE + "title"))
                      for b in self.root.iter(SPACE + "rect")]
        self.lines = [tuple(float(line.get(k)) for k in ("x1", "y1", "x2", "y2"))
                      for line in self.root.iter(SPACE + "line") if line.get("class") == "grid"]

    def curve(self, style):
        """Return the points of the only curve of that class."""
        (points,) = [p.get("points") for p in self.root.iter(SPACE + "polyline")
                     if p.get("class") == style]
        return [tuple(map(float, point.split(","))) for point in points.split()]

    def inside(self):
        """Return what lies outside of the picture."""
        width, height = (float(self.root.get(k)) for k in ("width", "height"))
        return [t for t in self.texts if not (0 <= t[0] <= width and 0 <= t[1] <= height)] + [
            b for b in self.boxes if not (0 <= b[0] and b[0] + b[2] <= width + 0.01 and b[1] <= height)]


    def overlaps(self):
        """Return pairs of words one of which covers the other, at least in part."""
        spans = []
        for (x, y, anchor, text), style in zip(
                self.texts, [t.get("class") or "" for t in self.root.iter(SPACE + "text")]):
            # As narrow as letters are on the average: what overlaps so does so for everybody.
            width = len(text) * (8 if "title" in style else 5.2 if "small" in style else 6)
            left = x - (width if anchor == "end" else width / 2 if anchor == "middle" else 0)
            spans.append((left, left + width, y, text))
        return [(a[3], b[3]) for i, a in enumerate(spans) for b in spans[:i]
                if abs(a[2] - b[2]) < 8 and a[0] < b[1] and b[0] < a[1]]


def scale(pairs):
    """Return the straight line through (position, number), and its greatest miss."""
    (p0, n0), (p1, n1) = min(pairs), max(pairs)
    slope = (n1 - n0) / (p1 - p0)
    return (lambda position: n0 + (position - p0) * slope,
            max(abs(n0 + (p - p0) * slope - n) for p, n in pairs))


def run(*arguments):
    """Return what it prints; it succeeds."""
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def number(text):
    """Return it, or None if it is something else."""
    try:
        return float(text)
    except ValueError:
        return None


FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "tanh": math.tanh,
    "exp": math.exp,
    "softplus": lambda x: math.log(1 + math.exp(x)),
    "swish": lambda x: x / (1 + math.exp(-x)),
}


class Luts(unittest.TestCase):
    """`nvdla lut plot`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.svg = str(pathlib.Path(folder.name) / "lut.svg")

    def check(self, name, *options):
        """Draw a table and compare both curves with the function."""
        out = run(NVDLA, "lut", "plot", name, "--svg", self.svg, *options)
        found = re.search(r"largest error: ([-+.e\d]+), ([.\d]+) LSB, at x = ([-+.e\d]+)", out)
        error, steps, where = map(float, found.groups())
        picture = Picture(self.svg)
        self.assertEqual(picture.inside(), [])
        # Labels of columns are centred, those of lines end at the axis, of two charts.
        labels = [(x, y, anchor, number(t)) for x, y, anchor, t in picture.texts
                  if number(t) is not None]
        to_x, miss = scale([(x, n) for x, _, anchor, n in labels if anchor == "middle"])
        self.assertLess(miss, 1e-6 + abs(to_x(1) - to_x(0)) * 0.02)
        chart = sorted({y for _, y, anchor, _ in labels if anchor == "end"})
        upper = [(y - 4, n) for _, y, anchor, n in labels if anchor == "end" and y < 410]
        lower = [(y - 4, n) for _, y, anchor, n in labels if anchor == "end" and y > 410]
        self.assertEqual(len(chart), len(upper) + len(lower))
        to_y, miss = scale(upper)
        pixel = abs(to_y(1) - to_y(0))
        self.assertLess(miss, pixel * 0.02)
        to_error, _ = scale(lower)
        error_pixel = abs(to_error(1) - to_error(0))
        function, table = FUNCTIONS[name], picture.curve("table")
        for (px, wanted), (qx, result), (_, wrong) in zip(picture.curve("function"), table,
                                                          picture.curve("error")):
            self.assertEqual(px, qx)
            # Positions have two digits.
            slope = abs(function(to_x(px) + 0.01) - function(to_x(px) - 0.01)) / 0.02
            room = 0.02 * pixel + slope * 0.02 * abs(to_x(1) - to_x(0))
            self.assertLess(abs(to_y(wanted) - function(to_x(px))), room + 1e-9)
            self.assertLess(abs(to_y(result) - to_y(wanted)), error * 1.001 * max(
                1, abs(to_y(wanted))) + 0.02 * pixel)
            self.assertLess(abs(to_error(wrong)), steps + 0.01 + 0.02 * error_pixel)
        mark = list(picture.root.iter(SPACE + "circle"))
        self.assertEqual(len(mark), 1)
        self.assertLess(abs(to_x(float(mark[0].get("cx"))) - where), abs(to_x(1) - to_x(0)) * 0.02)
        self.assertLess(abs(abs(to_error(float(mark[0].get("cy")))) - steps),
                        0.011 + 0.02 * error_pixel)
        return steps

    def test_functions(self):
        for name in FUNCTIONS:
            for precision in ("int8", "fp16"):
                with self.subTest(name=name, precision=precision):
                    self.check(name, "--precision", precision, "--range", "-4:4")

    def test_int16(self):
        self.check("tanh", "--precision", "int16", "--range", "-3:5")

    def test_coarse_steps(self):
        steps = self.check("sigmoid", "--output-scale", "0.25")
        self.assertGreaterEqual(steps, 0.49)

    def test_errors(self):
        for options, text in (
                (["sigmoyd"], "no function is called 'sigmoyd'; there are sigmoid, tanh,"),
                ([], "expected either a function or --loadable FILE"),
                (["tanh", "--range", "4"], "--range 4: expected two numbers, LOW:HIGH"),
                (["tanh", "--range", "1:x"], "'x' is no number"),
                (["tanh", "--range", "2:2"], "2 is not less than 2"),
                (["tanh", "-p", "fp16", "--input-scale", "1"], "fp16 has no scales"),
                (["--loadable", "/dev/null"], "/dev/null")):
            with self.subTest(options=options):
                result = subprocess.run([NVDLA, "lut", "plot", *options], capture_output=True,
                                        text=True, check=False)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(text, result.stderr)


class Profiles(unittest.TestCase):
    """`nvdla profile --svg`."""

    def test_digits(self):
        with tempfile.TemporaryDirectory() as folder:
            file, svg = folder + "/<d>&.nvdla", folder + "/profile.svg"
            run(DIGITS, "--device", "model:nv_small", "--save", file)
            table = run(NVDLA, "profile", file, "-d", "model:nv_small", "--svg", svg)
            picture = Picture(svg)
            self.assertEqual(picture.inside(), [])
            self.assertEqual(picture.overlaps(), [])
            self.assertIn("<d>&.nvdla on nv_small, model", picture.root.findtext(SPACE + "title"))
            document = json.loads(run(NVDLA, "profile", file, "-d", "model:nv_small", "--json"))
            layers = [layer["name"] for layer in document["layers"]]
            self.assertEqual(layers[0], "conv1")
            for name in layers:
                self.assertRegex(table, rf"(?m)^{re.escape(name)} ")
            self.assertEqual(len(layers), 5)
            for style, unit in (("unit0", "conv"), ("unit1", "sdp")):
                boxes = [box for box in picture.boxes if box[3] == style]
                self.assertEqual(len(boxes), 5)
                for i, (x, y, width, _, hint) in enumerate(boxes):
                    self.assertTrue(hint.startswith(f"layer {i} '{layers[i]}': "), hint)
                    # The groups in turn, and one layer after the other.
                    self.assertEqual(y, boxes[i % 2][1])
                    if i > 0:
                        self.assertNotEqual(y, boxes[i - 1][1])
                        self.assertAlmostEqual(x, sum(boxes[i - 1][0:3:2]), delta=0.6)
                self.assertEqual(sum(t[3] == unit for t in picture.texts), 1)
            self.check_times(picture)
            sizes = [(box[2], int(re.search(r": (\d+) bytes", box[4])[1]))
                     for box in picture.boxes if box[4] and " bytes" in box[4]]
            # Input, output, constants, and what is between layers in two by turns.
            self.assertEqual(len(sizes), 5)
            self.assertEqual(sizes, sorted(sizes, reverse=True))
            for width, size in sizes:
                self.assertAlmostEqual(width, max(sizes[0][0] * size / sizes[0][1], 0.5), delta=0.02)

    def check_times(self, picture):
        """The width of a box is the time in its words, by the axis."""
        units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

        def nanoseconds(text):
            value, unit = text.split()
            return float(value) * units[unit]

        to_time, _ = scale([(x, nanoseconds(t)) for x, _, anchor, t in picture.texts
                            if anchor == "middle" and re.fullmatch(r"[.\d]+ [num]?s", t)])
        for x, _, width, style, hint in picture.boxes:
            if style not in ("unit0", "unit1") or width <= 0.5:
                continue
            time = nanoseconds(hint.rsplit(": ", 1)[1])
            pixel = to_time(1) - to_time(0)
            self.assertLess(abs(to_time(x + width) - to_time(x) - time),
                            time * 0.006 + 0.03 * pixel)

    def test_many_layers(self):
        """A network of a hundred layers: every label is alone, and inside of the picture."""
        with tempfile.TemporaryDirectory() as folder:
            file, svg = folder + "/googlenet.nvdla", folder + "/profile.svg"
            run(NETWORK, "googlenet", "--device", "model:nv_small", "--save", file)
            run(NVDLA, "profile", file, "-d", "model:nv_small", "--svg", svg)
            picture = Picture(svg)
            self.assertEqual(picture.inside(), [])
            self.assertEqual(picture.overlaps(), [])
            run(NVDLA, "dump", file, "--svg", svg)
            picture = Picture(svg)
            self.assertEqual(picture.inside(), [])
            self.assertEqual(picture.overlaps(), [])
            # Layers of the user, not what they were cut into.
            names = [text for _, _, _, text in picture.texts]
            self.assertFalse([name for name in names if re.search(r" \d+/\d+$", name)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
