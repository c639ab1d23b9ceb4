#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The transformer on one device: transformer_test.py NETWORK DEVICE PRECISION.

Every tensor is as the reference has it, what the CPU computes is said, and a loadable, which has
no layer normalisation, is refused by name.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NETWORK, DEVICE, PRECISION = sys.argv[1:4]
HEADS = 12


def run(*arguments):
    return subprocess.run([NETWORK, "transformer", "--device", DEVICE, "--precision", PRECISION,
                           *arguments], capture_output=True, text=True, check=False)


class Transformer(unittest.TestCase):
    def test_every_tensor(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "saved.nvdla"
            done = run("--save", str(path))
            said = done.stdout + done.stderr
            self.assertFalse(path.exists())
        self.assertEqual(done.returncode, 2, said)
        self.assertRegex(done.stderr, r"layer \d+ 'norm1': a loadable has no layer normalisation")
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
