#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The transformer on one device: transformer_test.py NETWORK NVDLA DEVICE PRECISION.

Every tensor is as the reference has it, and what the CPU computes is listed; saved, loaded again and
run by `nvdla run` it gives the same bytes.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NETWORK, NVDLA, DEVICE, PRECISION = sys.argv[1:5]
HEADS = 12


class Transformer(unittest.TestCase):
    def run_in(self, folder, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_every_tensor_and_the_saved_file(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            said = self.run_in(folder, NETWORK, "transformer", "--device", DEVICE, "--precision",
                               PRECISION, "--save", "saved.nvdla")
            command = re.search(r"^  nvdla (run .*) && cmp (.*) (.*)$", said, re.M)
            self.run_in(folder, NVDLA, *command[1].split(), "--device", DEVICE)
            result = (folder / command[3]).read_bytes()
            self.assertEqual((folder / command[2]).read_bytes(), result)
            self.assertGreater(len(set(result)), 4)
        found = re.search(r"^transformer: (\d+) tensors, \d+ elements, 0 differ$", said, re.M)
        self.assertTrue(found, said)
        listed = subprocess.run([NETWORK], capture_output=True, text=True, check=True).stdout
        self.assertEqual(found[1], re.search(r"^transformer +(\d+) ", listed, re.M)[1])
        # Both normalisations, the activation, and three layers of each head.
        on_cpu = re.search(r"^(\d+) layers on the CPU between (\d+) programs: (.*)$", said, re.M)
        self.assertTrue(on_cpu, said)
        names = on_cpu[3].split(", ")
        self.assertEqual(int(on_cpu[1]), 3 + 3 * HEADS)
        self.assertEqual(len(names), 3 + 3 * HEADS)
        self.assertEqual({"norm1", "norm2", "gelu", "head1.softmax"} - set(names), set())
        self.assertEqual(int(on_cpu[2]), 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
