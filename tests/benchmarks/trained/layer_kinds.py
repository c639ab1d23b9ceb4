# SPDX-License-Identifier: MIT
"""Sorts the layers of a network by what they are, of the model's profile and of ONNX Runtime's."""

import re

import onnx

KINDS = ("first convolution", "pointwise", "depthwise", "convolution", "fully connected", "average",
         "add, multiply", "functions", "conversions", "rest")
OPERATORS = {
    "Gemm": "fully connected", "MatMul": "fully connected", "QGemm": "fully connected",
    "GlobalAveragePool": "average", "AveragePool": "average", "ReduceMean": "average",
    "Add": "add, multiply", "Mul": "add, multiply", "Sub": "add, multiply",
    "Sigmoid": "functions", "HardSigmoid": "functions", "HardSwish": "functions",
    "Softmax": "functions", "Clip": "functions", "Relu": "functions", "Div": "functions",
    "QuantizeLinear": "conversions", "DequantizeLinear": "conversions",
    "Transpose": "conversions", "ReorderInput": "conversions", "ReorderOutput": "conversions",
    "Conv": "convolution", "ConvTranspose": "convolution",
}
# A layer that brings a tensor to another scale, as for a concatenation.
SCALE = re.compile(r" scale( #\d+)?( \d+/\d+)?$")
# What the model adds to a node's name: "groups 1/3", "2/2", "phase 1/4", "+pool".
PARTS = re.compile(
    r"( (groups|kernels|cubes?|phase|position|gather|contract)\b.*| \d+/\d+.*|\+.*)$")
# What ONNX Runtime adds: "_token_7" where it made a node anew, "_nchwc".
ADDED = re.compile(r"(_token_\d+|_nchwc|/duplicated)+$")


class Kinds:
    """The kinds of the nodes of a model of integers with scales."""

    def __init__(self, graph):
        self.shapes = {c.name: list(c.dims) for c in graph.initializer}
        for node in graph.node:
            if node.op_type in ("DequantizeLinear", "Identity") and node.input[0] in self.shapes:
                self.shapes[node.output[0]] = self.shapes[node.input[0]]
        self.readers = {}
        for node in graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.kinds = {node.name: self.of_node(node) for node in graph.node}
        # A layer may be called by its result.
        for node in graph.node:
            self.kinds.setdefault(node.output[0].removesuffix("/real"), self.kinds[node.name])

    def of_node(self, node):
        if node.op_type == "Conv":
            return self.of_convolution(node)
        constants = [name for name in node.input if name in self.shapes]
        if node.op_type in ("Add", "Mul") and (constants or self.divided(node)):
            return "functions"
        return OPERATORS.get(node.op_type, "rest")

    def of_convolution(self, node):
        groups = next((a.i for a in node.attribute if a.name == "group"), 1)
        _, channels, *size = self.shapes[node.input[1]]
        if groups > 1:
            return "depthwise" if channels == 1 else "convolution"
        if channels <= 4:
            return "first convolution"
        return "pointwise" if set(size) == {1} else "convolution"

    def divided(self, node):
        """x * clip(x + 3) / 6 is one function."""
        return [reader.op_type for reader in self.readers.get(node.output[0], [])] == ["Div"]

    def of_layer(self, name, operator=None):
        """The kind of what a profile calls so."""
        if operator is None and SCALE.search(name):
            return "conversions"
        for known in (name, PARTS.sub("", name), ADDED.sub("", name)):
            # What ONNX Runtime made of a node may be a conversion.
            if OPERATORS.get(operator) == "conversions":
                return "conversions"
            if known in self.kinds:
                return self.kinds[known]
        return OPERATORS.get((operator or "").removeprefix("QLinear"), "rest")


def sums(kinds, profile, whole):
    """Seconds of each kind; what is between the layers is rest of the whole."""
    found = dict.fromkeys(KINDS, 0.0)
    for name, *operator, seconds in profile["layers"]:
        found[kinds.of_layer(name, *operator)] += seconds
    found["rest"] += max(whole - sum(found.values()), 0)
    return found


def show(name, threads, model, ours, theirs):
    """Print milliseconds of each kind on both sides."""
    kinds = Kinds(onnx.load(str(model)).graph)
    # On one thread the processor's time, which others disturb little.
    wholes = [profile["processor" if threads == 1 else "seconds"] for profile in (ours, theirs)]
    sides = [sums(kinds, profile, whole) for profile, whole in zip((ours, theirs), wholes)]
    title = f"{name}, threads: {threads}"
    print(f"\n{title:33}{'ours ms':>10}{'ONNX Runtime ms':>17}{'ours / theirs':>15}")
    for kind, a, b in [*((kind, *(side[kind] for side in sides)) for kind in KINDS),
                       ("all", *wholes)]:
        ratio = f"{a / b:15.2f}" if a and b else f"{'-':>15}"
        if a or b:
            print(f"{kind:33}{a * 1e3:10.3f}{b * 1e3:17.3f}{ratio}")
