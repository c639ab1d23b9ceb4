#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every header of firmware/ and uapi/ compiles alone, twice included, in C11
and C++20, hosted and freestanding, for 64 and 32 bit."""

import pathlib
import subprocess
import sys

LANGUAGES = (["-xc", "-std=c11"], ["-xc++", "-std=c++20"])
HOSTED = (
    ["gcc"],
    ["clang-14"],
)
TYPES = "-Ifirmware/include"
FREESTANDING = (
    ["clang-14", "--target=x86_64-linux-gnu", "-ffreestanding", "-nostdlibinc", TYPES],
    ["clang-14", "--target=i386-linux-gnu", "-ffreestanding", "-nostdlibinc", TYPES],
)
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Iuapi", "-I.", "-"]


# The ioctls are those of DRM, which only a Linux user space has.
DRM = "nvdla_accel.h"
DRM_FLAGS = ["-isystem", "/usr/include/libdrm"]


def main():
    headers = sorted([*pathlib.Path("firmware").rglob("*.h"), *pathlib.Path("uapi").rglob("*.h")])
    failed = 0
    for header in headers:
        include = f'#include "{header}"\n' * 2
        for language in LANGUAGES:
            drm = header.name == DRM
            for world in HOSTED if drm else HOSTED + FREESTANDING:
                command = world + language + (DRM_FLAGS if drm else []) + FLAGS
                result = subprocess.run(command, input=include, capture_output=True, text=True)
                if result.returncode:
                    failed += 1
                    print(f"{header}: {' '.join(command)}\n{result.stderr}")
    print(f"{len(headers)} headers, {failed} failures")
    return 1 if failed or not headers else 0


sys.exit(main())
