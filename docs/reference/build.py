#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""build.py FOLDER: the reference of the C++ interface and of the ioctls, in FOLDER/html.

Fails, with a line for each, if Doxygen has a warning. What has no comment is one, unless its
name says it: fields, enumerators, functions that return what they are called after, and how
objects are copied.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SELF_EXPLAINING = re.compile(
    r"\((variable|enumvalue|macro definition|typedef)\) of "
    r"|Member \w+\((std::uint32_t \w+|Tensor tensor)?\) const.* \(function\) of "
    r"|Member (\w+\((const )?\w+ &&?\)|operator[= ].*) (noexcept|const|=default).* of ")
# Doxygen 1.9 does not follow a specialisation into namespace std.
IGNORED = re.compile(r"scope for class std::is_error_code_enum")


def version():
    return re.search(r"project\(nvdla VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", "docs/reference/Doxyfile"], cwd=ROOT, capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL,
                          env=os.environ | {"NVDLA_DOCS": str(folder), "NVDLA_VERSION": version()})
    complaints = [line.removeprefix(f"{ROOT}/") for line in done.stderr.splitlines()
                  if not IGNORED.search(line)
                  and not ("is not documented" in line and SELF_EXPLAINING.search(line))]
    pages = len(list(folder.glob("html/*.html")))
    print(*complaints, f"{folder}/html/index.html: {pages} pages, {len(complaints)} complaints",
          sep="\n")
    return 1 if complaints or done.returncode or pages < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
