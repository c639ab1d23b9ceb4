#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""trained_bench_test.py: are layers sorted, cases chosen and times compared as they should be?

The exit status is 77, which skips the test, where there is no onnx.
"""

import sys
import unittest

try:
    import numpy
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    sys.exit(77)

import layer_kinds
import trained_bench


def constant(name, *shape):
    return numpy_helper.from_array(numpy.zeros(shape, numpy.int8), name)


def graph():
    """A first, a depthwise, a dense and a pointwise convolution, a hard-swish, and a sum."""
    weights = {"first": (8, 3, 3, 3), "deep": (8, 1, 3, 3), "dense": (8, 8, 3, 3),
               "point": (8, 8, 1, 1)}
    nodes = [helper.make_node("DequantizeLinear", [name, "scale"], [name + "/real"], name + "/dq")
             for name in weights]
    source = "in"
    for name in weights:
        nodes.append(helper.make_node("Conv", [source, name + "/real"], [name + "/sum"],
                                      name, group=8 if name == "deep" else 1))
        source = name + "/sum"
    nodes += [helper.make_node("Add", [source, "three"], ["shifted"], "shift"),
              helper.make_node("Clip", ["shifted"], ["clipped"], "clip"),
              helper.make_node("Mul", [source, "clipped"], ["product"], "product"),
              helper.make_node("Div", ["product", "three"], ["swish/real"], "divide"),
              helper.make_node("Add", ["swish/real", source], ["out"], "sum"),
              helper.make_node("GlobalAveragePool", ["out"], ["mean"], "mean")]
    return helper.make_graph(nodes, "graph",
                             [helper.make_tensor_value_info("in", TensorProto.FLOAT, None)],
                             [helper.make_tensor_value_info("mean", TensorProto.FLOAT, None)],
                             [constant(name, *shape) for name, shape in weights.items()] +
                             [constant("three", 1), constant("scale", 1)])


class LayersAreSorted(unittest.TestCase):
    def setUp(self):
        self.kinds = layer_kinds.Kinds(graph())

    def expect(self, kind, *name):
        self.assertEqual(self.kinds.of_layer(*name), kind, name)

    def test_of_the_model(self):
        self.expect("first convolution", "first")
        self.expect("depthwise", "deep groups 2/3")
        self.expect("convolution", "dense 1/2")
        self.expect("pointwise", "point+pool")
        self.expect("functions", "swish")
        self.expect("functions", "product")
        self.expect("add, multiply", "sum")
        self.expect("average", "mean")
        self.expect("conversions", "sum scale #2")
        self.expect("rest", "of no node")

    def test_of_onnx_runtime(self):
        self.expect("depthwise", "deep_token_17", "QLinearConv")
        self.expect("pointwise", "point_nchwc", "Conv")
        self.expect("conversions", "first/dq/duplicated", "DequantizeLinear")
        self.expect("conversions", "sum", "QuantizeLinear")
        self.expect("add, multiply", "made_3", "QLinearAdd")
        self.expect("rest", "made_4", "Resize")

    def test_what_is_between_layers_is_rest(self):
        found = layer_kinds.sums(self.kinds, {
            "layers": [["deep groups 1/2", 2], ["deep groups 2/2", 3], ["mean", 1]]}, 10)
        self.assertEqual((found["depthwise"], found["average"], found["rest"]), (5, 1, 4))


class CasesAreChosen(unittest.TestCase):
    def names(self, expression):
        return [f"{case[0]}/{case[1]}/{case[2]}"
                for cases in trained_bench.wanted_cases(expression).values() for case in cases]

    def test_as_bench_compare_chooses(self):
        self.assertEqual(self.names("^trained/mobilenet_v2/threads:2"), ["trained/mobilenet_v2/2"])
        self.assertEqual(self.names("^served/text_direction"),
                         ["served/text_direction 1x2/2", "served/text_direction 2x1/2"])
        self.assertEqual(self.names("^unit/"), [])
        self.assertEqual(len(self.names("")), 4 * len(trained_bench.NAMES))
        self.assertNotIn("trained/inception_v3/1", self.names("-inception"))


class TimesAreCompared(unittest.TestCase):
    def test_one_thread_by_the_processor(self):
        reply = {"seconds": [5, 1, 3], "processor": 2}
        self.assertEqual(trained_bench.time_of(reply, 1), 2)
        self.assertEqual(trained_bench.time_of(reply, 2), 3)

    def test_by_rounds(self):
        # A machine that is slow for a round is slow for both.
        sides = trained_bench.timed([[1, 10, 2], [2, 20, 4]])
        self.assertEqual(sides["ours"]["seconds"], 2)
        self.assertEqual(sides["ONNX Runtime"], {"seconds": 4, "ratio": 2})

    def test_means_are_of_networks_that_run_alone(self):
        def case(group, threads, ratio):
            return {"group": group, "threads": threads,
                    "sides": {"ours": {}, "ONNX Runtime": {"ratio": ratio}}}

        cases = [case("trained", 1, .25), case("trained", 1, 1), case("trained", 2, .1),
                 case("served", 1, .01), {"group": "trained", "threads": 1, "error": "none"}]
        self.assertAlmostEqual(trained_bench.geometric_mean(cases, 1), 2)
        self.assertIsNone(trained_bench.geometric_mean(cases, 3))

    def test_back_and_forth(self):
        turns = []

        class Fake:
            def __init__(self, name):
                self.name = name

            def ask(self, *words):
                self.asked = words

        found = trained_bench.in_turns((Fake("a"), Fake("b")), 3,
                                       lambda side: turns.append(side.name) or len(turns))
        self.assertEqual("".join(turns), "abbaab")
        self.assertEqual(found, [[1, 4, 5], [2, 3, 6]])

    def test_percentiles(self):
        times = list(range(100, 0, -1))
        self.assertEqual(trained_bench.percentile(times, .5), 51)
        self.assertEqual(trained_bench.percentile(times, .99), 100)
        self.assertEqual(trained_bench.percentile([7], .99), 7)

    def test_results_that_differ_are_refused(self):
        class Fake:
            def __init__(self, values):
                self.values = values

            def ask(self, _):
                return {"values": self.values}

        trained_bench.expect_alike(Fake([1, 2]), Fake([1.01, 2]))
        for other in ([2, 1], [0, 0], [1, 2, 3]):
            with self.assertRaises(trained_bench.Failed):
                trained_bench.expect_alike(Fake([1, 2]), Fake(other))


if __name__ == "__main__":
    unittest.main()
