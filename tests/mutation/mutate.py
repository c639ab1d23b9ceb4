#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes small errors in the sources of a room, one at a time, and tells which ones no test notices.

Of the errors ("mutants") a sample is drawn, the same one in each run, and tried until the time is
up. What the compiler makes the same code of is no error. What survives is held against
equivalent.txt, which says of some why they change nothing; of others at most so many in a hundred
may be left (--most).
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import os
import pathlib
import queue
import sys
import tempfile
import time

import equivalent
import mutants
import rooms
import workshop

ROOT = pathlib.Path(__file__).resolve().parents[2]


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--room", choices=rooms.ROOMS, default="firmware")
    parser.add_argument("--files", default="*", help="pattern of the files to mutate")
    parser.add_argument("--sample", type=int, default=1500, help="mutants to draw")
    parser.add_argument("--all", action="store_true", help="all mutants, however long it takes")
    parser.add_argument("--minutes", type=float, default=15, help="stop after so many")
    parser.add_argument("--seed", default="0", help="draws another sample")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--most", type=float, default=3, help="survivors allowed, in a hundred")
    parser.add_argument("--check-list", action="store_true", help="only look at equivalent.txt")
    return parser.parse_args()


def draw(found, args):
    """An order in which each mutant has its place, whatever happens to the others."""

    def rank(mutant):
        return hashlib.sha256("\0".join((args.seed, mutant.kind, *mutant.key)).encode()).digest()

    found = sorted(found, key=lambda m: (rank(m), m.start))
    return found if args.all else found[: args.sample]


class Tally:
    """Of each folder: what became of its mutants."""

    def __init__(self):
        self.folders = collections.defaultdict(collections.Counter)
        self.survivors = []

    def add(self, mutant, fate, known):
        if fate == "survived":
            fate = "known" if mutant.key in known else "survived"
            if fate == "survived":
                self.survivors.append(mutant)
        elif fate not in ("invalid", "equal"):
            fate = "killed"
        self.folders[mutant.path.rpartition("/")[0]][fate] += 1

    def show(self):
        """The table, and how many of a hundred survived."""
        names = ("killed", "survived", "known")
        width = max(map(len, self.folders), default=0)
        print(f"{'room':{width}}  mutants  killed  survived  equivalent")
        total = collections.Counter()
        for folder, counts in sorted(self.folders.items()) + [("", total)]:
            if counts is not total:
                total.update(counts)
            tried = sum(counts[name] for name in names)
            numbers = "  ".join(
                f"{n:{w}}" for n, w in zip([tried] + [counts[n] for n in names], (7, 6, 8, 10))
            )
            print(f"{folder:{width}}  {numbers}")
        counted = total["killed"] + total["survived"]
        return 100 * total["survived"] / counted if counted else None


def try_all(drawn, sources, args, place):
    """Pairs of a mutant and its fate, until the time is up."""
    room = rooms.ROOMS[args.room]
    free = queue.SimpleQueue()
    for i in range(args.jobs):
        shop = workshop.Workshop(ROOT, args.build.resolve(), room, place / str(i))
        shop.set_up()
        free.put(shop)
    # A room of many files takes its time before the first mutant.
    end = float("inf") if args.all else time.monotonic() + 60 * args.minutes
    seen = {}

    def judge(mutant):
        if time.monotonic() > end:
            return None
        shop = free.get()
        try:
            return shop.judge(mutant, sources[mutant.path], seen)
        finally:
            free.put(shop)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        yield from zip(drawn, pool.map(judge, drawn))


def main():
    args = options()
    known = equivalent.read()
    paths = rooms.ROOMS[args.room].mutated(ROOT)
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}
    found = [m for path in paths for m in mutants.find(path, sources[path])]
    if args.check_list:
        return equivalent.check(known, ROOT)
    drawn = draw([m for m in found if fnmatch.fnmatch(m.path, args.files)], args)
    tally = Tally()
    late = 0
    with tempfile.TemporaryDirectory(prefix="nvdla-mutation-") as place:
        for mutant, fate in try_all(drawn, sources, args, pathlib.Path(place)):
            if fate is None:
                late += 1
                continue
            tally.add(mutant, fate, known)
            if tally.survivors and tally.survivors[-1] is mutant:
                print(f"survived, line {mutant.line}, {mutant.kind}:")
                print(equivalent.entry(mutant), flush=True)
    print(f"{len(drawn) - late} of {len(found)} mutants of {args.room}, seed {args.seed}")
    percent = tally.show()
    if percent is None:
        print("nothing was mutated")
        return 1
    print(f"{percent:.1f} % survived; {args.most:g} % may")
    return int(percent > args.most)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except workshop.Failed as error:
        sys.exit(f"mutate: {error}")
