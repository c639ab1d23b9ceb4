#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes digits.onnx, the float network of weights.json as a framework would export it.

It takes pictures as (pixel - 128) / 128, a batch of any size, and gives a score for each class.
Debian's python3-onnx has what it needs.
"""

import json
import pathlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent


def main():
    weights = json.loads((HERE / "weights.json").read_text())
    side = weights["input"]
    nodes, constants = [], []

    def constant(name, values, kind=numpy.float32):
        constants.append(numpy_helper.from_array(numpy.asarray(values, kind), name))
        return name

    value = "picture"
    for layer in weights["layers"]:
        name, kernel, pad, stride = (layer[k] for k in ("name", "kernel", "padding", "stride"))
        sizes = [kernel[k] for k in ("count", "channels", "height", "width")]
        inputs = [value, constant(name + ".weight",
                                  numpy.reshape(layer["float"]["weights"], sizes)),
                  constant(name + ".bias", layer["float"]["bias"])]
        pads = [pad["top"], pad["left"], pad["bottom"], pad["right"]]
        # A convolution of ONNX pads with zeros only.
        if pad["value"] * layer["input_scale"] != 0 and any(pads):
            list_of = constant(name + ".pads", [0, 0, *pads[:2], 0, 0, *pads[2:]], numpy.int64)
            ground = constant(name + ".ground", pad["value"] * layer["input_scale"])
            nodes.append(helper.make_node("Pad", [value, list_of, ground], [name + ".padded"],
                                          name + ".pad", mode="constant"))
            inputs[0], pads = name + ".padded", [0, 0, 0, 0]
        value = name + ".sums" if layer["relu"] else name
        nodes.append(helper.make_node("Conv", inputs, [value], name, pads=pads,
                                      kernel_shape=sizes[2:], strides=[stride["y"], stride["x"]]))
        if layer["relu"]:
            nodes.append(helper.make_node("Relu", [value], [name], name + ".relu"))
            value = name
    nodes.append(helper.make_node("Flatten", [value], ["classes"], "flatten"))
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("picture", TensorProto.FLOAT,
                                       ["batch", 1, side["height"], side["width"]])],
        [helper.make_tensor_value_info("classes", TensorProto.FLOAT,
                                       ["batch", len(weights["classes"])])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                              producer_name="export_onnx.py")
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, HERE / "digits.onnx")


if __name__ == "__main__":
    main()
