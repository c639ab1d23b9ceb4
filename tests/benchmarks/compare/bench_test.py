#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""bench_test.py PROGRAM FILTER SETS: do all cases of `make bench` run, and agree with their peers?

One round of each: what times they take is for people. A wrong argument and a full disk are
told apart.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).with_name("bench.py")
# Both as they choose, and portable kernels.
NO_TARGETS = ("free", "SSE4.1")
# A line of the table for each part of it.
PARTS = ("int8 layer", "int8 layer with scales", "first layer from pixels", "network ", "life of a network", "unit, ", "exact 3x3 convolution",
         "latency ")


def bench(program, *options, stdout=subprocess.PIPE):
    """Return status, output and messages."""
    done = subprocess.run([BENCH, program, "--quick", *options], stdout=stdout,
                          stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def wrong_numbers(document):
    """Yield what is wrong with the JSON."""
    if not document["machine"]["processor"] or not document["quick"]:
        yield "the machine or how it was measured is missing"
    for one in document["runs"]:
        name = one["instruction_set"]
        for case in one["cases"]:
            for side, numbers in case["sides"].items():
                if not all(math.isfinite(value) and value > 0 for value in numbers.values()):
                    yield f"{name}: {case['name']}: {side}: {numbers}"
        words = [line[0] for line in one["lines"]]
        for line in (f"geometric mean, oneDNN s8s8 / ours, 1 thread, {name}",
                     f"ResNet-50, ours / oneDNN s8s8, 1 thread, {name}"):
            if line not in words:
                yield f"no line '{line}'"
        if name not in NO_TARGETS and not one["targets"]:
            yield f"{name}: no target"


def check_run(program, wanted, sets):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "bench.json"
        status, said, errors = bench(program, "--filter", wanted, "--sets", sets, "--json", out)
        if status != 0:
            return [f"status {status}: {errors}"]
        document = json.loads(out.read_text())
    wrong = list(wrong_numbers(document))
    wrong += [f"the table has no part '{part}'" for part in PARTS if part not in said]
    wrong += [f"the table has no line '{words}'" for one in document["runs"]
              for words, value in one["lines"] if f"\n{words}: {value:.2f}\n" not in said]
    print(said)
    return wrong


def check_refusals(program):
    for options, expected, text in (
            (("--sets", "abacus"), 2, "not 'abacus'"),
            (("--sets", "free", "--filter", "no such case"), 2, "no case is like 'no such case'"),
            (("--sets", "free", "--filter", "unit/copy int8", "--json", "/dev/full"), 4, "space")):
        status, _, errors = bench(program, *options)
        if status != expected or text not in errors:
            yield f"{options}: status {status}, expected {expected}: {errors}"
    with open("/dev/full", "w", encoding="utf-8") as full:
        status, _, errors = bench(program, "--sets", "free", "--filter", "unit/copy int8",
                                  stdout=full)
    if status != 4 or "space" not in errors:
        yield f"a full disk: status {status}, expected 4: {errors}"


def main():
    program, wanted, sets = sys.argv[1:]
    wrong = check_run(program, wanted, sets) + list(check_refusals(program))
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
