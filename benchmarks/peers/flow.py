#!/usr/bin/env python3
"""Compressible flow beside CFL3D: point iterations a second of implicit RANS, and time to the drag.

    benchmarks/peers/flow.py --cfl3d cfl3d_seq
    benchmarks/peers/flow.py --cfl3d cfl3d_seq --grids naca-225x65 --cores 1 --blocks 3 --table flow.md
    benchmarks/peers/flow.py --cfl3d cfl3d_seq --scan      # CFL3D's best way to the drag is found again

NASA's NACA 0012 at 10 degrees, Spalart and Allmaras' model with advection of first order, Roe, kappa = 1/3,
no limiter, all viscous terms, double precision. Two questions:

 - How many cells times iterations a second, on a single grid (at least 3 times CFL3D's), both point by
   point: LU-SGS here, scalar factors there. Starts are not in it: of CFL3D, the difference between a long
   and a short run. On two cores CFL3D counts as two copies of itself at once, one a core, which is more than
   its MPI version can be.
 - How long until the drag stays within 0.1 % of its limit on this grid (at most a third of CFL3D's): here
   by multigrid cycles with lines, after some on coarser grids. CFL3D goes its best way of a scan: one to
   five levels of multigrid, full multigrid, CFL numbers of 2 to 20, scalar and block factors (cfl3d.py).
   Whole programs, their starts included, with a grid that lies there unpacked. CFL3D is on one core also
   where ours is on two.

CFL3D is public (nasa/CFL3D) and is built with gfortran: README.md. Needs the build's Python (NumPy). Nothing
else should run meanwhile.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import json
import lzma
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cfl3d
import numpy as np
from cfl3d import FLOWS, GRIDS, Flow, How
from compare import OURS, Comparison, Contender, common_options, compared, cores, front, output_of

TIMES = 3.0
WITHIN = 1e-3
# CFL3D's best way to the drag on 113x33, found by `cfl3d.py naca-113x33 --scan 0.022123232`; the one on
# 225x65 is as good as any that was tried by hand.
BEST = {"naca-113x33": How((300,), 4, 10.0, diagonal=False), "naca-225x65": How((1200,), 4, 5.0)}

# Ours: the CFL number along the longer axis of cells (time.cfl_across).
ACROSS = {"n0012_113-33": 20.0, "n0012_225-65": 10.0}


# -- Strata


def case_text(flow: Flow, grids: Path, iterations: int, given: argparse.Namespace) -> str:
    sequence = list(given.sequence)
    return f"""solver = "flow"
[grid]
kind = "file"
file = "{flow.grid}.p2dfmt"
map = "{grids / flow.grid}.nmf"
dimensions = 2
patch = {json.dumps(given.patch)}
[flow]
equations = "rans"
mach = {flow.mach}
reynolds = {flow.reynolds}
alpha = {flow.alpha}
temperature = 300.0
nu_tilde = 3.0
[time]
iterations = {iterations}
cfl_start = {given.cfl_start}
cfl = {given.cfl}
cfl_across = {ACROSS[flow.grid]}
ramp = {given.ramp}
sequence = {sequence}
multigrid = {given.multigrid}
smooth = {json.dumps(given.smooth)}
implicit = "{given.implicit}"
[boundary.viscous_solid]
kind = "wall"
[boundary.farfield_riem]
kind = "far-field"
[verify]
drop = 0.99
"""


def strata(
    folder: Path, flow: Flow, iterations: int, threads: int, given: argparse.Namespace, series: int = 0
) -> dict[str, float]:
    """The figures of a run, and as `program` the seconds of its process. The grid lies there as plain text,
    as CFL3D's does unpacked."""
    case, out, grid = folder / "case.toml", folder / "out", folder / f"{flow.grid}.p2dfmt"
    case.write_text(case_text(flow, given.nasa, iterations, given))
    if not grid.exists():
        grid.write_bytes(lzma.decompress((given.nasa / f"{flow.grid}.p2dfmt.xz").read_bytes()))
    shutil.rmtree(out, ignore_errors=True)
    words = ["run", str(case), "--layout", f"1x{threads}", "--quiet", "--series", str(series)]
    began = time.perf_counter()
    output_of([str(front()), *words, "--out", str(out)])
    seconds = time.perf_counter() - began
    figures = json.loads((out / "result.json").read_text())["figures"]
    return {"program": seconds, **{each["name"]: float(each["value"]) for each in figures}}


def strata_rate(
    folder: Path, flow: Flow, threads: int, given: argparse.Namespace
) -> Callable[[], dict[str, float]]:
    # Point by point, as CFL3D's scalar factors are
    own = {"sequence": [], "multigrid": 1, "implicit": "lu-sgs", "cfl": 50.0, "cfl_start": 1.0, "ramp": 200}
    single = argparse.Namespace(**{**vars(given), **own})

    def run() -> dict[str, float]:
        found = strata(folder, flow, given.iterations, threads, single)
        return {"": 1e-6 * found["cells updated"]}

    return run


def strata_needs(folder: Path, flow: Flow, given: argparse.Namespace) -> int:
    """Iterations on the finest grid until the drag stays within 0.1 % of where it ends, and says what that
    is. Those of the sequence, on coarser grids, come before them."""
    strata(folder, flow, given.longest, len(cores()), given, series=1)
    with (folder / "out" / "series.csv").open() as file:
        rows = list(csv.DictReader(file))
    drag = np.array([float(row["drag"]) for row in rows])
    off = np.flatnonzero(np.abs(drag / drag[-1] - 1) > WITHIN)
    needs = int(off[-1]) + 2 if len(off) else 1
    print(
        f"{flow.grid}: drag {drag[-1]:.6g}, within 0.1 % after {needs} of {len(drag)} iterations, "
        f"{sum(given.sequence)} of them on coarser grids",
        flush=True,
    )
    if needs > 0.7 * len(drag):
        raise RuntimeError(f"the drag has not settled in {len(drag)} iterations: --longest, --cfl")
    return max(1, needs - sum(given.sequence))


def strata_time(
    folder: Path, flow: Flow, iterations: int, threads: int, given: argparse.Namespace
) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        return {"": strata(folder, flow, iterations, threads, given)["program"]}

    return run


# -- CFL3D


def pinned(program: str, core: int, folder: Path) -> str:
    """A program that runs it on a core."""
    path = folder / f"cfl3d-{core}"
    path.write_text(f'#!/bin/sh\nexec taskset -c {core} "{program}"\n')
    path.chmod(0o755)
    return str(path)


def peer_rate(
    folder: Path, flow: Flow, threads: int, given: argparse.Namespace
) -> Callable[[], dict[str, float]]:
    """Of one copy on each core at once: scalar factors on a single grid, its fastest iteration."""
    cycles = given.iterations
    programs = [pinned(given.cfl3d, core, folder) for core in cores()[:threads]]

    def took(program: str, cycles: int) -> float:
        began = time.perf_counter()
        cfl3d.run(flow, How((cycles,), 1, 2.0), program, given.nasa)
        return time.perf_counter() - began

    def one(program: str) -> float:
        short = cycles // 10
        return 1e-6 * flow.cells * (cycles - short) / (took(program, cycles) - took(program, short))

    def run() -> dict[str, float]:
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            return {"": sum(pool.map(one, programs))}

    return run


def peer_time(
    folder: Path, flow: Flow, how: How, given: argparse.Namespace
) -> Callable[[], dict[str, float]]:
    """On one core, as far as it has to go."""
    program = pinned(given.cfl3d, cores()[0], folder)

    def run() -> dict[str, float]:
        return {"": cfl3d.run(flow, how, program, given.nasa).seconds}

    return run


def peer_best(name: str, given: argparse.Namespace) -> How:
    """Its best way, with as many cycles as it takes."""
    flow = FLOWS[name]
    best = BEST[name]
    long = cfl3d.run(
        flow, replace(best, cycles=(*best.cycles[:-1], 4 * best.cycles[-1])), given.cfl3d, given.nasa
    )
    drag = float(long.history[-1, 2])
    if given.scan:
        rows = cfl3d.scan(flow, given.cfl3d, given.nasa, drag)
        print(json.dumps(rows[:3], indent=1), flush=True)
        best = rows[0]["way"]
    needs = cfl3d.settled_after(cfl3d.run(flow, best, given.cfl3d, given.nasa), drag, WITHIN)
    if needs is None:
        raise RuntimeError(f"CFL3D does not settle in {best.words()}")
    how = replace(best, cycles=(*best.cycles[:-1], needs - sum(best.cycles[:-1])))
    print(f"CFL3D: drag {drag:.6g}; best of its scan: {how.words()}", flush=True)
    return how


def comparisons(made: Path, name: str, given: argparse.Namespace) -> list[Comparison]:
    flow, folder = FLOWS[name], made / name
    folder.mkdir()
    found = []
    best = peer_best(name, given) if given.cfl3d and given.time else None
    needs = strata_needs(folder, flow, given) if given.time else 0
    for used in given.cores:
        rates = [Contender(OURS, strata_rate(folder, flow, used, given))]
        if given.cfl3d:
            rates.append(Contender("CFL3D", peer_rate(folder, flow, used, given)))
        core_words = f"{used} core{'s' if used > 1 else ''}"
        title = f"{flow.grid}, {flow.cells} cells, {core_words}, single grid"
        found.append(Comparison(title, "M cell iterations/s", True, 1 - TIMES, rates))
        if given.time:
            times = [Contender(OURS, strata_time(folder, flow, needs, used, given))]
            if best is not None:
                times.append(Contender("CFL3D, one core", peer_time(folder, flow, best, given)))
            title = f"{flow.grid}, {core_words}, time to the drag within 0.1 %"
            found.append(Comparison(title, "s", False, 1 / TIMES - 1, times))
    return found


def program(named: str) -> str | None:
    found = shutil.which(named)
    if found is None:
        print(f"left out: no {named}")
    return found and str(Path(found).resolve())


def own_options(parser: argparse.ArgumentParser) -> None:
    """How many cores and iterations, and how Strata finds the drag."""
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, len(cores())}))
    parser.add_argument("--iterations", type=int, default=400, help="of a rate (400)")
    parser.add_argument("--longest", type=int, default=400, help="cycles in which the drag settles (400)")
    parser.add_argument("--no-time", dest="time", action="store_false", help="rates alone")
    parser.add_argument("--cfl", type=float, default=1000.0, help="ours (1000)")
    parser.add_argument("--cfl-start", type=float, default=20.0)
    parser.add_argument("--ramp", type=int, default=10)
    parser.add_argument("--sequence", type=int, nargs="*", default=[12, 12], help="our coarser grids first")
    parser.add_argument("--implicit", choices=["lines", "lu-sgs"], default="lines", help="ours, to the drag")
    parser.add_argument("--multigrid", type=int, default=4, help="grids of our cycles")
    parser.add_argument("--smooth", type=int, nargs=2, default=[2, 1], help="iterations on our coarser grids")
    parser.add_argument("--patch", type=int, nargs=2, default=[32, 32])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cfl3d", type=program, default=program(os.environ.get("STRATA_CFL3D", "cfl3d_seq")))
    parser.add_argument("--nasa", type=Path, default=GRIDS, metavar="DIR", help="NASA's grids")
    names = sorted(name for name in FLOWS if re.match("naca", name))
    parser.add_argument("--grids", nargs="+", choices=names, default=names)
    parser.add_argument("--scan", action="store_true", help="find CFL3D's best way again (half an hour)")
    own_options(parser)
    common_options(parser, blocks=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        return compared((comparisons(Path(made), name, given) for name in given.grids), given)


if __name__ == "__main__":
    sys.exit(main())
