#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Commands on a simulator, as it should be and not: commands_test.py SERVER NVDLA DIGITS.

The simulator is the device server. Where a test wants one that goes away or falls silent in the
middle of a command, that is when a step of the self-test has been printed: no time decides.
"""

import array
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

SERVER, NVDLA, DIGITS = sys.argv[1:4]
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
CLEAN = {name: value for name, value in os.environ.items() if name != "NVDLA_DEVICE"}
# Each waits for the other; if one of them never comes the test fails instead.
PATIENCE = 480
# Bytes that a step of the self-test takes at most when it is printed.
ROOM = 200


class Commands(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.started = 0

    def start(self, configuration):
        """Start a simulator; return it and the device's name."""
        self.started += 1
        socket = self.folder / f"{self.started}.socket"
        server = subprocess.Popen(
            [SERVER, "--device", f"model:{configuration}", "--simulator", socket],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertIn(f"{configuration} listens at", server.stderr.readline())
        return server, f"sim:{socket}"

    def nvdla(self, *arguments, status=0):
        """Return standard output and standard error of a command."""
        done = subprocess.run([NVDLA, *map(str, arguments)], capture_output=True, text=True,
                              timeout=PATIENCE, check=False, cwd=self.folder, env=CLEAN)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def report(self, *arguments, status=0):
        return json.loads(self.nvdla("selftest", "--json", *arguments, status=status)[0])

    def test_the_self_test_passes_as_on_the_model(self):
        for configuration in ("nv_full", "nv_large", "nv_small"):
            with self.subTest(configuration):
                _, device = self.start(configuration)
                found = self.report("--device", device)
                model = self.report("--device", f"model:{configuration}")
                self.assertEqual(found["configuration"], configuration)
                verdicts = {step["step"]: step["verdict"] for step in found["steps"]}
                self.assertEqual(verdicts,
                                 {step["step"]: step["verdict"] for step in model["steps"]})
                self.assertNotIn("failed", verdicts.values())
                # What is left out is a unit that is not built.
                left_out = {name for name, verdict in verdicts.items() if verdict != "passed"}
                self.assertEqual(left_out,
                                 set() if configuration == "nv_full" else {"bdma", "rubik"})

    def interrupted(self, action, device):
        """Run the self-test, do this when the first step has been printed; return what it says.

        Of the other steps there is room for one or two until then.
        """
        reader, writer = os.pipe()
        filled = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096) - ROOM
        os.write(writer, b" " * filled)
        with open(reader, encoding="utf-8") as output:
            with subprocess.Popen([NVDLA, "selftest", "--device", device], stdout=writer,
                                  stderr=subprocess.PIPE, text=True, env=CLEAN) as command:
                os.close(writer)
                waiting = array.array("i", [filled])
                while waiting[0] == filled and command.poll() is None:
                    time.sleep(0.01)
                    fcntl.ioctl(reader, termios.FIONREAD, waiting)
                action()
                out = output.read()[filled:]
                err = command.communicate(timeout=PATIENCE)[1]
        return command.returncode, out, err

    def check_verdict(self, status, out, err, reason):
        """What it says of a simulator that was there at the first step, and then was not."""
        self.assertEqual((status, err), (1, ""), out)
        flat = " ".join(out.split())
        # The step in which it was, once, with what it saw; the others say why they are left out.
        self.assertEqual(out.count("\nFAIL  "), 1, out)
        self.assertIn(reason, flat.partition("FAIL")[2])
        self.assertRegex(flat, r"- timing the device is gone: sim:")
        self.assertRegex(out, r"\n\S+: \d+ passed, 1 failed, \d+ left out\n$")

    def test_a_simulator_that_is_killed(self):
        server, device = self.start("nv_full")
        self.check_verdict(*self.interrupted(server.kill, device),
                           "the simulator closed the connection")

    def test_a_simulator_that_falls_silent(self):
        for stall in (1, 10, 60):
            server, device = self.start("nv_full")
            status, out, err = self.interrupted(lambda: server.send_signal(signal.SIGSTOP),
                                                f"{device},stall={stall}")
            said = f"the simulator gave no sign of life for {stall} s"
            # On a busy machine it may have been so slow before it was stopped.
            if out.startswith("FAIL") or said in err:
                continue
            self.check_verdict(status, out, err, said)
            return
        self.fail(f"a machine too busy for a simulator: {out}{err}")

    def test_a_simulator_that_is_silent_from_the_start(self):
        case = GOLDEN / "nv_small/sdp/int8"
        for command in (["selftest"], ["info"], ["replay", case]):
            with self.subTest(command):
                # One each: users whom it does not answer wait in its queue.
                server, device = self.start("nv_small")
                server.send_signal(signal.SIGSTOP)
                out, err = self.nvdla(*command, "--device", device + ",stall=1", status=3)
                self.assertIn("the simulator gave no sign of life for 1 s", out + err)

    def test_nobody_is_there(self):
        device = f"sim:{self.folder}/nowhere"
        for command in (["selftest"], ["info"]):
            err = self.nvdla(*command, "--device", device, status=3)[1]
            self.assertIn("no simulator made its socket there yet", err)

    def test_another_configuration(self):
        _, device = self.start("nv_small")
        for command in (["selftest"], ["info"]):
            with self.subTest(command):
                out, err = self.nvdla(*command, "--device", device + ",config=nv_full", status=3)
                self.assertEqual((out, err), ("", f"nvdla: {device}: is nv_small, not nv_full\n"))
        # Replay goes on with the files that are for it.
        out = self.nvdla("replay", GOLDEN, "--device", device, status=2)[0]
        self.assertIn("is nv_small; expected nv_full, which the file is for", out)
        self.assertRegex(out, r"\n5 passed, \d+ failed, 0 skipped\n$")

    def test_golden_cases_are_replayed(self):
        for configuration in ("nv_full", "nv_small"):
            with self.subTest(configuration):
                cases = sorted((GOLDEN / configuration).rglob("case.json"))
                self.assertGreaterEqual(len(cases), 5)
                _, device = self.start(configuration)
                out = self.nvdla("replay", GOLDEN / configuration, "--device", device)[0]
                self.assertTrue(out.endswith(f"\n{len(cases)} passed, 0 failed, 0 skipped\n"), out)

    def test_a_loadable_runs_as_on_the_model(self):
        _, device = self.start("nv_small")
        network = self.folder / "digits.nvdla"
        subprocess.run([DIGITS, "--device", "model:nv_small", "--save", network], check=True,
                       capture_output=True, env=CLEAN)
        picture = (pathlib.Path(__file__).resolve().parents[2]
                   / "runtime/examples/digits/images/five-dejavu-serif-sheared.png")
        # Without the line that says on what it ran, and how long.
        said = [self.nvdla("run", network, "--input", picture, "--device", name)[0]
                .rpartition("nv_small on ")[0] for name in (device, "model:nv_small")]
        self.assertRegex(said[0], r"scores: 10x1x1 int8\n.*-\d")
        self.assertEqual(said[0], said[1])
        out = self.nvdla("run", network, "--input", picture, "--device", device, "--compare",
                         "model")
        self.assertIn("layers are as on model", out[0] + out[1])
        # A record of the run is run again there, and elsewhere.
        record = self.folder / "run.record"
        self.nvdla("run", network, "--input", picture, "--device", device, "--record", record)
        for name in (device, "model:nv_small"):
            self.assertIn("no difference in 1 job", self.nvdla("diff", record, name)[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
