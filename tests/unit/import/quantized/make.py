#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes a network of integers with scales: make.py SEED int8|uint8 FILE.onnx [INPUT.f32].

ONNX Runtime computed int8.f32 and uint8.f32 of the models of seed 1 and of input.f32.
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Maker:
    """Nodes and constants of a network whose tensors have scales and zero points."""

    def __init__(self, seed, element):
        self.random = numpy.random.default_rng(seed)
        self.element = element
        self.offset = 128 if element is numpy.uint8 else 0
        self.nodes, self.constants, self.count = [], [], 0

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def constant(self, kind, value):
        self.constants.append(numpy_helper.from_array(numpy.asarray(value), self.name(kind)))
        return self.constants[-1].name

    def node(self, operator, inputs, **attributes):
        output = self.name("value")
        self.nodes.append(helper.make_node(operator, inputs, [output], self.name(operator),
                                           **attributes))
        return output

    def quantize(self, value, scale, zero_point):
        """The value in steps of `scale`; zero points are those of int8."""
        pair = [self.constant("scale", numpy.float32(scale)),
                self.constant("zero", self.element(zero_point + self.offset))]
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [value, *pair]), *pair])

    def weights(self, shape):
        """Kernels with a scale each, and these scales."""
        values = self.random.integers(-127, 128, shape).astype(numpy.int8)
        scales = (.01 * self.random.uniform(.5, 2, shape[0])).astype(numpy.float32)
        inputs = [self.constant("weights", values), self.constant("scales", scales),
                  self.constant("zeros", numpy.zeros(shape[0], numpy.int8))]
        return self.node("DequantizeLinear", inputs, axis=0), scales

    def bias(self, scales, input_scale):
        values = self.random.integers(-2000, 2000, len(scales)).astype(numpy.int32)
        inputs = [self.constant("bias", values),
                  self.constant("scales", (scales * numpy.float32(input_scale)).astype(numpy.float32)),
                  self.constant("zeros", numpy.zeros(len(scales), numpy.int32))]
        return self.node("DequantizeLinear", inputs, axis=0)

    def convolution(self, value, scales, shape, group=1, relu=True):
        """A convolution from one scale to another, with padding."""
        kernels, kernel_scales = self.weights(shape)
        value = self.node("Conv", [value, kernels, self.bias(kernel_scales, scales[0])],
                          pads=[shape[2] // 2] * 4, group=group)
        if relu:
            value = self.node("Relu", [value])
        return self.quantize(value, scales[1], -128 if relu else 3)


def make_nodes(m):
    """Convolutions, a sum, poolings, a gate, a concatenation and a matrix; returns the result."""
    value = m.quantize("x", .02, -5)
    first = m.convolution(value, (.02, .08), (16, 3, 3, 3))
    value = m.convolution(first, (.08, .3), (16, 16, 3, 3))
    value = m.convolution(value, (.3, .25), (16, 1, 3, 3), group=16, relu=False)
    value = m.quantize(m.node("Relu", [m.node("Add", [first, value])]), .26, -128)
    value = m.quantize(m.node("MaxPool", [value], kernel_shape=[2, 2], strides=[2, 2]), .26, -128)
    gated = m.convolution(value, (.26, .6), (8, 16, 1, 1), relu=False)
    gate = m.quantize(m.node("Sigmoid", [gated]), 1 / 256, -128)
    gated = m.quantize(m.node("Mul", [gated, gate]), .5, -10)
    value = m.quantize(m.node("Concat", [gated, value], axis=1), .5, -10)
    value = m.quantize(m.node("GlobalAveragePool", [value]), .2, -20)
    matrix, scales = m.weights((10, 24))
    value = m.node("Gemm", [m.node("Flatten", [value]), matrix, m.bias(scales, .2)], transB=1)
    return m.quantize(value, 1, 7)


def main(seed, element, path, *inputs):
    m = Maker(int(seed), numpy.uint8 if element == "uint8" else numpy.int8)
    make_nodes(m)
    m.nodes[-1].output[0] = "y"
    graph = helper.make_graph(
        m.nodes, "quantized",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 12, 12])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], m.constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              path)
    for name in inputs:
        m.random.uniform(-2.4, 2.4, (1, 3, 12, 12)).astype(numpy.float32).tofile(name)


main(*sys.argv[1:])
