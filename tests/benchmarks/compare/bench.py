#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run bench_compare for each instruction set and print one table; `make bench` calls it.

On each instruction set that this processor has the model's kernels are held to it, and so is
oneDNN; then both choose freely, and so does ONNX Runtime in the cases of trained networks.
Exit status: 0, 1 if a case failed or gave other numbers than its peer, 2 for wrong arguments, 4
if the output could not be written, 5 if bench_compare itself failed.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import machine
import summary
import table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "trained"))
import trained_bench  # pylint: disable=wrong-import-position

# Kernels of the model (NVDLA_KERNELS): how the set is called, and ONEDNN_MAX_CPU_ISA.
SETS = {
    "portable": ("SSE4.1", "SSE41"),
    "avx2": ("AVX2", "AVX2"),
    "avxvnni": ("AVX-VNNI", "AVX2_VNNI"),
    "avx512": ("AVX-512 VNNI", "AVX512_CORE_VNNI"),
    "amx": ("AMX", "AVX512_CORE_AMX"),
}
FREE = "free"
# What is measured free if nothing is asked for: of the rest the best set says the same.
FREE_CASES = "^(conv|first|fc|network)/"


class Failed(Exception):
    """What ends the program: an exit status and a message."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help="bench_compare")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only cases like it: 'resnet50.*warm', '^unit/', 'threads:1'")
    parser.add_argument("--sets", default="", metavar="NAMES",
                        help=f"of {', '.join(SETS)}, {FREE}; all that this processor runs but "
                             "portable unless given")
    parser.add_argument("--quick", action="store_true",
                        help="one round of each: does it run? Its numbers mean nothing")
    parser.add_argument("--trained", nargs=2, type=pathlib.Path, metavar=("NVDLA", "FOLDER"),
                        help="also trained networks beside ONNX Runtime, where kernels are free: "
                             "the command that compiles them, and what keeps what npm fetches")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all numbers, too")
    return parser.parse_args()


def usable_sets(program):
    """Return the kernels that this processor runs, best last."""
    try:
        said = subprocess.run([program, "--sets"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed(2, f"{program}: {error}") from None
    names = said.stdout.split()
    for name in names:
        if name not in SETS:
            raise Failed(2, f"bench.py does not know what of oneDNN is like kernels '{name}'")
    return names


def wanted_sets(program, wanted):
    """Return the names that are measured, FREE last."""
    usable = usable_sets(program)
    if not wanted:
        return (usable[1:] or usable) + [FREE]
    names = re.split(r"[ ,]+", wanted.strip(" ,"))
    for name in names:
        if name not in usable + [FREE]:
            raise Failed(2, f"--sets: this processor runs {', '.join(usable)}, {FREE}; "
                            f"not '{name}'")
    return names


def case_of(benchmark):
    """Return what bench_compare says of a case: "group/name/threads:N/warm" and counters."""
    group, name, threads, cache = benchmark["name"].split("/")[:4]
    case = {"group": group, "name": name, "threads": int(threads.removeprefix("threads:")),
            "cold": cache == "cold", "peer": benchmark.get("label", "")}
    if benchmark.get("error_occurred"):
        return case | {"error": benchmark["error_message"]}
    sides = {key.removesuffix(" s"): {"seconds": value} for key, value in benchmark.items()
             if key.endswith(" s")}
    for side, numbers in sides.items():
        numbers["ratio"] = benchmark.get(f"{side} ratio", 1.0)
        if f"{side} MiB" in benchmark:
            numbers["mebibytes"] = benchmark[f"{side} MiB"]
    return case | {"macs": benchmark.get("macs", 0), "sides": sides}


def show_progress(text):
    """Rewrite the last line of a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text[:78]}")
        sys.stderr.flush()


def run(program, name, wanted, quick):
    """Return the cases of one instruction set, or None if there are none."""
    environment = dict(os.environ)
    # Idle threads of OpenMP would keep the processors of the model's.
    environment |= {"GOMP_SPINCOUNT": "1000"}
    for variable, value in zip(("NVDLA_KERNELS", "ONEDNN_MAX_CPU_ISA"),
                               (None, None) if name == FREE else (name, SETS[name][1])):
        environment.pop(variable, None)
        if value:
            environment[variable] = value
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        command = [program, f"--benchmark_filter={wanted}",
                   f"--benchmark_out={out}", "--benchmark_out_format=json"]
        command += ["--quick"] if quick else []
        messages = pathlib.Path(folder) / "messages"
        with messages.open("w") as to, subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=to, text=True) as process:
            for line in process.stdout:
                show_progress(f"{name}: {line.split('/iterations')[0]}")
        show_progress("")
        said = messages.read_text(errors="replace")
        if process.returncode != 0:
            raise Failed(2 if process.returncode == 2 else 5,
                         f"{program}: status {process.returncode}: {said[-500:]}")
        # Without a case there is no document.
        if not out.stat().st_size:
            return None
        document = json.loads(out.read_text())
    context = document["context"]
    cases = [case_of(benchmark) for benchmark in document["benchmarks"]]
    return {"instruction_set": FREE if name == FREE else SETS[name][0],
            "kernels": context["kernels"], "peer": context["peer"],
            "peer_instruction_set": context["peer_instruction_set"], "cases": cases}


def measure_trained(options):
    """Return the cases of trained networks; a message replaces them where they cannot be had."""
    nvdla, folder = options.trained
    try:
        return trained_bench.measure(options.program.with_name("bench_trained"), nvdla, folder,
                                     options.filter, options.quick, show_progress)
    except trained_bench.Unavailable as error:
        print(f"bench.py: no trained networks: {error}", file=sys.stderr)
        return []
    finally:
        show_progress("")


def measure(options):
    """Return all numbers."""
    names = wanted_sets(options.program, options.sets)
    document = {"machine": machine.describe(), "quick": options.quick, "runs": [], "trained": []}
    for name in names:
        few = FREE_CASES if name == FREE and len(names) > 1 else "."
        one = run(options.program, name, options.filter or few, options.quick)
        if one:
            document["runs"].append(one | {"lines": summary.lines(one),
                                           "targets": summary.targets(one)})
    if options.trained and FREE in names:
        document["trained"] = measure_trained(options)
    if not document["runs"] and not document["trained"]:
        raise Failed(2, f"--filter: no case is like '{options.filter}', or none can be measured")
    return document


def main():
    options = arguments()
    try:
        document = measure(options)
    except Failed as failed:
        print(f"bench.py: {failed}", file=sys.stderr)
        return failed.status
    except KeyboardInterrupt:
        return 130
    try:
        table.show(document, trained_bench.show)
        sys.stdout.flush()
        if options.json:
            options.json.write_text(json.dumps(document, indent=1) + "\n")
    except OSError as error:
        print(f"bench.py: {error}", file=sys.stderr)
        # Nothing more goes there when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 4
    failures = [(one, case) for one in document["runs"] for case in one["cases"] if "error" in case]
    failures += [({"instruction_set": FREE}, case) for case in document["trained"]
                 if "error" in case]
    for one, case in failures:
        print(f"bench.py: {one['instruction_set']}: {case['group']}/{case['name']}, threads: "
              f"{case['threads']}: {case['error']}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
