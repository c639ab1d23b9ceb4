#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Time trained int8 networks on the model beside ONNX Runtime; `make bench` calls it, too.

Both sides run the same file of integers with scales (QuantizeLinear and DequantizeLinear), from
floats to floats, in processes of their own that take turns. Exit status: 0, 1 if a case failed or
gave other numbers than its peer, 2 for wrong arguments, 3 if what it needs is not there.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TRAINED = HERE.parents[1] / "import" / "trained"
OURS, THEIRS = "ours", "ONNX Runtime"
# Networks by the names that tests/import/trained/networks.py has; the last three have drawn weights.
NAMES = ("mobilenet_v2", "text_direction", "text_detection", "inception_v3", "resnet50",
         "mobilenetv1", "squeezenet")
ROUNDS, TURN_SECONDS = 9, .06
# Requests: devices or sessions and the threads of each, so many in flight, and how they are timed.
SERVED, IN_FLIGHT = ((1, 2), (2, 1)), 4
SERVED_ROUNDS, SERVED_SECONDS, SERVED_COUNT = 5, .4, (25, 100)
# The cosine of the results of both sides, which round ties otherwise.
LEAST_ALIKE = .98


class Unavailable(Exception):
    """Why no network can be measured."""


class Failed(Exception):
    """What is wrong with a network or a side."""


class Side:
    """A process that obeys lines and replies with JSON."""

    def __init__(self, command, folder=None):
        environment = {name: value for name, value in os.environ.items()
                       if name != "NVDLA_KERNELS"}
        self.command = command
        self.process = subprocess.Popen(command, cwd=folder, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.outputs = self.reply()["outputs"]

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.command[0]}: status {self.process.wait()}")
        return json.loads(line)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.reply()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Prepared:
    """A network as both sides take it."""

    def __init__(self, network, program, nvdla):
        scripts = max(path.stat().st_mtime for path in TRAINED.iterdir() if path.is_file())
        self.network, self.program = network, program
        self.model, self.input = network.folder / "int8.onnx", network.folder / "bench.f32"
        if not self.model.exists() or self.model.stat().st_mtime < scripts:
            network.quantised()
        network.draw(count=1).tofile(self.input)
        self.loadable = network.compile(nvdla, self.model, "nv_full")

    def sides(self, devices, threads):
        """Both sides, ours first."""
        ours = Side([self.program, self.loadable, self.input, str(devices), str(threads)])
        theirs = Side(["node", HERE / "onnx_runtime.js", self.model, self.network.sizes_text(),
                       self.input, str(devices), str(threads)], self.network.folder.parent)
        return ours, theirs


def cosine(a, b):
    """The cosine of the angle between two lists."""
    products = sum(x * y for x, y in zip(a, b, strict=True))
    return products / max(math.hypot(*a) * math.hypot(*b), 1e-30)


def expect_alike(ours, theirs):
    results = [side.ask("output")["values"] for side in (ours, theirs)]
    if len(results[0]) != len(results[1]):
        raise Failed(f"{len(results[0])} elements, {THEIRS} has {len(results[1])}")
    alike = cosine(*results)
    if not alike >= LEAST_ALIKE:
        raise Failed(f"the cosine to the peer's results is {alike:.4f}, expected {LEAST_ALIKE}")


def in_turns(sides, rounds, measure):
    """What measure(side) returns for each side, a list of rounds; back and forth."""
    found = [[] for _ in sides]
    for turn in range(rounds):
        order = range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides)))
        for i in order:
            sides[i].ask("run", 1)
            found[i].append(measure(sides[i]))
    return found


def timed(times):
    """Median seconds of both sides, and the peer's ratio to ours, by rounds."""
    ratios = [b / a for a, b in zip(*times)]
    return {OURS: {"seconds": statistics.median(times[0]), "ratio": 1.0},
            THEIRS: {"seconds": statistics.median(times[1]), "ratio": statistics.median(ratios)}}


def time_of(reply, threads):
    """Seconds of a run: one thread is timed by the processor, which others disturb little."""
    return reply["processor"] if threads == 1 else statistics.median(reply["seconds"])


def run_case(prepared, threads, quick):
    """Sides of a network that runs alone."""
    ours, theirs = prepared.sides(1, threads)
    with ours, theirs:
        expect_alike(ours, theirs)
        counts = {side: 1 if quick else
                  math.ceil(TURN_SECONDS / side.ask("run", 5)["processor"])
                  for side in (ours, theirs)}
        return timed(in_turns(
            (ours, theirs), 1 if quick else ROUNDS,
            lambda side: time_of(side.ask("run", counts[side]), threads)))


def percentile(times, share):
    return sorted(times)[min(math.floor(len(times) * share), len(times) - 1)]


def served_case(prepared, devices, threads, quick):
    """Sides of a network of which several requests are in flight."""
    ours, theirs = prepared.sides(devices, threads)
    with ours, theirs:
        one = statistics.median(theirs.ask("run", 5)["seconds"])
        count = IN_FLIGHT if quick else sorted((SERVED_COUNT[0], math.ceil(SERVED_SECONDS / one),
                                                SERVED_COUNT[1]))[1]
        for side in (ours, theirs):
            side.ask("serve", IN_FLIGHT, IN_FLIGHT)
        found = in_turns((ours, theirs), 1 if quick else SERVED_ROUNDS,
                         lambda side: side.ask("serve", count, IN_FLIGHT))
    sides = timed([[reply["seconds"] / count for reply in replies] for replies in found])
    for side, replies in zip(sides.values(), found):
        latencies = [time for reply in replies for time in reply["latencies"]]
        side |= {"p50": percentile(latencies, .5), "p99": percentile(latencies, .99)}
    return sides


def cases_of(name):
    """Group, name, threads, and what measures the case, of a network."""
    for threads in (1, 2):
        yield ("trained", name, threads,
               lambda prepared, quick, threads=threads: run_case(prepared, threads, quick))
    for devices, threads in SERVED:
        yield ("served", f"{name} {devices}x{threads}", devices * threads,
               lambda prepared, quick, shape=(devices, threads):
               served_case(prepared, *shape, quick))


def wanted_cases(expression):
    """The cases of each network that are like an expression of bench_compare's."""
    no, expression = expression.startswith("-"), expression.removeprefix("-")
    return {name: cases for name in NAMES
            if (cases := [case for case in cases_of(name)
                          if no != bool(re.search(expression,
                                                  f"{case[0]}/{case[1]}/threads:{case[2]}/warm"))])}


def prepare(folder):
    """Makers of all networks, by name."""
    folder = folder.resolve()
    sys.path.insert(0, str(TRAINED))
    try:
        import networks  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Unavailable(f"{error} (packages.txt has the packages)") from None
    try:
        networks.fetch(folder)
        return networks.all_networks(folder)
    except networks.Unreachable as error:
        raise Unavailable(error) from None


def measure(program, nvdla, folder, expression="", quick=False, progress=lambda text: None):
    """Return the cases that are like the expression; those that fail have an "error"."""
    wanted = wanted_cases(expression)
    if not wanted:
        return []
    makers, cases = prepare(folder), []
    for name, measured in wanted.items():
        try:
            prepared = Prepared(makers[name](), program.resolve(), nvdla.resolve())
        except FileNotFoundError as error:
            raise Unavailable(error) from None
        except subprocess.CalledProcessError as error:
            cases.append({"group": "trained", "name": name, "threads": 1, "cold": False,
                          "peer": THEIRS, "error": str(error)})
            continue
        for group, title, threads, run in measured:
            progress(f"{group}/{title}/threads:{threads}")
            case = {"group": group, "name": title, "threads": threads, "cold": False,
                    "peer": THEIRS}
            try:
                cases.append(case | {"sides": run(prepared, quick)})
            except Failed as error:
                cases.append(case | {"error": str(error)})
    return cases


def geometric_mean(cases, threads):
    """How many times as long as the peer the model takes, of networks that run alone, or None."""
    ratios = [case["sides"][THEIRS]["ratio"] for case in cases
              if case["group"] == "trained" and case["threads"] == threads and "sides" in case]
    return math.exp(-sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def show(cases):
    """Print a table of networks that run alone, and one of requests in flight."""
    rows = [case for case in cases if case["group"] == "trained" and "sides" in case]
    if rows:
        print(f"\n{'trained network, int8':33}{'threads':>8}{'ours ms':>10}{THEIRS + ' ms':>17}"
              f"{'ours / theirs':>15}")
    for case in rows:
        ours, theirs = case["sides"].values()
        print(f"{case['name']:33}{case['threads']:8}{ours['seconds'] * 1e3:10.2f}"
              f"{theirs['seconds'] * 1e3:17.2f}{1 / theirs['ratio']:15.2f}")
    for threads in (1, 2):
        mean = geometric_mean(cases, threads)
        if mean is not None:
            print(f"{'geometric mean':33}{threads:8}{'':27}{mean:15.2f}")
    rows = [case for case in cases if case["group"] == "served" and "sides" in case]
    if rows:
        print(f"\n{f'{IN_FLIGHT} in flight, queues x threads':42}{'ours 1/s':>10}"
              f"{'p99/p50':>9}{THEIRS + ' 1/s':>18}{'p99/p50':>9}{'ours / theirs':>15}")
    for case in rows:
        ours, theirs = case["sides"].values()
        print(f"{case['name']:42}{1 / ours['seconds']:10.1f}{ours['p99'] / ours['p50']:9.2f}"
              f"{1 / theirs['seconds']:18.1f}{theirs['p99'] / theirs['p50']:9.2f}"
              f"{1 / theirs['ratio']:15.2f}")


def show_profiles(options):
    """Print where the time of each network goes, by the kinds of its layers."""
    import layer_kinds  # pylint: disable=import-outside-toplevel
    makers = prepare(options.folder)
    for name in wanted_cases(options.filter):
        prepared = Prepared(makers[name](), options.program.resolve(), options.nvdla.resolve())
        ours, theirs = prepared.sides(1, options.threads)
        with ours, theirs:
            profiles = [side.ask("profile", 2 if options.quick else 30) for side in (ours, theirs)]
        layer_kinds.show(name, options.threads, prepared.model, *profiles)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help="bench_trained")
    parser.add_argument("nvdla", type=pathlib.Path, help="the command, which compiles")
    parser.add_argument("folder", type=pathlib.Path, help="keeps what npm fetches")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases like it")
    parser.add_argument("--quick", action="store_true", help="one round of each")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all numbers, too")
    parser.add_argument("--profile", action="store_true",
                        help="milliseconds by the kinds of layers, in place of the cases")
    parser.add_argument("--threads", type=int, default=1, help="of --profile; 1 unless given")
    options = parser.parse_args()
    try:
        if options.profile:
            show_profiles(options)
            return 0
        cases = measure(options.program, options.nvdla, options.folder, options.filter,
                        options.quick, lambda text: print(text, file=sys.stderr))
    except Unavailable as error:
        print(f"trained_bench.py: {error}", file=sys.stderr)
        return 3
    show(cases)
    if options.json:
        options.json.write_text(json.dumps(cases, indent=1) + "\n")
    failures = [case for case in cases if "error" in case]
    for case in failures:
        print(f"trained_bench.py: {case['group']}/{case['name']}: {case['error']}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
