#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The generator refuses a description that contradicts itself, and stale outputs."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

REGISTERS = pathlib.Path(__file__).resolve().parents[3] / "firmware" / "registers"


class GeneratorTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        for path in REGISTERS.glob("*.json"):
            shutil.copy(path, self.folder)

    def tearDown(self):
        self.scratch.cleanup()

    def run_generator(self, *args):
        return subprocess.run(
            [sys.executable, str(REGISTERS / "generate.py"), "--source", str(self.folder),
             "--output", str(self.folder), *args],
            capture_output=True, text=True, check=False)

    def edit(self, name, change):
        path = self.folder / name
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data)
        path.write_text(json.dumps(data), encoding="utf-8")

    def refuses(self, *texts):
        result = self.run_generator()
        self.assertEqual(result.returncode, 1, result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertFalse((self.folder / "nvdla_regs.h").exists())

    @staticmethod
    def register(data, name):
        return next(r for scope in ("single", "group") for r in data.get(scope, ())
                    if r.get("name") == name)

    def field(self, data, register, name):
        return next(f for f in self.register(data, register)["fields"] if f["name"] == name)

    def test_same_outputs_as_committed(self):
        self.assertEqual(self.run_generator().returncode, 0)
        for name in ("nvdla_regs.h", "nvdla_reg_table.inc"):
            self.assertEqual((self.folder / name).read_text(encoding="utf-8"),
                             (REGISTERS / name).read_text(encoding="utf-8"))

    def test_check_finds_a_missing_output(self):
        result = self.run_generator("--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("nvdla_regs.h and nvdla_reg_table.inc not current", result.stderr)

    def test_check_finds_a_stale_output(self):
        self.run_generator()
        self.assertEqual(self.run_generator("--check").returncode, 0)
        self.edit("csc.json", lambda d: self.register(d, "D_BANK").update(offset="0x068"))
        self.edit("csc.json", lambda d: d["group"].sort(key=lambda r: int(r["offset"], 0)))
        result = self.run_generator("--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("not current", result.stderr)

    def test_check_writes_nothing(self):
        self.run_generator("--check")
        self.assertFalse((self.folder / "nvdla_regs.h").exists())

    def test_copy_of_nothing(self):
        self.edit("csc.json",
                  lambda d: self.field(d, "D_BANK", "DATA_BANK").update(copy_of="CACC"))
        self.refuses("csc.json.D_BANK.DATA_BANK", "there is no CACC.D_BANK.DATA_BANK")

    def test_copy_of_another_width(self):
        self.edit("csc.json", lambda d: self.field(d, "D_BANK", "DATA_BANK").update(
            copy_of="CDMA.D_BATCH_NUMBER.BATCHES"))
        self.refuses("csc.json.D_BANK.DATA_BANK", "is not as wide")

    def test_copy_with_half_a_name(self):
        self.edit("csc.json",
                  lambda d: self.field(d, "D_BANK", "DATA_BANK").update(copy_of="CDMA.D_BANK"))
        self.refuses("csc.json.D_BANK.DATA_BANK", "neither UNIT nor UNIT.REGISTER.FIELD")

    def test_overlapping_fields(self):
        self.edit("cdma.json", lambda d: self.field(d, "D_BANK", "DATA_BANK").update(width=17))
        self.refuses("cdma.json.D_BANK.WEIGHT_BANK (nv_full)", "overlaps another field")

    def test_overlap_in_the_second_map_only(self):
        self.edit("cdma.json", lambda d: self.field(d, "D_BANK", "DATA_BANK").update(
            nv_small={"width": 17}))
        self.refuses("cdma.json.D_BANK.WEIGHT_BANK (nv_small)", "overlaps another field")

    def test_field_past_bit_31(self):
        self.edit("cdma.json", lambda d: self.field(d, "D_BANK", "WEIGHT_BANK").update(width=17))
        self.refuses("D_BANK.WEIGHT_BANK", "does not fit 32 bits")

    def test_reset_too_wide(self):
        self.edit("csc.json", lambda d: self.field(d, "D_BANK", "DATA_BANK").update(reset=16))
        self.refuses("csc.json.D_BANK.DATA_BANK (nv_full)", "reset 0x10 does not fit 4 bits")

    def test_enumerator_too_wide(self):
        self.edit("rbk.json", lambda d: self.field(d, "D_MISC_CFG", "RUBIK_MODE").update(
            enum={"CONTRACT": 4}))
        self.refuses("RUBIK_MODE", "CONTRACT = 4 does not fit 2 bits")

    def test_unknown_shared_enum(self):
        self.edit("rbk.json", lambda d: self.field(d, "D_MISC_CFG", "RUBIK_MODE").update(
            enum="nothing"))
        self.refuses("RUBIK_MODE", "no shared enum 'nothing'")

    def test_unaligned_offset(self):
        self.edit("glb.json", lambda d: d["single"][1].update(offset="0x006"))
        self.refuses("glb.json.S_INTR_MASK", "offset 0x6")

    def test_duplicate_offset(self):
        self.edit("glb.json", lambda d: d["single"][1].update(offset="0x000"))
        self.refuses("glb.json.S_INTR_MASK", "not above the previous")

    def test_duplicate_register_name(self):
        self.edit("glb.json", lambda d: d["single"][1].update(name="S_INTR_SET"))
        self.refuses("glb.json.S_INTR_SET", "appears twice")

    def test_bad_access(self):
        self.edit("glb.json", lambda d: d["single"][1].update(access="R"))
        self.refuses("S_INTR_MASK", "access 'R'")

    def test_writable_statistic(self):
        self.edit("cacc.json", lambda d: self.register(d, "D_OUT_SATURATION").update(access="RW"))
        self.refuses("D_OUT_SATURATION", "a statistic must be RO")

    def test_wrong_scope(self):
        self.edit("cacc.json", lambda d: self.register(d, "D_CYA").update(name="CYA"))
        self.refuses("cacc.json.CYA", "group registers D_*")

    def test_two_units_in_one_window(self):
        self.edit("cacc.json", lambda d: d["units"][0]["base"].update(nv_full="0x5000"))
        self.refuses("share 0x5000 in nv_full")

    def test_missing_unit(self):
        (self.folder / "rbk.json").unlink()
        self.refuses("no file describes RBK")

    def test_misspelt_key(self):
        self.edit("glb.json", lambda d: d["single"][1].update(descr="x"))
        self.refuses("glb.json", "unknown key 'descr'")

    def test_macro_collision(self):
        def collide(data):
            fields = self.register(data, "D_BANK")["fields"]
            fields[0]["enum"] = {"SHIFT": 0}
        self.edit("csc.json", collide)
        self.refuses("two macros are called NVDLA_CSC_D_BANK_DATA_BANK_SHIFT")

    def test_malformed_file(self):
        (self.folder / "glb.json").write_text("{", encoding="utf-8")
        self.refuses("glb.json")


if __name__ == "__main__":
    unittest.main()
