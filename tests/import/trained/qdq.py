# SPDX-License-Identifier: MIT
"""Makes a model of integers with scales (QuantizeLinear and DequantizeLinear) of one of floats.

Ranges of tensors become int8 with a zero point, weights int8 with a scale for each kernel, biases
int32. `all_values` and `quantized` take a model of which ONNX Runtime has folded constants and batch
normalisations; ONNX Runtime computes the former for the ranges that the latter takes.
"""

import math

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
# Their results have the elements of their inputs, and the same scale.
MOVES = {"MaxPool", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity"}
# Results that lie in these bounds, whatever the pictures.
BOUNDS = {"Softmax": (0, 1), "Sigmoid": (0, 1), "HardSigmoid": (0, 1)}


def constants_of(graph):
    """The constants of a graph by name."""
    constants = {c.name: numpy_helper.to_array(c) for c in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return constants


def raise_opset(model):
    """The model in opset 13, in which weights may have several scales."""
    old = next(o.version for o in model.opset_import if o.domain == "")
    if old > OPSET:
        raise ValueError(f"opset {old}; expected at most {OPSET}")
    for node in model.graph.node:
        if node.op_type == "Clip" and old < 11:
            bounds = {a.name: a.f for a in node.attribute}
            del node.attribute[:]
            for name in ("min", "max"):
                constant = f"{node.output[0]}/{name}"
                model.graph.initializer.append(
                    numpy_helper.from_array(numpy.float32(bounds[name]), constant))
                node.input.append(constant)
        elif node.op_type in ("Softmax", "LogSoftmax") and old < 13:
            if not any(a.name == "axis" for a in node.attribute):
                node.attribute.append(helper.make_attribute("axis", 1))
        elif node.op_type in ("Squeeze", "Unsqueeze", "ReduceSum", "Split", "Pad", "Slice", "TopK"):
            if old < 13:
                raise ValueError(f"{node.op_type} of opset {old} is another one in {OPSET}")
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("", OPSET))
    model.ir_version = 8


def all_values(model):
    """The model with each value of a node that is of floats as an output."""
    copy = onnx.shape_inference.infer_shapes(model)
    known = {o.name for o in copy.graph.output}
    # Shapes that are computed are integers, which have no scale.
    known |= {v.name for v in copy.graph.value_info
              if v.type.tensor_type.elem_type != TensorProto.FLOAT}
    constants = constants_of(copy.graph)
    for node in copy.graph.node:
        for name in node.output:
            if name and name not in known and name not in constants:
                copy.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return copy


class Quantizer:
    """Rewrites one model."""

    def __init__(self, model, ranges):
        self.model, self.graph, self.ranges = model, model.graph, ranges
        self.constants = constants_of(self.graph)
        self.consumers = {}
        for node in self.graph.node:
            for name in node.input:
                self.consumers.setdefault(name, []).append(node)
        self.producers = {name: node for node in self.graph.node for name in node.output}
        self.outputs = {o.name for o in self.graph.output}
        self.inside = self.values_inside()
        self.pairs = {}  # scale and zero point of each value
        self.nodes, self.added = [], []
        self.count = 0

    def only_consumer(self, name):
        consumers = self.consumers.get(name, [])
        return consumers[0] if len(consumers) == 1 and name not in self.outputs else None

    def scalar(self, name):
        value = self.constants.get(name)
        return value is not None and value.size == 1

    def values_inside(self):
        """Values between nodes that are one function, which stay floats."""
        inside = set()
        for node in self.graph.node:
            name = node.output[0]
            follower = self.only_consumer(name)
            if follower is not None and follower.op_type in ("Relu", "Clip"):
                inside.add(name)
            # x * clip(x + 3, 0, 6) / 6
            if node.op_type == "Mul" and follower is not None and follower.op_type == "Div":
                clip = next((self.producers[i] for i in node.input
                             if i in self.producers and self.producers[i].op_type == "Clip"), None)
                if clip is not None and self.scalar(follower.input[1]):
                    inside |= {name, clip.output[0], clip.input[0]}
        return inside

    def constant(self, kind, value):
        self.count += 1
        self.added.append(numpy_helper.from_array(numpy.asarray(value), f"{kind}.{self.count}"))
        return self.added[-1].name

    def pair(self, name):
        """Scale and zero point of a value."""
        if name not in self.pairs:
            producer = self.producers.get(name)
            if producer is not None and producer.op_type in MOVES:
                self.pairs[name] = self.pair(producer.input[0])
            else:
                kind = producer.op_type if producer is not None else ""
                low, high = BOUNDS.get(kind, self.ranges[name])
                low, high = min(low, 0), max(high, 0)
                scale = numpy.float32((high - low) / 255) if high > low else numpy.float32(1)
                zero = int(numpy.clip(numpy.rint(-128 - low / scale), -128, 127))
                self.pairs[name] = (scale, numpy.int8(zero))
        return self.pairs[name]

    def quantize(self, name, to):
        """Takes a value through int8, from `name` to `to`."""
        scale, zero = (self.constant(kind, value)
                       for kind, value in zip(("scale", "zero"), self.pair(to)))
        integers = to + "/int8"
        self.nodes.append(helper.make_node("QuantizeLinear", [name, scale, zero], [integers],
                                           integers))
        self.nodes.append(helper.make_node("DequantizeLinear", [integers, scale, zero], [to],
                                           to + "/dequantized"))

    def weights(self, values, axis):
        """Weights with a scale for each index of `axis`; returns their name and the scales."""
        others = tuple(i for i in range(values.ndim) if i != axis)
        scales = numpy.maximum(numpy.abs(values).max(others), 1e-8).astype(numpy.float32) / 127
        wide = scales.reshape([-1 if i == axis else 1 for i in range(values.ndim)])
        integers = numpy.clip(numpy.rint(values / wide), -127, 127).astype(numpy.int8)
        zeros = numpy.zeros(len(scales), numpy.int8)
        return self.dequantized("weights", integers, scales, zeros, axis), scales

    def dequantized(self, kind, integers, scales, zeros, axis):
        inputs = [self.constant(kind, integers), self.constant("scales", scales),
                  self.constant("zeros", zeros)]
        name = inputs[0] + "/dequantized"
        self.nodes.append(helper.make_node("DequantizeLinear", inputs, [name], name, axis=axis))
        return name

    def sums(self, node):
        """Weights and bias of a convolution or matrix product become integers."""
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        axis = 0 if node.op_type == "Conv" or attributes.get("transB") else 1
        if node.op_type == "ConvTranspose" and attributes.get("group", 1) != 1:
            return
        node.input[1], scales = self.weights(self.constants[node.input[1]], axis)
        if len(node.input) > 2:
            steps = scales * self.pair(node.input[0])[0]
            integers = numpy.rint(self.constants[node.input[2]].astype(numpy.float64) / steps)
            integers = numpy.clip(integers, -2 ** 31, 2 ** 31 - 1).astype(numpy.int32)
            node.input[2] = self.dequantized("bias", integers, steps.astype(numpy.float32),
                                             numpy.zeros(len(steps), numpy.int32), 0)

    def run(self):
        # What nodes make is called NAME/real; behind a pair NAME is what others read.
        for value in self.graph.input:
            if value.name not in self.constants:
                self.rename(value.name, value.name + "/int8/dequantized")
        for node in list(self.graph.node):
            if node.op_type == "Constant":
                self.nodes.append(node)
                continue
            known = len(node.input) > 1 and node.input[1] in self.constants
            if node.op_type in ("Conv", "ConvTranspose", "Gemm") and known:
                self.sums(node)
            name = node.output[0]
            self.nodes.append(node)
            if name not in self.inside and name in self.ranges:
                node.output[0] = name + "/real"
                self.quantize(node.output[0], name)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)
        self.graph.initializer.extend(self.added)
        used = {name for node in self.graph.node for name in node.input}
        kept = [c for c in self.graph.initializer if c.name in used]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)

    def rename(self, name, to):
        """Takes an input of the model through int8: all nodes read `to` in its place."""
        self.pairs[to] = self.pair(name)
        self.quantize(name, to)
        for node in self.graph.node:
            for i, source in enumerate(node.input):
                if source == name:
                    node.input[i] = to


def quantized(model, ranges):
    """A copy of the model with integers; `ranges` has the least and greatest element of values."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    raise_opset(copy)
    Quantizer(copy, ranges).run()
    del copy.graph.value_info[:]
    onnx.checker.check_model(copy)
    return copy


def cosine(a, b):
    """The cosine of the angle between two results."""
    a, b = a.ravel().astype(numpy.float64), b.ravel().astype(numpy.float64)
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))
