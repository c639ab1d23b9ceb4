#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One network on one device: network_test.py NETWORK NVDLA NAME DEVICE PRECISION.

Every tensor is as the reference has it; saved, loaded again and run by `nvdla run` it gives the
same bytes.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NETWORK, NVDLA, NAME, DEVICE, PRECISION = sys.argv[1:6]


class Network(unittest.TestCase):
    def run_in(self, folder, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_tensor_and_the_saved_file(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            said = self.run_in(folder, NETWORK, NAME, "--device", DEVICE, "--precision", PRECISION,
                               "--save", "saved.nvdla")
            found = re.search(rf"^{NAME}: (\d+) tensors, (\d+) elements, 0 differ$", said, re.M)
            self.assertTrue(found, said)
            listed = re.search(rf"^{NAME} +(\d+) ", self.run_in(folder, NETWORK), re.M)
            self.assertEqual(found[1], listed[1])
            # All but what poolings take on the fly, and concatenations.
            in_memory = re.search(r"^as applications have it (\d+) tensors", said, re.M)
            self.assertGreaterEqual(int(in_memory[1]), int(found[1]) // 2)
            self.assertIn(f"{DEVICE.split(':')[1]}, {PRECISION}: ", said)
            # What stands for what the device has not.
            self.assertEqual("ReLU stands for swish" in said,
                             (NAME, DEVICE) == ("efficientnet-b0", "model:nv_small"))
            # The command that it names.
            command = re.search(r"^  nvdla (run .*) && cmp (.*) (.*)$", said, re.M)
            self.run_in(folder, NVDLA, *command[1].split(), "--device", DEVICE)
            result = (folder / command[3]).read_bytes()
            self.assertEqual((folder / command[2]).read_bytes(), result)
            # Not a result of zeros.
            self.assertGreater(len(set(result)), 4)

    @unittest.skipUnless((NAME, DEVICE, PRECISION) == ("lenet5", "model:nv_full", "int8"),
                         "one device is enough")
    def test_the_memory_of_the_device(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            device = "model:nv_full,latency=50,bandwidth=20,sram=262144"
            said = self.run_in(folder, NETWORK, NAME, "--device", device, "--save", "saved.nvdla")
            self.assertIn(" 0 differ", said)
            dump = self.run_in(folder, NVDLA, "dump", "saved.nvdla")
            self.assertIn(device, dump)
            self.assertIn("sram", dump.replace(device, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
