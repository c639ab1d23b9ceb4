#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""`nvdla dt` with Debian's dtc and fdtoverlay: dtc_test.py NVDLA.

What `nvdla dt node` prints compiles without a word in the tree of a board, the overlay that it
writes applies to that board and makes the same device, and `nvdla dt check` agrees. What the
command knows of the driver and of the binding is read from those here.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NVDLA = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[3]
TREES = ROOT / "tests/emulator/device-tree"

# Nothing of the device is in there.
BOARD = """/dts-v1/;

/ {
  model = "board";
  compatible = "test,board";
  #address-cells = <%(cells)d>;
  #size-cells = <%(cells)d>;

  memory@80000000 {
    device_type = "memory";
    reg = <%(zero)s 0x80000000 %(zero)s 0x40000000>;
  };

  plic: interrupt-controller {
    compatible = "test,plic";
    interrupt-controller;
    #address-cells = <0>;
    #interrupt-cells = <1>;
  };

  crg: clock-controller {
    compatible = "test,crg";
    #clock-cells = <1>;
    #reset-cells = <1>;
  };

  soc {
    compatible = "simple-bus";
    #address-cells = <%(cells)d>;
    #size-cells = <%(cells)d>;
    interrupt-parent = <&plic>;
    ranges;
  };
};
"""

# Options of `nvdla dt node`, the cells of the tree, and what the device has then.
NODES = [
    (["--address", "0x10000000", "--interrupt", "7", "--bus", "/soc"], 2,
     {"compatible": "nvidia,nvdla-nv-small", "reg": "10000000 20000", "interrupts": "7"}),
    (["--config", "nv_full", "--soc", "acme,npu1-nvdla", "--address", "0x10040000", "--interrupt", "7,", "--bus", "/soc",
      "--address-cells", "1", "--size-cells", "1", "--sram", "512K@0x20000000",
      "--memory-region", "128M@0xb0000000", "--clock", "crg 3", "--clock", "crg,4",
      "--reset", "crg 17", "--coherent", "--clock-rate", "600MHz"], 1,
     {"compatible": "acme,npu1-nvdla nvidia,nvdla-nv-full", "reg": "10040000 20000", "clock-names": "core csb",
      "clock-frequency": "600000000", "dma-coherent": ""}),
    (["--config", "nv_large", "--address", "0x800000000", "--interrupt", "9", "--sram",
      "0x1000@0x900000000", "--interrupt-parent", "plic"], 2,
     {"compatible": "nvidia,nvdla-nv-large", "reg": "8 0 0 20000", "interrupts": "9"}),
]


def call(*command, text=None):
    """Return status, standard output and standard error."""
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class DeviceTrees(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def quietly(self, *command, text=None):
        """Return what it prints; it succeeds, and complains of nothing."""
        status, out, err = call(*command, text=text)
        self.assertEqual((status, err), (0, ""), command)
        return out

    def compiled(self, source, name):
        blob = self.folder / name
        # Symbols are for overlays.
        self.quietly("dtc", "-@", "-I", "dts", "-O", "dtb", "-o", blob, text=source)
        return blob

    def board(self, cells):
        return BOARD % {"cells": cells, "zero": "0" if cells == 2 else ""}

    def report(self, blob, passed=True):
        status, out, err = call(NVDLA, "dt", "check", "--json", blob)
        self.assertEqual((status, err), (0 if passed else 1, ""), out)
        return json.loads(out)

    def properties(self, blob, node, names):
        """Properties as fdtget reads them: strings as they are, numbers by the name's custom."""
        found = {}
        for name in names:
            kind = {"compatible": "s", "clock-names": "s", "reg": "x", "dma-coherent": "x"}
            found[name] = self.quietly("fdtget", "-t", kind.get(name, "u"), blob, node,
                                       name).strip()
        return found

    def test_nodes_compile_and_are_right(self):
        for options, cells, expected in NODES:
            with self.subTest(options=options):
                printed = self.quietly(NVDLA, "dt", "node", *options)
                report = self.report(self.compiled(self.board(cells) + printed, "board.dtb"))
                self.assertEqual([f for f in report["findings"] if f["wrong"]], [])
                (device,) = report["devices"]
                self.assertEqual("nvidia,nvdla-" + device["configuration"].replace("_", "-"),
                                 expected["compatible"].split()[-1])
                wanted = dict(expected)
                if cells == 2 and wanted["reg"].count(" ") == 1:
                    wanted["reg"] = "0 {} 0 {}".format(*wanted["reg"].split())
                self.assertEqual(
                    self.properties(self.folder / "board.dtb", device["node"], wanted), wanted)

    def test_overlays_make_the_same_device(self):
        for options, cells, expected in NODES:
            with self.subTest(options=options):
                base = self.compiled(self.board(cells), "base.dtb")
                whole = self.compiled(
                    self.board(cells) + self.quietly(NVDLA, "dt", "node", *options), "whole.dtb")
                overlay, both = self.folder / "npu.dtbo", self.folder / "both.dtb"
                self.quietly(NVDLA, "dt", "node", *options, "--overlay", overlay)
                self.quietly("fdtoverlay", "-i", base, "-o", both, overlay)
                reports = [self.report(blob) for blob in (both, whole)]
                self.assertEqual(reports[0]["devices"], reports[1]["devices"])
                self.assertEqual(reports[0]["findings"], reports[1]["findings"])
                node = reports[0]["devices"][0]["node"]
                self.assertEqual(self.properties(both, node, expected),
                                 self.properties(whole, node, expected))

    def test_an_overlay_itself_is_refused(self):
        overlay = self.folder / "npu.dtbo"
        self.quietly(NVDLA, "dt", "node", *NODES[0][0], "--overlay", overlay)
        status, out, err = call(NVDLA, "dt", "check", overlay)
        self.assertEqual((status, out), (2, ""))
        self.assertIn("is an overlay; expected the tree that it was applied to", err)

    def test_blobs_folders_and_standard_input_are_alike(self):
        blob = self.compiled(self.board(2) + self.quietly(NVDLA, "dt", "node", *NODES[0][0]),
                             "board.dtb")
        by_name = self.quietly(NVDLA, "dt", "check", blob)
        self.assertIn(f"{blob}: 1 device, 0 wrong\n", by_name)
        with blob.open("rb") as file:
            done = subprocess.run([NVDLA, "dt", "check", "-"], stdin=file, capture_output=True,
                                  text=True, check=True)
        self.assertEqual(done.stdout, by_name.replace(str(blob), "-"))
        # As in /proc/device-tree.
        tree = self.folder / "tree"
        self.unfold(blob, "/", tree)
        self.assertEqual(self.quietly(NVDLA, "dt", "check", tree),
                         by_name.replace(str(blob), str(tree)))

    def unfold(self, blob, node, folder):
        """Write a folder for each node and a file for each property."""
        folder.mkdir()
        for name in self.quietly("fdtget", "-p", blob, node).split():
            numbers = self.quietly("fdtget", "-t", "bx", blob, node, name).split()
            (folder / name).write_bytes(bytes(int(number, 16) for number in numbers))
        for name in self.quietly("fdtget", "-l", blob, node).split():
            self.unfold(blob, node.rstrip("/") + "/" + name, folder / name)

    def emulated(self, *overlays):
        """Return the tree of the emulated device with these overlays; the GIC as QEMU has it."""
        base = self.compiled("""/dts-v1/;
/ {
  #address-cells = <2>;
  #size-cells = <2>;
  interrupt-parent = <&gic>;
  gic: intc@8000000 {
    compatible = "arm,cortex-a15-gic";
    reg = <0 0x8000000 0 0x10000 0 0x8010000 0 0x10000>;
    interrupt-controller;
    #address-cells = <0>;
    #interrupt-cells = <3>;
  };
};
""", "virt.dtb")
        for number, name in enumerate(overlays):
            source = (TREES / name).read_text().replace("@compatible@", "nvidia,nvdla-nv-full")
            overlay = self.folder / f"{number}.dtbo"
            call("dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", overlay, text=source)
            self.quietly("fdtoverlay", "-i", base, "-o", self.folder / "next.dtb", overlay)
            base = (self.folder / "next.dtb").rename(self.folder / f"with{number}.dtb")
        return base

    def test_trees_that_the_driver_was_tested_with(self):
        for overlays in (["nvdla.dts"], ["nvdla.dts", "soc.dts"], ["nvdla.dts", "carveout.dts"],
                         ["nvdla.dts", "sram.dts"]):
            with self.subTest(overlays=overlays):
                report = self.report(self.emulated(*overlays))
                self.assertEqual(report["devices"], [
                    {"node": "/npu@c000000", "configuration": "nv_full", "address": "0xc000000",
                     "interrupt": "<0 112 4> of /intc@8000000"}])

    def test_trees_that_the_driver_refused(self):
        for name, node, names in (
                ("bad-memory-region.dts", "/npu@c000000", {"memory-region"}),
                ("bad-sram.dts", "/npu@c000000", {"sram"}),
                ("bad-sram.dts", "/npu@c200000", {"interrupts"})):
            with self.subTest(tree=name, node=node):
                report = self.report(self.emulated("nvdla.dts", name), passed=False)
                self.assertEqual({f["property"] for f in report["findings"]
                                  if f["wrong"] and f["node"] == node}, names)

    def test_the_compatible_strings_are_the_drivers(self):
        driver = (ROOT / "kernel/nvdla_platform.c").read_text()
        table = re.findall(r'\.compatible = "([^"]+)",\s*\.data = "([^"]+)"', driver)
        self.assertGreaterEqual(len(table), 15)
        printed = self.quietly(NVDLA, "dt", "node", *NODES[0][0])
        for compatible, configuration in table:
            blob = self.compiled(
                self.board(2) + printed.replace("nvidia,nvdla-nv-small", compatible), "board.dtb")
            self.assertEqual(self.report(blob)["devices"][0]["configuration"], configuration)
        blob = self.compiled(self.board(2) + printed.replace("nvidia,nvdla-nv-small", "none,nvdla"),
                             "board.dtb")
        (finding,) = self.report(blob, passed=False)["findings"]
        # Names with an underscore are deprecated: they are taken, and recommended to nobody.
        self.assertIn("expected one of " + ", ".join(name for name, _ in table if "_" not in name),
                      finding["text"])

    def test_the_properties_are_the_bindings(self):
        binding = (ROOT / "kernel/upstream/nvidia,nvdla.yaml").read_text()
        names = re.findall(r"^  ([\w-]+):", binding.partition("\nproperties:\n")[2]
                           .partition("\nrequired:")[0], re.M)
        self.assertIn("memory-region", names)
        printed = self.quietly(NVDLA, "dt", "node", *NODES[0][0])
        added = "".join(f"\n\t\t{name};" for name in [*names, "something-else"]
                        if name not in ("compatible", "reg", "interrupts"))
        source = self.board(2) + printed.replace("interrupts = <7>;", "interrupts = <7>;" + added)
        # Empty ones are wrong, and dtc has a word about some; but only one has no name.
        blob = self.folder / "board.dtb"
        call("dtc", "-f", "-q", "-I", "dts", "-O", "dtb", "-o", blob, text=source)
        unknown = [f["property"] for f in self.report(blob, passed=False)["findings"]
                   if "knows no such property" in f["text"]]
        self.assertEqual(unknown, ["something-else"])

    def test_wrong_arguments_are_named(self):
        address, interrupt = ["--address", "0x1000"], ["--interrupt", "7"]
        for arguments, said in (
                (address, "--interrupt is required"),
                ([*address, "--interrupt", "x"], "'x'"),
                ([*interrupt, "--address", "here"], "'here'"),
                ([*address, *interrupt, "--config", "nv_huge"],
                 "no configuration is called 'nv_huge'; there are nv_full, "),
                ([*address, *interrupt, "--sram", "0x1000"], "--sram 0x1000: expected SIZE@ADDRESS"),
                ([*address, *interrupt, "--address-cells", "3"], "--address-cells"),
                ([*address, "--interrupt", " "], "--interrupt: expected one number at least")):
            with self.subTest(arguments=arguments):
                status, out, err = call(NVDLA, "dt", "node", *arguments)
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(err.startswith("nvdla"))
                self.assertIn(said, err)

    def test_a_system_without_a_tree_says_so(self):
        if pathlib.Path("/proc/device-tree").exists():
            # Its tree has no NVDLA, or one that is as it is.
            self.assertIn(call(NVDLA, "dt", "check")[0], (0, 1))
            return
        status, out, err = call(NVDLA, "dt", "check")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("/proc/device-tree: this system was not started with a device tree", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
