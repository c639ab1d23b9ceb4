#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The reference refuses public members without a comment of their own, wherever they stand."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# A member that follows another one, and where it is put.
MEMBERS = [
    ("buffer.hpp", "  Memory memory() const noexcept;", "  bool is_new() const noexcept;", "is_new"),
    ("types/tensor_desc.hpp", "  std::uint32_t atom = 32;", "  std::uint32_t spare = 0;", "spare"),
    ("types/error.hpp", "  kBusFault = 9,", "  kNobodyKnows = 99,", "kNobodyKnows"),
    ("types/half.hpp", "NVDLA_API float from_half(", "float from_quarter(int bits);", "from_quarter"),
]


def main():
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        for part in ("docs/reference", "runtime/include", "uapi/drm"):
            shutil.copytree(SOURCE / part, tree / part)
        shutil.copy(SOURCE / "CMakeLists.txt", tree)
        for header, before, member, _ in MEMBERS:
            path = tree / "runtime/include/nvdla" / header
            lines = path.read_text().split("\n")
            at = next(i for i, line in enumerate(lines) if line.startswith(before))
            while not lines[at].split("///<")[0].rstrip().endswith((";", ",")):
                at += 1
            path.write_text("\n".join(lines[:at + 1] + [member] + lines[at + 1:]))
        done = subprocess.run([sys.executable, tree / "docs/reference/build.py", tree / "out"],
                              capture_output=True, text=True, check=False)
        missed = [member for *_, member in MEMBERS if f"{member}" not in done.stdout]
        if done.returncode != 1 or missed:
            print(f"status {done.returncode}; not refused: {missed}\n{done.stdout}{done.stderr}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
