#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes a layers model of TensorFlow.js as ONNX: layers_model.py MODEL FILE.onnx

MODEL.json and MODEL.bin are what layers_model.js writes. Tensors are NCHW there, as ONNX has them.
The outputs are the probabilities and the scores that the softmax takes.
"""

import json
import math
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13


def read_weights(path, manifest):
    """The weights by name; those of bytes have a scale."""
    data = open(path, "rb").read()
    weights, at = {}, 0
    for entry in (entry for group in manifest for entry in group["weights"]):
        quantization = entry.get("quantization")
        dtype = numpy.dtype(quantization["dtype"] if quantization else entry["dtype"])
        count = math.prod(entry["shape"])
        values = numpy.frombuffer(data, dtype, count, at)
        at += count * dtype.itemsize
        if quantization:
            values = values.astype(numpy.float32) * numpy.float32(quantization["scale"])
            values += numpy.float32(quantization["min"])
        weights[entry["name"]] = values.astype(numpy.float32).reshape(entry["shape"])
    if at != len(data):
        raise ValueError(f"{path}: {len(data)} bytes, and the weights take {at}")
    return weights


class Converter:
    """The nodes and constants of the layers."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.constants = [], []
        self.shapes = {}  # channels, lines and columns of each layer's result
        self.values = {}  # its name

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        return name

    def node(self, operator, inputs, name, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def window(self, config, size, shape):
        """Attributes of a window, and the lines and columns of the result."""
        strides = config["strides"]
        if config["padding"] == "valid":
            pads, out = [0] * 4, [(s - k) // t + 1 for s, k, t in zip(shape[1:], size, strides)]
        else:
            out = [-(-s // t) for s, t in zip(shape[1:], strides)]
            total = [max((o - 1) * t + k - s, 0)
                     for o, t, k, s in zip(out, strides, size, shape[1:])]
            pads = [t // 2 for t in total] + [t - t // 2 for t in total]
        return {"kernel_shape": size, "strides": strides, "pads": pads}, out

    def activation(self, name, value, kind):
        if kind in ("linear", None):
            return value
        if kind == "relu":
            return self.node("Relu", [value], name + "/relu")
        if kind == "softmax":
            return self.node("Softmax", [value], name + "/softmax", axis=1)
        raise ValueError(f"{name}: activation {kind}")

    def convolution(self, name, config, value, shape, depthwise):
        kernel = self.weights[name + ("/depthwise_kernel" if depthwise else "/kernel")]
        if config["dilation_rate"] != [1, 1] or (depthwise and config["depth_multiplier"] != 1):
            raise ValueError(f"{name}: dilation or multiplier")
        kernel = kernel.transpose((2, 3, 0, 1) if depthwise else (3, 2, 0, 1))
        attributes, out = self.window(config, list(kernel.shape[2:]), shape)
        inputs = [value, self.constant(name + "/kernel", kernel)]
        if config["use_bias"]:
            inputs.append(self.constant(name + "/bias", self.weights[name + "/bias"]))
        value = self.node("Conv", inputs, name, group=shape[0] if depthwise else 1, **attributes)
        return self.activation(name, value, config["activation"]), (kernel.shape[0], *out)

    def layer(self, kind, name, config, values, shapes):
        """The name and the shape of the result."""
        value, shape = values[0], shapes[0]
        if kind in ("Conv2D", "DepthwiseConv2D"):
            return self.convolution(name, config, value, shape, kind == "DepthwiseConv2D")
        if kind == "BatchNormalization":
            ones = numpy.ones(shape[0], numpy.float32)
            weights = {f"{name}/gamma": ones, f"{name}/beta": 0 * ones} | self.weights
            inputs = [self.constant(f"{name}/{part}", weights[f"{name}/{part}"])
                      for part in ("gamma", "beta", "moving_mean", "moving_variance")]
            return self.node("BatchNormalization", [value, *inputs], name,
                             epsilon=config["epsilon"]), shape
        if kind == "ReLU":
            if config.get("negative_slope") or config.get("threshold"):
                raise ValueError(f"{name}: slope or threshold")
            if config["max_value"] is None:
                return self.node("Relu", [value], name), shape
            bounds = [self.constant(f"{name}/low", numpy.float32(0)),
                      self.constant(f"{name}/high", numpy.float32(config["max_value"]))]
            return self.node("Clip", [value, *bounds], name), shape
        if kind == "ZeroPadding2D":
            (top, bottom), (left, right) = config["padding"]
            pads = self.constant(name + "/pads",
                                 numpy.array([0, 0, top, left, 0, 0, bottom, right], numpy.int64))
            return (self.node("Pad", [value, pads], name),
                    (shape[0], shape[1] + top + bottom, shape[2] + left + right))
        if kind == "Add":
            return self.node("Add", values, name), shape
        if kind == "Concatenate":
            return (self.node("Concat", values, name, axis=1),
                    (sum(s[0] for s in shapes), *shape[1:]))
        if kind == "Activation":
            return self.activation(name, value, config["activation"]), shape
        if kind in ("AveragePooling2D", "MaxPooling2D"):
            operator = "AveragePool" if kind == "AveragePooling2D" else "MaxPool"
            attributes, out = self.window(config, config["pool_size"], shape)
            return self.node(operator, [value], name, **attributes), (shape[0], *out)
        if kind == "Flatten":
            if math.prod(shape[1:]) != 1:
                raise ValueError(f"{name}: positions are in another order in ONNX")
            return self.node("Flatten", [value], name), shape
        if kind == "Dense":
            inputs = [value, self.constant(name + "/kernel", self.weights[name + "/kernel"]),
                      self.constant(name + "/bias", self.weights[name + "/bias"])]
            value = self.node("Gemm", inputs, name)
            return self.activation(name, value, config["activation"]), (config["units"], 1, 1)
        if kind == "Dropout":
            return value, shape
        raise ValueError(f"{name}: no layer {kind} is known")

    def add(self, layer):
        name, config = layer["config"]["name"], layer["config"]
        if layer["class_name"] == "InputLayer":
            _, height, width, channels = config["batch_input_shape"]
            self.values[name], self.shapes[name] = name, (channels, height, width)
            return
        sources = [source[0] for source in layer["inbound_nodes"][0]]
        self.values[name], self.shapes[name] = self.layer(
            layer["class_name"], name, config, [self.values[s] for s in sources],
            [self.shapes[s] for s in sources])


def main(model, path):
    with open(model + ".json", encoding="utf-8") as file:
        content = json.load(file)
    layers = content["modelTopology"]["model_config"]["config"]["layers"]
    converter = Converter(read_weights(model + ".bin", content["weightsManifest"]))
    for layer in layers:
        converter.add(layer)
    source, last = layers[0]["config"]["name"], layers[-1]["config"]["name"]
    graph = helper.make_graph(
        converter.nodes, "layers_model",
        [helper.make_tensor_value_info(source, TensorProto.FLOAT, [1, *converter.shapes[source]])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, converter.shapes[last][0]])
         for name in (converter.values[last], last)], converter.constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(made)
    onnx.save(made, path)


main(*sys.argv[1:])
