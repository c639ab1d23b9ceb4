#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""build.py FOLDER: the reference of the C++ interface and of the ioctls, in FOLDER/html.

Fails, with a line for each, if Doxygen has a warning: every public member has a comment of its own.
Only in the headers of the driver, which kernel-doc checks, a field or constant may go without.
"""

import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Fields, constants and macros of the driver's headers.
KERNEL_DOC = re.compile(r"^uapi/.*\((variable|enumvalue|macro definition|typedef)\) of "
                        r".* is not documented")
# Doxygen 1.9 does not follow a specialisation into namespace std.
IGNORED = re.compile(r"scope for class std::is_error_code_enum")


def version():
    return re.search(r"project\(nvdla VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def silent_enumerators(folder):
    """Doxygen 1.9 has no warning about enumerators; its XML shows which of ours have no text."""
    for path in sorted(folder.glob("xml/*.xml")):
        for member in ElementTree.parse(path).getroot().iter("memberdef"):
            location = member.find("location")
            if member.get("kind") != "enum" or not location.get("file").startswith("nvdla/"):
                continue
            for value in member.iter("enumvalue"):
                text = "".join(value.find("briefdescription").itertext())
                text += "".join(value.find("detaileddescription").itertext())
                if not text.strip():
                    yield (f"runtime/include/{location.get('file')}:{location.get('line')}: "
                           f"enumerator {member.findtext('name')}::{value.findtext('name')} "
                           "is not documented")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", "docs/reference/Doxyfile"], cwd=ROOT, capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL,
                          env=os.environ | {"NVDLA_DOCS": str(folder), "NVDLA_VERSION": version()})
    complaints = [line for line in (line.removeprefix(f"{ROOT}/")
                                    for line in done.stderr.splitlines())
                  if not IGNORED.search(line) and not KERNEL_DOC.search(line)]
    complaints += sorted(set(silent_enumerators(folder)))
    pages = len(list(folder.glob("html/*.html")))
    print(*complaints, f"{folder}/html/index.html: {pages} pages, {len(complaints)} complaints",
          sep="\n")
    return 1 if complaints or done.returncode or pages < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
