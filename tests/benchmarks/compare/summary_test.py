#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What bench.py says of numbers, where it is known what they come to."""

import unittest

import summary


def case(group, name, ratios, threads=1, cold=False, macs=0.0, seconds=1.0):
    """Return a case whose peers take so many times as long as the model."""
    sides = {side: {"seconds": seconds * ratio, "ratio": ratio} for side, ratio in ratios.items()}
    return {"group": group, "name": name, "threads": threads, "cold": cold, "macs": macs,
            "sides": {"ours": {"seconds": seconds, "ratio": 1.0}} | sides}


RUN = {"instruction_set": "AVX2", "cases": [
    case("conv", "a", {"s8s8": 0.5, "u8s8": 0.25}),
    case("first", "b", {"s8s8": 2.0, "u8s8": 1.0}),
    case("conv", "a", {"s8s8": 1.0, "ours, 1 thread": 1.9}, threads=2),
    case("conv", "a", {"s8s8": 0.1}, cold=True),
    case("fc", "c", {"s8s8": 0.01}),
    {"group": "conv", "name": "broken", "threads": 1, "cold": False, "error": "it differs"},
    case("network", "resnet50", {"s8s8": 0.8}),
    case("network", "resnet50 by Y", {"s8s8": 0.1}),
    case("exact", "int16", {"f32": 1.0}, macs=50e9, seconds=2.0),
    case("unit", "relu int8", {"peer": 0.75}),
    case("unit", "LRN int8", {"peer": 0.25}),
    case("unit", "relu fp16", {"peer": 0.5}),
]}


class Summary(unittest.TestCase):
    def test_lines(self):
        lines = dict(summary.lines(RUN))
        self.assertAlmostEqual(
            lines["geometric mean, oneDNN s8s8 / ours, 1 thread, AVX2"], 1.0)
        self.assertAlmostEqual(
            lines["geometric mean, oneDNN u8s8 / ours, 1 thread, AVX2"], 0.5)
        self.assertAlmostEqual(
            lines["geometric mean, oneDNN s8s8 / ours, 1 thread, cold, AVX2"], 0.1)
        self.assertAlmostEqual(
            lines["fully connected layers, oneDNN s8s8 / ours, 1 thread, AVX2"], 0.01)
        self.assertAlmostEqual(lines["ResNet-50, ours / oneDNN s8s8, 1 thread, AVX2"], 1.25)
        # What was not measured is not there.
        self.assertNotIn("ResNet-50, ours / oneDNN s8s8, 2 threads, AVX2", lines)

    def test_targets(self):
        found = [(target["target"], round(target["measured"], 6), target["reached"])
                 for target in summary.targets(RUN)]
        self.assertEqual(found, [
            (0.9, 1.0, True),    # convolutions
            (1.0, 2.0, True),    # first layers
            (1.8, 1.9, True),    # two threads
            (1.3, 1.25, True),   # ResNet-50: at most
            (25, 25.0, True),    # int16; fp16 was not measured
            (0.5, 0.25, False),  # the slowest unit in int8
            (0.5, 0.5, True),    # and in fp16
        ])

    def test_no_set_has_no_target(self):
        self.assertEqual(summary.targets(RUN | {"instruction_set": "free"}), [])


if __name__ == "__main__":
    unittest.main()
