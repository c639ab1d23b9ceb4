# SPDX-License-Identifier: MIT
"""Well-known networks as ONNX models in floats, whose weights are drawn from a seed.

Weights keep the deviation of what they are given, so that all elements of int8 are used.
"""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13


class Drawn:
    """Nodes and constants; each function returns the name of its result."""

    def __init__(self, side):
        self.random = numpy.random.default_rng(1)
        self.nodes, self.constants = [], []
        self.channels = {"image": 3}
        self.side = side

    def node(self, operator, inputs, channels, **attributes):
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        self.channels[name] = channels
        return name

    def constant(self, values):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values.astype(numpy.float32), name))
        return name

    def sums(self, operator, source, shape, factor, **attributes):
        """A convolution or matrix product with a bias; `factor` is that of the deviation."""
        deviation = factor / numpy.prod(shape[1:]) ** .5
        inputs = [source, self.constant(self.random.normal(0, deviation, shape)),
                  self.constant(self.random.normal(0, .05, shape[0]))]
        return self.node(operator, inputs, shape[0], **attributes)

    def conv(self, source, kernels, size, stride=1, relu=True, groups=1, factor=None):
        shape = (kernels, self.channels[source] // groups, size, size)
        # A ReLU halves the sum of squares.
        name = self.sums("Conv", source, shape, factor or 2 ** .5, kernel_shape=[size, size],
                         strides=[stride, stride], pads=[size // 2] * 4, group=groups)
        return self.relu(name) if relu else name

    def relu(self, source):
        return self.node("Relu", [source], self.channels[source])

    def pool(self, source, size=3, stride=2, pad=1):
        return self.node("MaxPool", [source], self.channels[source], kernel_shape=[size, size],
                         strides=[stride, stride], pads=[pad] * 4)

    def mean(self, source):
        return self.node("GlobalAveragePool", [source], self.channels[source])

    def classes(self, source, count=1000):
        flat = self.node("Flatten", [self.mean(source)], self.channels[source])
        return self.sums("Gemm", flat, (count, self.channels[source]), 1, transB=1)

    def save(self, output, path):
        side, count = self.side, self.channels[output]
        sizes = [1, count] if not output.startswith("globalaverage") else [1, count, 1, 1]
        graph = helper.make_graph(
            self.nodes, "drawn",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, side, side])],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, sizes)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                  ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


def resnet50(path):
    net = Drawn(224)
    at = net.pool(net.conv("image", 64, 7, 2))
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            shortcut = at if block else net.conv(at, 4 * width, 1, stride, relu=False, factor=1)
            inner = net.conv(net.conv(at, width, 1), width, 3, stride)
            # Else each block would add as much as there was.
            outer = net.conv(inner, 4 * width, 1, relu=False, factor=.5)
            at = net.relu(net.node("Add", [outer, shortcut], 4 * width))
    net.save(net.classes(at), path)


def mobilenetv1(path):
    net = Drawn(224)
    at = net.conv("image", 32, 3, 2)
    for kernels, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                            *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        channels = net.channels[at]
        at = net.conv(net.conv(at, channels, 3, stride, groups=channels), kernels, 1)
    net.save(net.classes(at), path)


def squeezenet(path):
    """Version 1.1."""
    net = Drawn(224)
    at = net.pool(net.conv("image", 64, 3, 2), pad=0)
    for squeeze, expand, pooled in ((16, 64, 0), (16, 64, 1), (32, 128, 0), (32, 128, 1),
                                    (48, 192, 0), (48, 192, 0), (64, 256, 0), (64, 256, 0)):
        inner = net.conv(at, squeeze, 1)
        at = net.node("Concat", [net.conv(inner, expand, 1), net.conv(inner, expand, 3)],
                      2 * expand, axis=1)
        if pooled:
            at = net.pool(at, pad=0)
    net.save(net.mean(net.conv(at, 1000, 1)), path)
