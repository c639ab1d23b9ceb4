# SPDX-License-Identifier: MIT
"""What the numbers of one run come to: means, and targets with whether they are reached."""

import math

# For each instruction set; what a set is not told of has no target.
AT_LEAST, AT_MOST = "at least", "at most"
TARGETS = (
    ("int8 convolutions, geometric mean over oneDNN s8s8, 1 thread", AT_LEAST,
     {"AMX": 1.1, "AVX-512 VNNI": 1.2, "AVX2": 0.9, "AVX-VNNI": 1.1}),
    ("first layers", AT_LEAST, {"AMX": 1.2, "AVX-512 VNNI": 1.3, "AVX2": 1.0, "AVX-VNNI": 1.0}),
    ("two threads against one", AT_LEAST,
     {"AMX": 1.7, "AVX-512 VNNI": 1.8, "AVX2": 1.8, "AVX-VNNI": 1.8}),
    ("whole ResNet-50, ours / oneDNN's convolutions with sums", AT_MOST,
     {"AMX": 1.5, "AVX-512 VNNI": 1.2, "AVX2": 1.3, "AVX-VNNI": 1.3}),
    ("int16 exact, GMAC/s of one core", AT_LEAST,
     {"AMX": 250, "AVX-512 VNNI": 60, "AVX2": 25, "AVX-VNNI": 25}),
    ("fp16 exact, GMAC/s", AT_LEAST,
     {"AMX": 1.5, "AVX-512 VNNI": 1.5, "AVX2": 0.7, "AVX-VNNI": 0.7}),
    ("fp16 fast, GMAC/s", AT_LEAST, {"AMX": 100, "AVX-512 VNNI": 60, "AVX2": 25, "AVX-VNNI": 25}),
    ("slowest of the other units in int8, of the peer's speed", AT_LEAST,
     {"AMX": 0.5, "AVX-512 VNNI": 0.5, "AVX2": 0.5, "AVX-VNNI": 0.5}),
    ("slowest of the other units in fp16, of the peer's speed", AT_LEAST,
     {"AMX": 0.5, "AVX-512 VNNI": 0.5, "AVX2": 0.5, "AVX-VNNI": 0.5}),
)
CONVOLUTIONS = ("conv", "first")


def geometric_mean(values):
    """Return it, or None of nothing."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def chosen(run, groups, threads=1, cold=False):
    """Return the cases of these groups that were measured."""
    return [case for case in run["cases"] if case["group"] in groups and "sides" in case and
            case["threads"] == threads and case["cold"] == cold]


def ratios(cases, side):
    """Return how many times as long as the model this side takes."""
    return [case["sides"][side]["ratio"] for case in cases if side in case["sides"]]


def named(run, group, name, threads=1):
    """Return one case, or None."""
    return next((case for case in chosen(run, (group,), threads) if case["name"] == name), None)


def speed(run, name):
    """Return GMAC/s of an exact case, or None."""
    case = named(run, "exact", name)
    return case and case["macs"] / case["sides"]["ours"]["seconds"] / 1e9


def slowest_unit(run, precision):
    """Return the least share of the peer's speed."""
    return min(ratios([case for case in chosen(run, ("unit",))
                       if case["name"].endswith(precision)], "peer"), default=None)


def whole_network(run, threads=1):
    """Return how many times as long as the peer the model takes for ResNet-50, or None."""
    case = named(run, "network", "resnet50", threads)
    return case and 1 / case["sides"]["s8s8"]["ratio"]


def count_of(threads):
    return f"{threads} thread{'s' if threads > 1 else ''}"


def lines(run):
    """Return what the run comes to, as pairs of words and a number."""
    name, found = run["instruction_set"], []
    for title, groups in (("geometric mean", CONVOLUTIONS), ("first layers", ("first",)),
                          ("fully connected layers", ("fc",))):
        for cold in (False, True):
            for threads in (1, 2):
                cases = chosen(run, groups, threads, cold)
                for side in ("s8s8", "u8s8"):
                    found.append((f"{title}, oneDNN {side} / ours, {count_of(threads)}, "
                                  f"{'cold, ' if cold else ''}{name}",
                                  geometric_mean(ratios(cases, side))))
    found.append((f"first layers from pixels, oneDNN s8s8 / ours, 1 thread, {name}",
                  geometric_mean(ratios(chosen(run, ("pixels",)), "s8s8"))))
    for threads in (1, 2):
        for side in ("s8s8", "u8s8"):
            found.append((f"layers with scales, oneDNN {side} / ours, {count_of(threads)}, {name}",
                          geometric_mean(ratios(chosen(run, ("scaled",), threads), side))))
    for title, groups in (("geometric mean", CONVOLUTIONS), ("ResNet-50", ("network",))):
        cases = [case for case in chosen(run, groups, 2)
                 if groups != ("network",) or case["name"] == "resnet50"]
        found.append((f"{title}, ours, 2 threads against 1, {name}",
                      geometric_mean(ratios(cases, "ours, 1 thread"))))
    for threads in (1, 2):
        found.append((f"ResNet-50, ours / oneDNN s8s8, {count_of(threads)}, {name}",
                      whole_network(run, threads)))
    return [(words, value) for words, value in found if value is not None]


def targets(run):
    """Return each target of the instruction set that was measured."""
    measured = (
        geometric_mean(ratios(chosen(run, CONVOLUTIONS), "s8s8")),
        geometric_mean(ratios(chosen(run, ("first",)), "s8s8")),
        geometric_mean(ratios(chosen(run, CONVOLUTIONS, 2), "ours, 1 thread")),
        whole_network(run),
        speed(run, "int16"),
        speed(run, "fp16"),
        speed(run, "fp16 fast"),
        slowest_unit(run, "int8"),
        slowest_unit(run, "fp16"),
    )
    found = []
    for (words, sense, aims), value in zip(TARGETS, measured, strict=True):
        aim = aims.get(run["instruction_set"])
        if aim is None or value is None:
            continue
        reached = value >= aim if sense == AT_LEAST else value <= aim
        found.append({"what": words, "sense": sense, "target": aim, "measured": value,
                      "reached": reached})
    return found
