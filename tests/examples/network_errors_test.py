#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What `network` refuses, and how it says so: network_errors_test.py NETWORK."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

NETWORK = sys.argv[1]
ON_NV_SMALL = {**os.environ, "NVDLA_DEVICE": "model:nv_small"}


class Errors(unittest.TestCase):
    def refused(self, arguments, status, words, folder=None):
        done = subprocess.run([NETWORK, *arguments.split()], capture_output=True, text=True,
                              check=False, cwd=folder, env=ON_NV_SMALL)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertTrue(done.stderr.startswith("network: "), done.stderr)
        self.assertIn(words, done.stderr)
        return done.stdout

    def test_names(self):
        self.assertEqual(
            self.refused("none", 2, "no network is called 'none'; there are lenet5, alexnet, "), "")
        self.refused("resnet5", 2, "no network is called 'resnet5'; did you mean 'resnet50'?")
        self.refused("lenet5 yolo", 2, "yolo")

    def test_layers(self):
        self.refused("squeezenet --layers conv2", 2, "no layer is called 'conv2'; did you mean")
        self.refused("lenet5 --layers image", 2, "no layer is called 'image'; --tensors lists them")
        self.refused("resnet50 --layers pool1..conv1", 2,
                     "layer 'pool1' comes behind 'conv1'; expected FIRST..LAST")
        self.refused("resnet50 --layers stage1.1.expand", 2,
                     "layers 'stage1.1.expand' read the results of stage1.1.project, "
                     "stage1.1.conv; expected those of one layer")

    def test_values(self):
        self.refused("lenet5 --precision int4", 2, "int4")
        for seed in ("-1", "x", "1.5"):
            self.refused(f"lenet5 --seed {seed}", 2, "--seed")
        self.refused("lenet5 --device model:nv_huge", 2, "nv_huge")

    def test_what_the_device_has_not(self):
        self.refused("lenet5 --precision fp16", 2,
                     "(conv): in_precision needs fp16, which nv_small does not")

    def test_files(self):
        self.assertEqual(self.refused("lenet5 --save -", 2, "--save takes the name of a file"), "")
        with tempfile.TemporaryDirectory() as folder:
            self.refused("lenet5 --save none/lenet5.nvdla", 4, "none/lenet5.nvdla", folder)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
