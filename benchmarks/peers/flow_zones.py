#!/usr/bin/env python3
"""Compressible flow on the published grid systems: the efficiency that a step would have on many processors.

    benchmarks/peers/flow_zones.py --check                     # the model beside runs on 1 and 2 cores
    benchmarks/peers/flow_zones.py --draws 10 --table zones.md # both systems, 128 to 2,032 CPUs
    benchmarks/peers/flow_zones.py --set overflow-d --cpus 508 --threads 1 4 --patch 16x16x16 32x8x8

The systems are those of the papers (`strata balance --generate`): 160 zones with 35 million points of
OVERFLOW-MLP's aircraft, 1,679 blocks with 75 million points of OVERFLOW-D's rotors, for which Table 3 of the
Columbia paper has 61 % at 128 CPUs, 37 % at 256, 22.6 % at 508, and 3 % at 2,032. The worst of ten draws
counts.

A step is played as the graph has it with LU-SGS (schedule.py): residual, forward and backward sweep over the
patches of each zone in their order, a decision of all, update; patches lie with processes along Hilbert's
curve. Zones are as they are, or cut (`grid.zone`): sweeps are shorter then, and iterations are more. Times
of tasks are those of a run of RANS in three dimensions on this machine with patches of the same size. What a
machine of many nodes adds is assumed and printed: latency and bandwidth of its network, cores of a node.
Efficiency is the time of the same step on one core, with the patches that are fastest there, over CPUs times
the time found.

Needs the build's Python (NumPy). Nothing else should run while it measures.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from compare import front, output_of
from schedule import Machine, Rates, Work, crews, owners_along_curve, step_time

COLUMBIA = {128: 0.61, 256: 0.37, 508: 0.226, 2032: 0.03}
SETS = {"origin2000": "160 zones, 35 M points", "overflow-d": "1,679 blocks, 75 M points"}
CHECK_CELLS, CHECK_ZONES = (96, 48, 48), (3, 2, 2)

CASE = """solver = "flow"
[grid]
kind = "brick"
cells = {cells}
zones = {zones}
wave = 0.03
patch = {patch}
[flow]
equations = "rans"
mach = 0.2
reynolds = 1e5
[time]
iterations = {iterations}
cfl = 5.0
implicit = "lu-sgs"
[boundary.y-min]
kind = "wall"
[boundary.y-max]
kind = "far-field"
[boundary.x-min]
kind = "far-field"
[boundary.x-max]
kind = "far-field"
[boundary.z-min]
kind = "symmetry"
[boundary.z-max]
kind = "symmetry"
"""


Cells = tuple[int, int, int]


def cells_of(text: str) -> Cells:
    """16x8x8, or 16 for 16x16x16. Raises argparse.ArgumentTypeError."""
    sizes = [int(word) if word.isdigit() else 0 for word in text.split("x")]
    if len(sizes) not in (1, 3) or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"{text}: cells of a patch are 16, or 16x8x8")
    return (sizes[0], sizes[0], sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1], sizes[2])


def shown(patch: Cells) -> str:
    """16x8x8"""
    return "x".join(map(str, patch))


# -- Measured


@dataclass(frozen=True)
class Run:
    """A run of the case: seconds of a step, and of tasks and copies."""

    step: float
    rates: Rates


def profiled(folder: Path, layout: str, patch: Cells, iterations: int) -> Run:
    """A run of RANS on twelve joined bricks, from its profile."""
    case, out = folder / "case.toml", folder / f"out-{layout}"
    text = CASE.format(
        cells=list(CHECK_CELLS), zones=list(CHECK_ZONES), patch=list(patch), iterations=iterations
    )
    case.write_text(text)
    shutil.rmtree(out, ignore_errors=True)
    output_of([str(front()), "run", str(case), "--layout", layout, "--quiet", "--profile", "--out", str(out)])
    profile = json.loads((out / "profile.json").read_text())
    rows = {row["name"]: row for row in profile["rows"]}
    cells = int(np.prod(CHECK_CELLS)) * iterations

    def per_cell(*names: str) -> float:
        return sum(rows[name]["seconds"] for name in names if name in rows) / cells

    copies = [row for row in profile["rows"] if row["kind"] == "copy"]
    calls = sum(row["calls"] for row in profile["rows"])
    bytes_copied = sum(row["declared_bytes"] for row in copies)
    rates = Rates(
        residual=per_cell("residual"),
        forward=per_cell("forward sweep"),
        backward=per_cell("backward sweep"),
        update=per_cell("update", "walls", "forces"),
        each_byte=sum(row["seconds"] for row in copies) / bytes_copied,
        each_task=max(0.0, profile["thread_seconds"] - profile["task_seconds"]) / calls,
    )
    return Run(profile["wall_seconds"] / iterations, rates)


def measured(folder: Path, layout: str, patch: Cells, given: argparse.Namespace) -> Run:
    """The median of some runs by their time of a step."""
    runs = [profiled(folder, layout, patch, given.iterations) for _ in range(given.repeats)]
    return sorted(runs, key=lambda run: run.step)[len(runs) // 2]


# -- Grid systems


def system(name: str, seed: int, patch: Cells, sweep: int) -> Work:
    """A draw of a set: zones as boxes of cells, cut into patches, and who interpolates from whom."""
    words = ["balance", "--generate", name, "--seed", str(seed), "--cpus", "1", "--json"]
    drawn = json.loads(output_of([str(front()), *words]))
    points = [zone["cost"] for zone in drawn["zones"]]
    random = np.random.default_rng(seed)
    shapes = []
    for count in points:
        sides = np.exp2(random.random(3))
        shapes.append(np.maximum(2, np.rint(sides * np.cbrt(count / sides.prod()))).astype(int))
    centres = np.array([zone["centre"] for zone in drawn["zones"]])
    # A value of five doubles for each point of the common part's surface: half of it is the one zone's outer
    # boundary, half the other's, and a fringe has two layers.
    donors = [(pair["a"], pair["b"], int(pair["bytes"] / 40)) for pair in drawn["exchanged"]]
    side = np.cbrt(sum(points))
    return Work.of_zones([tuple(s) for s in shapes], centres * side, patch, donors, sweep)


def bricks(patch: Cells) -> Work:
    """The case that is measured, for the model."""
    cells = np.array(CHECK_CELLS) // np.array(CHECK_ZONES)
    shapes, centres = [], []
    for at in np.ndindex(*CHECK_ZONES):
        shapes.append(tuple(int(n) for n in cells))
        centres.append((np.array(at) + 0.5) * cells)
    return Work.of_zones(shapes, np.array(centres), patch, [])


# -- Questions


def check(given: argparse.Namespace) -> list[str]:
    """Speed-ups of 2x1 and 1x2 as they are and as the model has them."""
    lines = ["| patch | layout | speed-up measured | model |", "| --- | --- | --- | --- |"]
    for patch in given.patch:
        with tempfile.TemporaryDirectory() as folder:
            alone = measured(Path(folder), "1x1", patch, given)
            work = bricks(patch)
            one = step_time(work, owners_along_curve(work, [1]), alone.rates, Machine((1,)))
            print(
                f"patch {shown(patch)}: 1x1 {1e3 * alone.step:.4g} ms, model {1e3 * one.seconds:.4g} ms",
                flush=True,
            )
            for layout in ("2x1", "1x2"):
                processes, threads = (int(n) for n in layout.split("x"))
                both = measured(Path(folder), layout, patch, given)
                team = (threads,) * processes
                rates = replace(both.rates, each_task=alone.rates.each_task)
                found = step_time(work, owners_along_curve(work, team), rates, Machine(team))
                ratios = [f"{alone.step / seconds:.3f}" for seconds in (both.step, found.seconds)]
                lines.append(f"| {shown(patch)} | {layout} | {' | '.join(ratios)} |")
                print(lines[-1], flush=True)
    return lines


def predict(given: argparse.Namespace) -> list[str]:
    """The table of efficiencies: of each set and number of CPUs the best layout, by its worst draw."""
    rates = {}
    for patch in given.patch:
        with tempfile.TemporaryDirectory() as folder:
            # Of tasks on two threads: what a core does beside a busy one. Of the runtime on one, which
            # never waits.
            each_task = measured(Path(folder), "1x1", patch, given).rates.each_task
            rates[patch] = replace(measured(Path(folder), "1x2", patch, given).rates, each_task=each_task)
        print(f"patch {shown(patch)}: {rates[patch]}", flush=True)
    lines = [
        "| system | CPUs | layout, patch | efficiency, worst of draws | mean | exchange | waiting | paper |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in given.set:
        works = {
            (patch, sweep): [system(name, seed, patch, sweep) for seed in range(1, given.draws + 1)]
            for patch in given.patch
            for sweep in given.zone
        }
        whole = given.zone[0]
        alone = np.min(
            [times(works[patch, whole], rates[patch], (1,), given)[0] for patch in given.patch], axis=0
        )
        for cpus in given.cpus:
            rows = []
            for patch, sweep in works:
                for threads in given.threads:
                    team = crews(cpus, threads)
                    seconds, exchange, waiting = times(works[patch, sweep], rates[patch], team, given)
                    efficiency = alone / (cpus * seconds)
                    some = f"{min(team)}" if min(team) == max(team) else f"{min(team)} or {max(team)}"
                    paper = COLUMBIA.get(cpus) if name == "overflow-d" else None
                    shares = [efficiency.min(), efficiency.mean(), exchange, waiting]
                    cut = f", zones of {sweep}" if sweep else ""
                    cells = [name, str(cpus), f"{len(team)}x{some}, {shown(patch)}{cut}"]
                    cells += [f"{100 * share:.1f} %" for share in shares]
                    cells.append(f"{100 * paper:g} %" if paper else "")
                    rows.append((efficiency.min(), f"| {' | '.join(cells)} |"))
                    print(rows[-1][1], flush=True)
            lines.append(max(rows)[1])
    return lines


def times(
    works: list[Work], rates: Rates, team: tuple[int, ...], given: argparse.Namespace
) -> tuple[np.ndarray, float, float]:
    """[draw] seconds of a step; means of the shares of exchange and of waiting."""
    machine = Machine(team, given.node, 1e-6 * given.latency, 1e9 * given.bandwidth, 1e-9 * given.donor)
    steps = [step_time(work, owners_along_curve(work, team), rates, machine) for work in works]
    return (
        np.array([step.seconds for step in steps]),
        statistics.mean(step.exchange for step in steps),
        statistics.mean(step.waiting for step in steps),
    )


def main() -> int:
    """Prints a table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0],
        epilog=__doc__.split("\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="the model beside runs on 1 and 2 cores")
    parser.add_argument("--set", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--cpus", nargs="+", type=int, default=[128, 256, 508, 2032])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 4, 16], help="of a process, about")
    parser.add_argument(
        "--patch", nargs="+", type=cells_of, default=[(16, 16, 16), (16, 8, 8)], help="cells: 16, or 16x8x8"
    )
    parser.add_argument(
        "--zone",
        nargs="+",
        type=int,
        default=[0, 64],
        help="cells along each axis to which zones are cut (grid.zone); 0: as they are",
    )
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=20, help="of a measured run")
    parser.add_argument("--repeats", type=int, default=3, help="measured runs")
    parser.add_argument("--node", type=int, default=128, help="assumed: cores of a node")
    parser.add_argument("--latency", type=float, default=2.0, help="assumed: of a message between nodes, us")
    parser.add_argument("--bandwidth", type=float, default=25.0, help="assumed: of a node's network, GB/s")
    parser.add_argument("--donor", type=float, default=60.0, help="assumed: an interpolated cell, ns")
    parser.add_argument("--table", type=Path, help="write the table here, too")
    given = parser.parse_args()
    lines = check(given) if given.check else predict(given)
    print("\n" + "\n".join(lines))
    if given.table:
        given.table.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
