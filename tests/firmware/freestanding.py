#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Build the firmware without a C library and prove what its objects are.

- No symbol is undefined but the compiler's own memory functions: no libc, no
  helper for 64-bit division, no software float.
- Nothing is writable: .data, .bss and their like are empty.
- Floats do not compile (or would need a helper, see above).
- No stack frame is above 1 KiB, and (gcc, which writes the call graph) no
  function reaches itself, so the depth of the stack is known; it is printed.

Leaves sizes.json in the output directory.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAME_LIMIT = 1024

CLANG = ["clang-14", "-nostdlibinc"]
TARGETS = {
    "x86-64": [*CLANG, "--target=x86_64-linux-gnu", "-mgeneral-regs-only", "-mno-red-zone"],
    "i386": [*CLANG, "--target=i386-linux-gnu", "-mgeneral-regs-only"],
    "aarch64": [*CLANG, "--target=aarch64-linux-gnu", "-mgeneral-regs-only"],
    "arm": [*CLANG, "--target=arm-linux-gnueabi", "-march=armv7-a", "-msoft-float"],
    "riscv64": [*CLANG, "--target=riscv64-linux-gnu", "-march=rv64imac", "-mabi=lp64"],
    "gcc-x86-64": ["gcc", "-mgeneral-regs-only", "-mno-red-zone"],
    "gcc-i386": ["gcc", "-m32", "-mgeneral-regs-only"],
}
FLAGS = [
    "-std=gnu11", "-O2", "-ffreestanding", "-fno-pic", "-fno-pie", "-fno-common",
    "-fno-asynchronous-unwind-tables", "-fno-stack-protector",
    "-Wall", "-Wextra", "-Werror", "-Wvla", "-Wundef", "-Wstrict-prototypes",
    "-Wmissing-prototypes", "-Wdeclaration-after-statement", "-Wimplicit-fallthrough",
    f"-Wframe-larger-than={FRAME_LIMIT}",
    f"-I{ROOT}/firmware/include", f"-I{ROOT}/uapi", f"-I{ROOT}",
]
# Compilers call these by themselves, kernels have them.
ALLOWED = {"memcpy", "memset", "memmove", "memcmp"}
# Division of 32-bit numbers where the processor has none; Linux has these.
ALLOWED_ON = {"arm": {"__aeabi_uidiv", "__aeabi_uidivmod", "__aeabi_idiv", "__aeabi_idivmod"}}
WRITABLE = re.compile(r"^\.(s?data|s?bss|tdata|tbss|data\.rel)\b(?!\.ro)")


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def symbols(obj):
    """Return the symbols that an object defines and those that it needs."""
    defined, needed = set(), set()
    for line in run("llvm-nm-14", "--format=posix", obj).splitlines():
        name, kind = line.split()[:2]
        (needed if kind in "Uwv" else defined).add(name)
    return defined, needed


def sections(obj):
    """Yield (name, size) of the sections that are loaded."""
    for line in run("llvm-size-14", "-A", obj).splitlines():
        match = re.match(r"(\.\S+)\s+(\d+)\s+\d+$", line)
        if match and int(match[2]):
            yield match[1], int(match[2])


def sizes(obj):
    total = {"text": 0, "rodata": 0, "writable": 0}
    for name, size in sections(obj):
        if name.startswith(".text"):
            total["text"] += size
        elif name.startswith(".rodata") or name.startswith(".srodata"):
            total["rodata"] += size
        elif WRITABLE.match(name):
            total["writable"] += size
    return total


def call_graph(files):
    """Read gcc's call graphs: {function: frame size}, {function: callees}."""
    frames, calls = {}, {}
    for path in files:
        for line in path.read_text().splitlines():
            node = re.match(r'node: \{ title: "([^"]+)" label: "(.*?)"', line)
            edge = re.match(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', line)
            if node:
                size = re.search(r"(\d+) bytes", node[2])
                if size:
                    frames[node[1]] = int(size[1])
            elif edge:
                calls.setdefault(edge[1], set()).add(edge[2])
    return frames, calls


def deepest(frames, calls):
    """Return (bytes, chain) of the deepest stack; exits if a call is a cycle."""
    known, path = {}, []

    def visit(name):
        if name in path:
            cycle = path[path.index(name):] + [name]
            sys.exit("recursion: " + " -> ".join(cycle))
        if name not in known:
            path.append(name)
            below = max((visit(callee) for callee in calls.get(name, ())), default=(0, []))
            path.pop()
            known[name] = (frames.get(name, 0) + below[0], [name] + below[1])
        return known[name]

    return max((visit(name) for name in sorted(frames)), default=(0, []))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", choices=TARGETS, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    args = parser.parse_args()

    gcc = args.target.startswith("gcc")
    compiler = TARGETS[args.target] + FLAGS
    if gcc:
        # Without inlining of calls in tail position no edge is lost.
        compiler += ["-fcallgraph-info=su", "-fno-optimize-sibling-calls"]
    args.output.mkdir(parents=True, exist_ok=True)

    faults, table = [], {}
    defined, needed = set(), {}
    objects = []
    for source in args.sources:
        name = str(source.resolve().relative_to(ROOT / "firmware"))
        obj = args.output / name.replace(os.sep, "-").replace(".c", ".o")
        objects.append(obj)
        run(*compiler, "-c", source, "-o", obj)
        has, wants = symbols(obj)
        defined |= has
        for symbol in wants:
            needed.setdefault(symbol, name)
        table[name] = sizes(obj)
        if table[name]["writable"]:
            faults += [f"{name}: {section} has {size} bytes, there are to be no globals"
                       for section, size in sections(obj) if WRITABLE.match(section)]

    allowed = ALLOWED | ALLOWED_ON.get(args.target, set())
    for symbol in sorted(needed.keys() - defined):
        if symbol in allowed:
            print(f"note: {needed[symbol]} needs {symbol}")
        else:
            faults.append(f"{needed[symbol]}: needs {symbol}, which nobody has")

    depth = None
    if gcc:
        depth, chain = deepest(*call_graph(obj.with_suffix(".ci") for obj in objects))
        print(f"deepest stack {depth} bytes: " + " > ".join(
            function.rsplit(":", 1)[-1] for function in chain))
    (args.output / "sizes.json").write_text(json.dumps({"objects": table, "stack": depth}))
    print(*faults, sep="\n")
    print(f"{args.target}: {len(args.sources)} objects, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
