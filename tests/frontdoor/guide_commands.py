#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run every command of the guides as it is written there, in the order of each page.

As readme_commands.py, whose words these are: a command without an entry fails, and so does an
entry whose command no page has. Commands of one page share a folder of links to the tree, so
that they find what earlier ones wrote, and the programs of build/bin.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import readme_commands
from readme_commands import ROOT, Run, dry

PICTURE = "runtime/examples/digits/images/five-dejavu-serif-sheared.png"
PATH = "export PATH=$PWD/build/bin:$PATH"
# Another program's word in the place of a path that a user chooses.
BLOB = (("board.dtb", "tests/fuzz/corpus/dt/sram"),)

ANYWHERE = {
    "make build": dry(r"cmake --build build --parallel \d+ --target product"),
    PATH: Run(r""),
    "digits --save digits.nvdla": Run(r""),
}

PAGES = {
    "docs/guide-application.md": {
        **ANYWHERE,
        "nvdla info": Run(r"nv_medium_1024_full"),
        "nvdla dump digits.nvdla": Run(r"conv 0"),
        f"nvdla run digits.nvdla --input {PICTURE}": Run(r"scores: 10x1x1 int8"),
        f"nvdla run digits.nvdla --input {PICTURE} --json": Run(r'^\{.*"scores"'),
        f"nvdla run digits.nvdla --input {PICTURE} --output scores.dimg": Run(r""),
        "nvdla run digits.nvdla --stats": Run(r"conv 0"),
        "nvdla profile digits.nvdla --svg profile.svg": Run(r"conv 0"),
        "nvdla run digits.nvdla --compare model --dump-layers layers": Run(
            r"5 layers are as on model"),
        "cmake --install build --prefix prefix": Run(r"Installing: .*/prefix/bin/nvdla"),
        "cmake -S tests/examples/package -B consumer -DCMAKE_PREFIX_PATH=$PWD/prefix": Run(
            r"Build files have been written to: .*/consumer"),
        "cmake --build consumer": Run(r"Built target consumer"),
        "consumer/consumer": Run(r""),
    },
    "docs/guide-ci.md": {
        **ANYWHERE,
        "nvdla run digits.nvdla --record good.record": Run(r"scores: 10x1x1 int8"),
        "nvdla diff good.record model:nv_full": Run(r"no difference in 1 job"),
        "nvdla replay good.record": Run(r"1 passed, 0 failed, 0 skipped"),
        "nvdla replay --json good.record tests/golden": Run(r'^\{.*"failed": ?0\b'),
        # Until it listens; it ends with the page.
        "nvdla-device-server --device model:nv_small --simulator nvdla.socket &": Run(
            r"", instead=(("socket &", "socket 2>/dev/null >/dev/null & echo $! >server.pid; "
                           "until [ -S nvdla.socket ]; do sleep 0.1; done"),)),
        "nvdla selftest --device sim:nvdla.socket": Run(
            r"sim:nvdla.socket: 15 passed, 0 failed, 2 left out"),
        'make test STAGES="static freestanding"': dry(r"\.ci/stages\.sh static freestanding$"),
        "make test": dry(r"\.ci/stages\.sh *$"),
        "make emulate KERNEL=6.12": dry(r"tests/emulator/suite\.sh 6\.12 build"),
        "make test-all": dry(r"\.ci/stages\.sh --all"),
    },
    "docs/bring-up.md": {
        'nvdla dt node --address 0xc000000 --interrupt "0 112 4" --clock-khz 600000': Run(
            r"clock-frequency = <600000000>;"),
        "nvdla dt node --config nv_full --address 0xc000000 --interrupt 7 --overlay npu.dtbo":
            Run(r""),
        "nvdla dt check board.dtb": Run(r"1 device, 0 wrong", instead=BLOB),
        # What this machine was started with is not ours to say.
        "nvdla dt check": Run(r"(started with a device tree|no node is an NVDLA|device)",
                              status=None),
        "nvdla selftest --device model:nv_small": Run(
            r"model:nv_small: 15 passed, 0 failed, 2 left out"),
        "nvdla selftest --list": Run(r"^left-over "),
    },
}


def written(page):
    """Return the indented lines of a page that are commands."""
    found, fenced = [], False
    for line in (ROOT / page).read_text().splitlines():
        fenced ^= line.startswith("```")
        if fenced or not line.startswith("    "):
            continue
        command = re.split(r"\s+# ", line.strip())[0]
        # What a command prints begins otherwise.
        if re.match(r"(nvdla|digits|make|cmake|export|consumer|nvdla-device-server)\b", command):
            found.append(command)
    return list(dict.fromkeys(found))


def run_page(page, entries, scratch):
    """Yield what is wrong with a page's commands."""
    commands = written(page)
    for command in commands:
        if command not in entries:
            yield f"{page}: {command}: it has no entry in {pathlib.Path(__file__).name}"
    for command, entry in entries.items():
        if command not in commands:
            yield f"{page}: {command}: the page does not have it any more"
            continue
        entry.environment = {"PATH": f"{ROOT}/build/bin:/usr/bin:/bin"}
        wrong = readme_commands.run(command, entry, scratch)
        print(f"{'FAILED' if wrong else 'ran   '} {page}: {command}", flush=True)
        if wrong:
            yield f"{page}: {command}: {wrong}"


def main():
    failed = []
    for page, entries in PAGES.items():
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            (scratch / "tree").mkdir()
            for path in ROOT.iterdir():
                (scratch / "tree" / path.name).symlink_to(path)
            try:
                failed += run_page(page, entries, scratch)
            finally:
                server = scratch / "tree/server.pid"
                if server.exists():
                    subprocess.run(["kill", server.read_text().strip()], check=False)
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
