#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold `nvdla compile` and `nvdla run MODEL.onnx` to their words: compile_test.py NVDLA MODELS.

MODELS is tests/unit/import/quantized, whose networks ONNX Runtime has computed, too.
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

NVDLA = sys.argv[1]
MODELS = pathlib.Path(sys.argv[2])
MODEL = str(MODELS / "int8.onnx")
DIGITS = MODELS.parents[3] / "runtime" / "examples" / "digits"
# Two inputs, x and y, of 3x4x5 floats; of Debian's libonnx-testdata.
NODES = pathlib.Path("/usr/share/libonnx-testdata/data/node")
SUM = NODES / "test_add" / "model.onnx"


def array(shape, value):
    """A NumPy array (.npy) of floats; element i is value + i / 100."""
    count = 1
    for size in shape:
        count *= size
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{count}f", *(value + i / 100 for i in range(count))))


def field(number, content):
    """A field of protobuf: a number, or bytes with their length."""
    def varint(value):
        low = value & 0x7F
        return bytes([low]) if value < 0x80 else bytes([low | 0x80]) + varint(value >> 7)
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def far_convolution(channels, side, dilation):
    """A model of one 3x3 kernel whose weights lie that far apart, with a padding as wide."""
    def tensor(name, sizes):
        dims = b"".join(field(1, field(1, size)) for size in sizes)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

    def numbers(name, values):
        return field(5, field(1, name) + b"".join(field(8, v) for v in values) + field(20, 7))

    node = (field(1, "x") + field(1, "w") + field(2, "y") + field(3, "far") + field(4, "Conv") +
            numbers("dilations", [dilation] * 2) + numbers("pads", [dilation] * 4))
    weights = (b"".join(field(1, size) for size in (1, channels, 3, 3)) + field(2, 1) +
               field(8, "w") + field(9, bytes(4 * channels * 9)))
    graph = (field(1, node) + field(2, "g") + field(5, weights) +
             field(11, tensor("x", (1, channels, side, side))) +
             field(12, tensor("y", (1, 1, side, side))))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


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

    def test_forbidden_passes_change_no_result(self):
        results = []
        for name, forbidden in (("all", []), ("some", ["--forbid", "pixels", "views"])):
            path = self.path(f"{name}.nvdla")
            out, error, status = run("compile", MODEL, "-o", path, *forbidden)
            self.assertEqual(status, 0, error)
            _, error, status = run("run", path, "-i", str(MODELS / "input.f32"), "-d",
                                   "model:nv_full", "-o", self.path("y.f32"))
            self.assertEqual(status, 0, error)
            results.append(pathlib.Path(self.path("y.f32")).read_bytes())
        self.assertEqual(results[0], results[1])
        _, error, status = run("compile", MODEL, "-o", self.path("c.nvdla"), "--forbid", "bands")
        self.assertEqual(status, 2)
        self.assertIn("'bands' is no pass that can be left out; those are expand, ", error)

    def test_files_for_mended_logic_have_fewer_layers(self):
        layers = []
        for device in ("model:nv_small", "model:nv_small,gating=off"):
            path = self.path("d.nvdla")
            _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o", path, "-d", device,
                                   "--samples", str(DIGITS / "images"), "--mean", "128", "--std",
                                   "128", "--forbid", "interleave", "--report", self.path("d.json"))
            self.assertEqual(status, 0, error)
            report = json.loads(pathlib.Path(self.path("d.json")).read_text())
            layers.append(len(report["layers"]))
            out, _, _ = run("dump", path)
            self.assertIn(f"compile --device {device} ", out)
            _, error, status = run("run", path, "-d", device)
            self.assertEqual(status, 0, error)
        self.assertLessEqual(layers[1], layers[0])

    def test_files_say_which_device_they_are_for(self):
        path = self.path("d.nvdla")
        device = "model:nv_small,gating=off,latency=50,bandwidth=4"
        _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o", path, "-d", device,
                               "--samples", str(DIGITS / "images"), "--mean", "128", "--std", "128")
        self.assertEqual(status, 0, error)
        self.assertIn(f"device: {device}\n", run("dump", path)[0])
        # Without a device it runs on that one, and is predicted with its memory.
        known, error, status = run("run", path, "--profile")
        self.assertEqual(status, 0, error)
        self.assertNotIn("were chosen for", error)
        plan = run("dump", path, "--plan", "--csv")[0]
        self.assertEqual(plan, run("dump", path, "--plan", "--csv", "-d", device)[0])
        self.assertNotEqual(plan, run("dump", path, "--plan", "--csv", "-d",
                                      "model:nv_small,gating=off")[0])
        # Other memory gives the same results, and is told.
        other, error, status = run("run", path, "-d", "model:nv_small,gating=off")
        self.assertEqual(status, 0, error)
        self.assertIn(f"chosen for {device}, and this is model:nv_small,gating=off:", error)
        self.assertEqual(other.splitlines()[:2], known.splitlines()[:2])

    def test_memory_is_limited(self):
        def compiled(*arguments):
            _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o", self.path("m.nvdla"),
                                   "-d", "model:nv_full", *arguments)
            return status, error

        self.assertEqual(compiled("--memory-limit", "1MiB")[0], 0)
        self.assertEqual(compiled("--optimise", "memory")[0], 0)
        status, error = compiled("--memory-limit", "20KiB")
        self.assertEqual(status, 2)
        found = re.search(r"takes (\d+) bytes at least, (\d+) of them", error)
        self.assertEqual(compiled("--memory-limit", found[1])[0], 0)
        self.assertEqual(compiled("--memory-limit", str(int(found[1]) - 1))[0], 2)
        for arguments, words in ((("--memory-limit", "0"), "expected a size such as 24MiB"),
                                 (("--memory-limit", "many"), "expected a size such as 24MiB"),
                                 (("--optimise", "size"), "not in {speed,memory}")):
            status, error = compiled(*arguments)
            self.assertEqual(status, 2)
            self.assertIn(words, error)

    def test_choices_are_reported_and_can_be_forced(self):
        def candidates(*arguments):
            path = self.path("c.json")
            _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o", self.path("c.nvdla"),
                                   "-d", "model:nv_full", "--samples", str(DIGITS / "images"),
                                   "--mean", "128", "--std", "128", "--report", path, *arguments)
            self.assertEqual(status, 0, error)
            return json.loads(pathlib.Path(path).read_text())["candidates"]

        found = candidates()
        self.assertTrue(found)
        # Of all that there was for the same layers the chosen one takes least, but for what is
        # within a hundredth.
        for one in found:
            same = [other for other in found
                    if (other["pass"], other["layers"]) == (one["pass"], one["layers"])]
            chosen = [other for other in same if other["chosen"]]
            self.assertEqual(len(chosen), 1, one)
            if one["cycles"] is not None:
                self.assertLessEqual(chosen[0]["cycles"], 1.01 * one["cycles"] + 1)
        pixels = [one for one in found if one["form"] == "pixels"]
        self.assertTrue(pixels[0]["chosen"])
        layer = pixels[0]["layers"]
        forced = candidates("--choose", layer + ":no-pixels")
        self.assertFalse([one for one in forced if one["form"] == "pixels"])
        for wish, words in ((layer + ":magic", "'magic' is none; expected pixels, folding, "),
                            ("nothing:turns", "no convolution is called 'nothing'"),
                            ("turns", "expected LAYER:CHOICE")):
            _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o",
                                   self.path("c.nvdla"), "-d", "model:nv_full", "--samples",
                                   str(DIGITS / "images"), "--choose", wish)
            self.assertEqual(status, 2)
            self.assertIn(words, error)

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

    def test_check_finds_what_has_no_room(self):
        path = self.path("far.onnx")
        for channels, refused in ((128, False), (2048, True)):
            pathlib.Path(path).write_bytes(far_convolution(channels, 33, 12))
            out, error, status = run("compile", path, "--check", "-d", "model:nv_small",
                                     "--precision", "int8")
            self.assertEqual(status, 1 if refused else 0, error)
            words = r"not possible: .* hold no band of the input" if refused else "device"
            self.assertRegex(out, "far +Conv +" + words)

    def test_a_budget_of_forms(self):
        """The same few forms are predicted each time, and reports say that there were more."""
        def compiled(*arguments):
            path = self.path("b.json")
            _, error, status = run("compile", str(DIGITS / "digits.onnx"), "-o", self.path("b.nvdla"),
                                   "-d", "model:nv_full", "--samples", str(DIGITS / "images"),
                                   "--mean", "128", "--std", "128", "--report", path, *arguments)
            self.assertEqual(status, 0, error)
            plan, _, _ = run("dump", self.path("b.nvdla"), "--plan")
            return json.loads(pathlib.Path(path).read_text()), plan

        whole, plan = compiled()
        self.assertEqual(whole["cut_short"], [])
        self.assertNotIn("cut short", plan)
        self.assertGreater(whole["forms_costed"], 3)
        few, plan = compiled("--search-budget", "3")
        self.assertEqual(few["forms_costed"], 3)
        self.assertEqual(few["cut_short"], ["interleave"])
        self.assertTrue(plan.endswith("\na search budget has cut short: interleave\n"), plan)
        self.assertEqual(compiled("--search-budget", "3"), (few, plan))

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
            self.assertRegex(
                " ".join(dump.split()),
                rf"note: nvdla \S+ compile --device model:{device} --cpu tail --mean 128 --std 128, "
                r"1\d samples")
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

    def archive(self, name, arrays, method=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.folder / name, "w", method) as file:
            for key, data in arrays.items():
                with file.open(key + ".npy", "w", force_zip64=True) as member:  # as NumPy does
                    member.write(data)
        return self.path(name)

    def samples_of_two(self):
        """Files of three samples for each of two inputs, in each form that gives the same."""
        for name, value in (("x", 1), ("y", -2)):
            (self.folder / name).mkdir()
            for i in range(3):
                (self.folder / name / f"{i}.npy").write_bytes(array((3, 4, 5), value + i))
            (self.folder / f"{name}.npy").write_bytes(
                (self.folder / name / "0.npy").read_bytes())
        (self.folder / "each").mkdir()
        for i in range(3):
            self.archive(f"each/{i}.npz", {n: array((3, 4, 5), v + i) for n, v in (("x", 1), ("y", -2))},
                         zipfile.ZIP_DEFLATED)
        folders = ("x=" + self.path("x"), "y=" + self.path("y"))
        files = [f"{n}={self.folder / n}/{i}.npy" for i in range(3) for n in "xy"]
        return folders, files, (self.path("each"),)

    @unittest.skipUnless(SUM.exists(), "libonnx-testdata is not installed")
    def test_samples_of_several_inputs(self):
        forms = self.samples_of_two()
        loadables = set()
        for form in forms:
            arguments = [word for path in form for word in ("--samples", path)]
            _, error, status = run("compile", str(SUM), "-o", self.path("a.nvdla"), *arguments)
            self.assertEqual(status, 0, error)
            loadables.add((self.folder / "a.nvdla").read_bytes())
        self.assertEqual(len(loadables), 1)
        # Many samples of one archive, and inputs by name in any order.
        many = self.archive("many.npz", {n: array((2, 3, 4, 5), v) for n, v in (("x", 1), ("y", -2))})
        _, error, status = run("compile", str(SUM), "-o", self.path("b.nvdla"), "--samples", many)
        self.assertEqual(status, 0, error)
        dump, _, _ = run("dump", self.path("b.nvdla"))
        self.assertIn("2 samples", dump)
        x, y = self.path("x.npy"), self.path("y.npy")
        outs = set()
        pair = self.archive("pair.npz", {"y": pathlib.Path(y).read_bytes(),
                                         "x": pathlib.Path(x).read_bytes()}, zipfile.ZIP_DEFLATED)
        for inputs in ((x, y), ("x=" + x, "y=" + y), ("y=" + y, "x=" + x), (pair,)):
            words = [word for path in inputs for word in ("--input", path)]
            _, error, status = run("run", self.path("a.nvdla"), *words, "-o", self.path("z.f32"))
            self.assertEqual(status, 0, error)
            outs.add((self.folder / "z.f32").read_bytes())
        self.assertEqual(len(outs), 1)
        for inputs, words in (
                (("x=" + x,), "but 1 is given by --input"),
                (("x=" + x, y), "some have a name and some have none"),
                (("x=" + x, "x=" + y), "two files for input 'x'"),
                (("z=" + x, "y=" + y), "no input is called 'z'; there are: 'x', 'y'"),
                ((many,), "many.npz: 'x': an array of 2x3x4x5, input 'x' takes 3x4x1x5"),
                ((pair, y), "an archive has an array for each of 'x', 'y'; expected it alone"),
                (("x=" + pair, "y=" + y), "an archive has an array for each of 'x', 'y'"),
                (("-", "-"), "standard input is named more than once")):
            for command in ("run", "profile"):
                _, error, status = run(command, self.path("a.nvdla"),
                                       *(word for path in inputs for word in ("--input", path)))
                self.assertEqual(status, 2, inputs)
                self.assertIn(words, error)

    @unittest.skipUnless(SUM.exists(), "libonnx-testdata is not installed")
    def test_arrays_are_as_in_the_model(self):
        """A transposition of all axes of 2x3x4 numbers."""
        (self.folder / "x.npy").write_bytes(array((2, 3, 4), 0))
        model = str(NODES / "test_transpose_all_permutations_5" / "model.onnx")
        _, error, status = run("compile", model, "-o", self.path("t.nvdla"))
        self.assertEqual(status, 0, error)
        for network in (self.path("t.nvdla"), model):
            _, error, status = run("run", network, "-i", self.path("x.npy"), "-o",
                                   self.path("y.npy"), "-d", "model:nv_full")
            self.assertEqual(status, 0, error)
            file = (self.folder / "y.npy").read_bytes()
            self.assertIn(b"'shape': (4, 3, 2, )", file)
            found = struct.unpack("<24f", file[-96:])
            expected = [(i * 12 + j * 4 + k) / 100 for k in range(4) for j in range(3)
                        for i in range(2)]
            for one, other in zip(found, expected):
                self.assertAlmostEqual(one, other, 3)

    @unittest.skipUnless(SUM.exists(), "libonnx-testdata is not installed")
    def test_inputs_become_constants(self):
        (self.folder / "x.npy").write_bytes(array((3, 4, 5), 1))
        halves = "y=" + ",".join(["0.5"] * 60)
        _, error, status = run("compile", str(SUM), "-o", self.path("c.nvdla"), "--constant", halves)
        self.assertEqual(status, 0, error)
        _, error, status = run("run", self.path("c.nvdla"), "-i", self.path("x.npy"), "-o",
                               self.path("z.f32"))
        self.assertEqual(status, 0, error)
        found = struct.unpack("<60f", (self.folder / "z.f32").read_bytes())
        for i, one in enumerate(found):
            self.assertAlmostEqual(one, 1.5 + i / 100, 2)
        for text, words in (("y=1", "1 numbers; the input has 60"), ("z=1", "NUMBER,... of an input"),
                            ("1", "NUMBER,... of an input"), ("y=1,a", "'a' is no number of float")):
            _, error, status = run("compile", str(SUM), "--check", "--constant", text)
            self.assertEqual(status, 2)
            self.assertIn(words, error)

    @unittest.skipUnless(SUM.exists(), "libonnx-testdata is not installed")
    def test_errors_of_samples(self):
        one, two = array((3, 4, 5), 1), array((2, 3, 4, 5), 1)
        (self.folder / "x.npy").write_bytes(one)
        x = self.path("x.npy")
        archives = {
            "short": {"x": one}, "other": {"x": one, "y": one, "z": one}, "apart": {"x": two, "y": one},
            "text": {"x": one, "y": b"text"}, "shape": {"x": one, "y": array((4, 5), 1)}}
        path = {name: self.archive(name + ".npz", arrays) for name, arrays in archives.items()}
        damaged = bytearray((self.folder / "apart.npz").read_bytes())
        damaged[400] ^= 1
        (self.folder / "damaged.npz").write_bytes(damaged)
        for samples, words in (
                ((x,), f"{x}: the model has 2 inputs ('x', 'y'); expected NAME={x}"),
                (("x=" + x,), "1 for input 'x' and 0 for 'y'; expected as many for each input"),
                (("z=" + x,), "no input is called 'z'; there are: 'x', 'y'"),
                (("x=" + path["short"],), "arrays of an archive have names; expected it without 'x='"),
                ((path["short"],), "it has no array 'y'; expected one for each of 'x', 'y'"),
                ((path["other"],), "it has an array 'z', and no input is called that"),
                ((path["apart"],), "'x' has 2 samples and 'y' has 1; expected as many of each"),
                ((path["text"],), "text.npz: 'y': it is no NumPy array"),
                ((path["shape"],), "shape.npz: 'y': an array of 4x5, input 'y' takes 3x4x5"),
                ((self.path("damaged.npz"),), "its bytes are damaged: their CRC-32 is")):
            _, error, status = run("compile", str(SUM), "--check",
                                   *(word for path in samples for word in ("--samples", path)))
            self.assertEqual(status, 2, samples)
            self.assertIn(words, error)

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
                ((MODEL, "--check", "--outputs", "z"), "nothing computes the output 'z'; the model's own are"),
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
