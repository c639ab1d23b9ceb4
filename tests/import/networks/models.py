# SPDX-License-Identifier: MIT
"""Makes an ONNX model of the definition of a network that network_models wrote:

    models.py PATH int8|fp16 MODEL.onnx

PATH.json has layers, PATH.bin their numbers. A model of fp16 has real numbers that fp16 holds, one
of int8 has QuantizeLinear and DequantizeLinear around each layer, as frameworks write it.
"""

import json
import math
import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Model:
    """The nodes and constants that layers become, one layer after the other."""

    def __init__(self, path, precision):
        definition = json.loads(pathlib.Path(f"{path}.json").read_text())
        self.layers, self.tokens = definition["layers"], definition["tokens"]
        self.numbers = numpy.memmap(f"{path}.bin", mode="r")
        self.int8 = precision == "int8"
        self.nodes, self.constants, self.values = [], [], []

    def list(self, layer, name):
        """A list of numbers of a layer."""
        what = layer[name]
        return numpy.frombuffer(self.numbers, what["type"], what["count"], what["at"])

    def constant(self, value):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        return name

    def node(self, operator, inputs, **attributes):
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def through_int8(self, value, step):
        """The value behind a QuantizeLinear and a DequantizeLinear."""
        scale, zero = self.constant(numpy.float32(step)), self.constant(numpy.int8(0))
        return self.node("DequantizeLinear",
                         [self.node("QuantizeLinear", [value, scale, zero]), scale, zero])

    def kernels(self, layer, shape, axis, order):
        """Weights and bias of a layer: `shape` is that of the definition, transposed to `order`."""
        if not self.int8:
            weights = self.list(layer, "real_weights").reshape(shape).transpose(order)
            return [self.constant(weights), self.constant(self.list(layer, "real_bias"))]
        weights = self.list(layer, "weights").reshape(shape).transpose(order)
        scales = self.list(layer, "scales")
        steps = numpy.float32(self.layers[layer["inputs"][0]]["step"]) * scales
        # A zero point that is left out is 0, as the elements are.
        return [
            self.node("DequantizeLinear", [self.constant(weights), self.constant(scales)], axis=axis),
            self.node("DequantizeLinear",
                      [self.constant(self.list(layer, "bias")), self.constant(steps)], axis=0)]

    def activated(self, value, activation):
        if activation == "relu":
            return self.node("Relu", [value])
        if activation == "leaky":
            return self.node("LeakyRelu", [value], alpha=26 / 256)
        if activation == "sigmoid":
            return self.node("Sigmoid", [value])
        assert activation == "swish"
        return self.node("Mul", [value, self.node("Sigmoid", [value])])

    # Each function below takes a layer and the names of its inputs.

    def conv(self, layer, inputs):
        kernels, channels = layer["shape"][0], self.layers[layer["inputs"][0]]["shape"][0]
        shape = (kernels, channels // layer["groups"], *layer["size"])
        if layer["fully_connected"]:
            matrix = (kernels, math.prod(shape[1:]))
            weights = self.kernels(layer, matrix, 0, (0, 1))
            value = self.node("Gemm", [self.node("Flatten", inputs[:1]), *weights], transB=1)
        elif self.tokens:
            weights, bias = self.kernels(layer, (kernels, channels), 1, (1, 0))
            value = self.node("Add", [self.node("MatMul", [inputs[0], weights]), bias])
        else:
            weights = self.kernels(layer, shape, 0, (0, 1, 2, 3))
            value = self.node("Conv", [inputs[0], *weights], kernel_shape=layer["size"],
                              strides=[layer["stride"]] * 2, pads=[layer["pad"]] * 4,
                              group=layer["groups"])
        # int8 has a step of its own in front of a second layer; a ReLU is none.
        more = inputs[1:] or layer["activation"] not in ("none", "relu")
        if self.int8 and more:
            value = self.through_int8(value, layer["inner_step"])
        if inputs[1:]:
            value = self.node("Add", [value, inputs[1]])
        return value if layer["activation"] == "none" else self.activated(value, layer["activation"])

    def double(self, layer, inputs):
        kernels, channels = layer["shape"][0], self.layers[layer["inputs"][0]]["shape"][0]
        weights = self.kernels(layer, (kernels, channels, 2, 2), 1, (1, 0, 2, 3))
        return self.node("ConvTranspose", [inputs[0], *weights], kernel_shape=[2, 2],
                         strides=[2, 2])

    def maximum(self, layer, inputs):
        return self.node("MaxPool", inputs, **window(layer))

    def average(self, layer, inputs):
        return self.node("AveragePool", inputs, count_include_pad=1, **window(layer))

    def lrn(self, layer, inputs):
        return self.node("LRN", inputs, size=layer["size"], alpha=layer["alpha"],
                         beta=layer["beta"], bias=layer["bias"])

    def norm(self, layer, inputs):
        zero = self.constant(numpy.zeros(layer["shape"][0], numpy.float32))
        one = self.constant(numpy.ones(layer["shape"][0], numpy.float32))
        scaled = [self.constant(self.list(layer, name)) for name in ("real_weights", "real_bias")]
        value = self.node("BatchNormalization", [*inputs, *scaled, zero, one], epsilon=0.0)
        return self.node("Relu", [value])

    def concat(self, layer, inputs):
        return self.node("Concat", inputs, axis=2 if self.tokens else 1)

    def scale(self, layer, inputs):
        return self.node("Mul", inputs)

    def slice(self, layer, inputs):
        channels = layer["shape"][0]
        limits = [[layer["first"]], [layer["first"] + channels], [2 if self.tokens else 1]]
        return self.node("Slice", [*inputs, *(self.constant(numpy.int64(v)) for v in limits)])

    def product(self, layer, inputs):
        a, b = inputs
        if layer["transposed"]:
            b = self.node("Transpose", [b], perm=[0, 2, 1])
        value = self.node("MatMul", [a, b])
        return self.node("Mul", [value, self.constant(numpy.float32(layer["factor"]))])

    def softmax(self, layer, inputs):
        return self.node("Softmax", inputs, axis=2)

    def layer_norm(self, layer, inputs):
        numbers = [self.constant(self.list(layer, name)) for name in ("gamma", "beta")]
        return self.node("LayerNormalization", [*inputs, *numbers], axis=-1,
                         epsilon=layer["epsilon"])

    def gelu(self, layer, inputs):
        """unit * gelu(x / unit), as frameworks write it where a model has no Gelu."""
        def number(value):
            return self.constant(numpy.float32(value))
        x = self.node("Div", [inputs[0], number(layer["unit"])])
        error = self.node("Erf", [self.node("Div", [x, number(math.sqrt(2))])])
        twice = self.node("Mul", [x, self.node("Add", [error, number(1)])])
        return self.node("Mul", [self.node("Mul", [twice, number(0.5)]), number(layer["unit"])])

    def shape(self, layer):
        """The sizes of a value in the model."""
        channels, height, width = layer["shape"]
        if self.tokens:
            return [1, height * width, channels]
        return [1, channels] if layer.get("fully_connected") else [1, channels, height, width]

    def make(self):
        for layer in self.layers:
            kind = layer["kind"]
            inputs = [self.values[i] for i in layer["inputs"]]
            value = "image" if kind == "image" else getattr(self, kind)(layer, inputs)
            self.values.append(self.through_int8(value, layer["step"]) if self.int8 else value)
        last = self.layers[-1]
        self.nodes.append(helper.make_node("Identity", [self.values[-1]], [last["name"]]))
        inputs = [helper.make_tensor_value_info("image", TensorProto.FLOAT,
                                                self.shape(self.layers[0]))]
        outputs = [helper.make_tensor_value_info(last["name"], TensorProto.FLOAT, self.shape(last))]
        graph = helper.make_graph(self.nodes, "network", inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                  ir_version=8)
        onnx.checker.check_model(model)
        return model


def window(layer):
    return {"kernel_shape": [layer["size"]] * 2, "strides": [layer["stride"]] * 2,
            "pads": layer["pads"]}


def main():
    path, precision, to = sys.argv[1:]
    onnx.save(Model(path, precision).make(), to)


if __name__ == "__main__":
    main()
