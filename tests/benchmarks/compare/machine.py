# SPDX-License-Identifier: MIT
"""What the machine is that figures were measured on."""

import os
import pathlib
import platform

# Flags of /proc/cpuinfo that decide which kernels run, and what they are called.
FLAGS = {"avx2": "AVX2", "f16c": "F16C", "avx_vnni": "AVX-VNNI", "avx512f": "AVX-512",
         "avx512_vnni": "AVX-512 VNNI", "avx512_bf16": "AVX512-BF16",
         "avx512_fp16": "AVX512-FP16", "amx_int8": "AMX int8", "asimddp": "NEON dot product"}


def describe():
    """Return the processor, its instruction sets, and how busy it is."""
    fields = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = (fields.get("flags") or fields.get("Features") or "").split()
    return {"processor": fields.get("model name", platform.machine()),
            "family": " ".join(fields[key] for key in ("vendor_id", "cpu family", "model")
                               if key in fields),
            "instruction_sets": [name for flag, name in FLAGS.items() if flag in flags],
            "cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0],
            "kernel": platform.release()}
