# SPDX-License-Identifier: MIT
"""The table: a section for each instruction set, what it comes to, and the targets."""

# Of a layer: threads and whether caches were swept.
COLUMNS = ((1, False), (1, True), (2, False), (2, True))


def ratio_text(case, side):
    """Return how many times as long as the model the side takes."""
    there = case and side in case.get("sides", {})
    return f"{case['sides'][side]['ratio']:6.2f}" if there else "     -"


def grouped(run, *groups):
    """Yield each name of the groups with its cases, by threads and cold, in their order."""
    found = {}
    for case in run["cases"]:
        if case["group"] in groups:
            found.setdefault(case["name"], {})[case["threads"], case["cold"]] = case
    yield from found.items()


def show_layers(run):
    rows = list(grouped(run, "conv", "first", "fc"))
    if not rows:
        return
    print(f"{'':24}{'1 thread, warm':>22}{'oneDNN s8s8 / ours':>25}{'oneDNN u8s8 / ours':>25}"
          f"{'2 to 1':>8}")
    heads = "".join(f"{threads}{'c' if cold else 'w':<2}".rjust(6) for threads, cold in COLUMNS)
    print(f"{'int8 layer':24}{'MMAC':>6}{'us':>8}{'GMAC/s':>8} {heads} {heads}  thread")
    for name, cases in rows:
        base = cases.get((1, False))
        text = f"{name:24}" + " " * 22
        if base and "sides" in base:
            seconds = base["sides"]["ours"]["seconds"]
            text = (f"{name:24}{base['macs'] / 1e6:6.1f}{seconds * 1e6:8.1f}"
                    f"{base['macs'] / seconds / 1e9:8.1f}")
        for side in ("s8s8", "u8s8"):
            text += " " + "".join(ratio_text(cases.get(column), side) for column in COLUMNS)
        print(text + "  " + ratio_text(cases.get((2, False)), "ours, 1 thread"))


def show_scaled(run):
    rows = list(grouped(run, "scaled"))
    if rows:
        print(f"\n{'':24}{'1 thread':>14}{'s8s8 / ours':>18}{'u8s8 / ours':>18}")
        heads = "".join(f"{threads:>9}" for threads in (1, 2))
        print(f"{'int8 layer with scales':24}{'MMAC':>6}{'us':>8}{heads}{heads}")
    for name, cases in rows:
        base = cases.get((1, False))
        text = f"{name:24}" + " " * 14
        if base and "sides" in base:
            text = (f"{name:24}{base['macs'] / 1e6:6.1f}"
                    f"{base['sides']['ours']['seconds'] * 1e6:8.1f}")
        for side in ("s8s8", "u8s8"):
            text += "".join("   " + ratio_text(cases.get((threads, False)), side)
                            for threads in (1, 2))
        print(text)


def measured(run, *groups):
    """Yield name and case of each that was measured."""
    for name, cases in grouped(run, *groups):
        yield from ((name, case) for case in cases.values() if "sides" in case)


def show_pairs(run, group, title, side):
    """Show microseconds of the model and of one side, with what that one took."""
    rows = list(measured(run, group))
    if rows:
        print(f"\n{title:33}{'ours us':>10}{side + ' us':>10}{side + ' / ours':>13}  peer")
    for name, case in rows:
        ours, peer = case["sides"]["ours"], case["sides"][side]
        print(f"{name:33}{ours['seconds'] * 1e6:10.1f}{peer['seconds'] * 1e6:10.1f}"
              f"{peer['ratio']:13.2f}  {case['peer']}")


def show_pixels(run):
    show_pairs(run, "pixels", "first layer from pixels", "s8s8")


def show_times(run, group, title, heads, more):
    """Show milliseconds of whole networks, and what more(case) says under the heads."""
    rows = list(measured(run, group))
    if rows:
        print(f"\n{title:33}{'threads':>8}{'ours ms':>10}{'s8s8 ms':>10}{'ours / s8s8':>13}{heads}")
    for name, case in rows:
        ours, peer = (case["sides"][side] for side in ("ours", "s8s8"))
        print(f"{name:33}{case['threads']:8}{ours['seconds'] * 1e3:10.2f}"
              f"{peer['seconds'] * 1e3:10.2f}{1 / peer['ratio']:13.2f}{more(case)}")


def show_networks(run):
    show_times(run, "network", "network", f"{'2 to 1 thread':>15}",
               lambda case: f"{ratio_text(case, 'ours, 1 thread'):>15}")


def show_lives(run):
    def memory(case):
        grown = (case["sides"][side].get("mebibytes") for side in ("ours", "s8s8"))
        return "".join(f"{'-':>10}" if size is None else f"{size:10.1f}" for size in grown)

    show_times(run, "life", "life of a network", f"{'ours MiB':>10}{'s8s8 MiB':>10}", memory)


def show_units(run):
    show_pairs(run, "unit", "unit, 64 x 56 x 56", "peer")


def show_exact(run):
    rows = list(measured(run, "exact"))
    if rows:
        print(f"\n{'exact 3x3 convolution':33}{'ours ms':>10}{'GMAC/s':>10}"
              f"{'oneDNN f32, GMAC/s':>20}")
    for name, case in rows:
        speeds = [case["macs"] / case["sides"][side]["seconds"] / 1e9 for side in ("ours", "f32")]
        print(f"{name:33}{case['sides']['ours']['seconds'] * 1e3:10.2f}{speeds[0]:10.2f}"
              f"{speeds[1]:20.1f}")


def show_latency(run):
    rows = list(measured(run, "latency"))
    if rows:
        print(f"\n{'latency':50}{'us':>12}")
    for name, case in rows:
        print(f"{name:50}{case['sides']['ours']['seconds'] * 1e6:12.1f}")


def show_targets(runs):
    rows = [(run["instruction_set"], target) for run in runs for target in run["targets"]]
    if not rows:
        return
    print(f"\n{'target':62}{'set':>13}{'':>14}{'measured':>9}  reached")
    for name, target in rows:
        aim = f"{target['sense']} {target['target']:g}"
        print(f"{target['what']:62}{name:>13}{aim:>14}{target['measured']:9.2f}  "
              f"{'yes' if target['reached'] else 'no'}")


def show(document, show_trained):
    """Print all of it; show_trained(cases) prints trained networks."""
    machine, runs = document["machine"], document["runs"]
    print(f"machine: {machine['processor']} ({machine['family']}), "
          f"{', '.join(machine['instruction_sets']) or 'none that matters'}; "
          f"cores: {machine['cores']}, load {machine['load']:.1f}")
    print("One thread: processor's time. Two threads: time on the wall, of a machine that others "
          "may share.\nRatios are medians of pairs that were measured in turns. Of layers 1w, 1c, 2w, 2c "
          "are one and two\nthreads with warm and with cold caches.")
    if document["quick"]:
        print("One round each: THESE NUMBERS MEAN NOTHING.")
    for run in runs:
        print(f"\n== {run['instruction_set']}: kernels {run['kernels']}; {run['peer']} "
              f"({run['peer_instruction_set']})")
        for part in (show_layers, show_scaled, show_pixels, show_networks, show_lives, show_units, show_exact,
                     show_latency):
            part(run)
    if document["trained"]:
        print("\n== both free; processes take turns")
        show_trained(document["trained"])
    print()
    for run in runs:
        for words, value in run["lines"]:
            print(f"{words}: {value:.2f}")
    show_targets(runs)
