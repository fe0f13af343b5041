"""False alarms and misses, counted on generated fleets: `python -m strata.centre.fleet.proof --help`.

A miss is a faulty node that is no suspect; a node that is listed to be measured again counts as missed, and
its share is shown beside it. A false alarm is a suspect without a fault.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from strata.centre.fleet.analysis import analyse
from strata.centre.fleet.generate import KINDS, Fault, Noise, generate
from strata.centre.fleet.outliers import LEAST

SIZES = (0.05, 0.08, 0.12, 0.2)
ONCE = (0.2, 0.3, 0.4, 0.5, 0.6)  # of faults that were met in one run
FLEETS = {16: 200, 64: 100, 400: 60, 2000: 30, 10000: 20}  # nodes: healthy fleets
HARSH = Noise(lasting=0.02, run=0.01, others=0.05, cost=0.06)
_RUNS = 8
_FAULTY = 0.02  # of the nodes, at least one


def alarms(
    nodes: int,
    fleets: int,
    runs: int = _RUNS,
    seed: int = 0,
    least: float = LEAST,
    noise: Noise | None = None,
) -> int:
    """How many of so many healthy fleets had a suspect."""
    return sum(
        bool(analyse(generate(nodes, runs, (), seed + i, noise), least).suspects) for i in range(fleets)
    )


def misses(
    nodes: int, fleets: int, size: float, met: int, seed: int = 0, runs: int = _RUNS
) -> dict[str, tuple[int, int, int]]:
    """By kind of fault: planted, missed, and of these to be measured again. `met`: runs with the fault. Also
    "false": suspects without a fault.
    """
    found = dict.fromkeys((*KINDS, "false"), (0, 0, 0))
    for i in range(fleets):
        random = np.random.default_rng(seed + i)
        places = random.choice(nodes, max(1, round(_FAULTY * nodes)), replace=False)
        faults = [Fault(int(n), KINDS[(i + k) % len(KINDS)], size, met) for k, n in enumerate(places)]
        whole = analyse(generate(nodes, runs, faults, seed + i))
        named, again = {s.node for s in whole.suspects}, {a.node for a in whole.again}
        for fault in faults:
            planted, missed, later = found[fault.kind]
            miss = fault.node not in named
            found[fault.kind] = (planted + 1, missed + miss, later + (miss and fault.node in again))
        wrong = named - {f.node for f in faults}
        found["false"] = (0, found["false"][1] + len(wrong), 0)
    return found


def _alarm_table(fleets: dict[int, int], least: float, noise: Noise) -> None:
    print("| nodes | healthy fleets | with a false alarm | one run each | two runs each |")
    print("| --- | --- | --- | --- | --- |")
    for nodes, count in fleets.items():
        few = max(count // 4, 4)
        one, two = (alarms(nodes, few, runs, 10_000, least, noise) for runs in (1, 2))
        many = alarms(nodes, count, least=least, noise=noise)
        print(f"| {nodes} | {count} | {many} | {one} of {few} | {two} of {few} |", flush=True)


def _miss_table(nodes: int, fleets: int) -> None:
    print(f"\n{nodes} nodes, {fleets} fleets: missed of planted (to be measured again)\n")
    print("| size | runs with it |", " | ".join(KINDS), "| false alarms |")
    print("| --- " * (len(KINDS) + 3) + "|")
    for size in SIZES:
        for met in (1, 2, 3):
            found = misses(nodes, fleets, size, met)
            cells = [f"{m} of {p}" + (f" ({a})" if a else "") for p, m, a in (found[k] for k in KINDS)]
            print(f"| {size:.0%} | {met} |", " | ".join(cells), f"| {found['false'][1]} |", flush=True)


def _once_table(nodes: int, fleets: int) -> None:
    print(f"\n{nodes} nodes, {fleets} fleets, the fault in the newest run: missed of planted\n")
    print("| size | runs of each node |", " | ".join(KINDS), "| false alarms |")
    print("| --- " * (len(KINDS) + 3) + "|")
    for size in ONCE:
        for runs in (1, _RUNS):
            found = misses(nodes, fleets, size, 1, runs=runs)
            cells = [f"{m} of {p}" for p, m, _ in (found[k] for k in KINDS)]
            print(f"| {size:.0%} | {runs} |", " | ".join(cells), f"| {found['false'][1]} |", flush=True)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, help="one size of fleet (default: 16 to 10,000)")
    parser.add_argument("--fleets", type=int, help="how many")
    parser.add_argument("--least", type=float, default=LEAST, help="deviation that matters, for false alarms")
    parser.add_argument(
        "--harsh", action="store_true", help="false alarms with noise of two to three times as much"
    )
    parser.add_argument("--only", choices=("alarms", "misses", "once"), help="one of the tables")
    given = parser.parse_args(words)
    fleets = {given.nodes: given.fleets or FLEETS.get(given.nodes, 20)} if given.nodes else FLEETS
    if given.only in (None, "alarms"):
        _alarm_table(fleets, given.least, HARSH if given.harsh else Noise())
    for nodes in fleets:
        few = given.fleets or max(1, min(30, 4000 // nodes))
        if given.only in (None, "misses"):
            _miss_table(nodes, few)
        if given.only in (None, "once"):
            _once_table(nodes, few)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
