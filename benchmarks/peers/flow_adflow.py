#!/usr/bin/env python3
"""Compressible flow beside ADflow: cell iterations a second of implicit RANS, and time to the drag.

    benchmarks/peers/flow_adflow.py --python adflow-python --cgns libcgns.so.3.4
    benchmarks/peers/flow_adflow.py --python adflow-python --scan          # ADflow's best way to the drag

NASA's NACA 0012 at 10 degrees, as in flow.py: Spalart and Allmaras' model with advection of first order and
production by vorticity, Roe with kappa = 1/3 and no limiter, all viscous terms, double precision. Questions:

 - Cell iterations a second on a single grid: here LU-SGS, there its DADI with one iteration of the model for
   each of the flow. Starts are not in it.
 - Seconds from the first iteration until the drag stays within 0.1 % of its own limit: ADflow's time without
   its start (Python, grids, wall distances), ours the whole program.

The flow is plane. ADflow, a code for three dimensions, computes one layer of cells, with all that the third
axis costs; a solver for the plane does without it.

`--python` names a program that starts the interpreter that ADflow was built for, with all its paths. How to
build it: README.md. Needs the build's Python (NumPy). Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import flow as beside_cfl3d
import numpy as np
from cfl3d import FLOWS, GRIDS, Flow, read_grid
from compare import OURS, Comparison, Contender, common_options, compared, cores, output_of
from flow_cgns import write_cgns

HERE = Path(__file__).resolve().parent
VERSION = "mdolab/adflow 8155e981 (20 May 2026)"
WITHIN = beside_cfl3d.WITHIN

# What is solved, not how. 0.21044: of the eddy viscosity to the molecular one where nu_tilde is 3
PHYSICS: dict[str, Any] = {
    "equationType": "RANS",
    "turbulenceModel": "SA",
    "turbulenceProduction": "vorticity",
    "turbulenceOrder": "first order",
    "useft2SA": True,
    "eddyVisInfRatio": 0.210438,
    "useApproxWallDistance": False,
    "discretization": "upwind",
    "limiter": "no limiter",
    "liftIndex": 2,
}
QUIET: dict[str, Any] = {
    "writeVolumeSolution": False,
    "writeSurfaceSolution": False,
    "printIterations": True,  # else it keeps no times
    "printTiming": False,
    "printIntro": False,
    "printAllOptions": False,
    "monitorVariables": ["cpu", "resrho", "resturb", "cl", "cd"],
}


@dataclass(frozen=True)
class Way:
    """How ADflow iterates; `cycles` at most, of its Newton-Krylov solvers counted by linear iterations."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    cycles: int = 3000


def coupled(
    first: float = 5.0, second: float = 1e-2, growth: float = 0.5, fill: int = 2, linear: float = 0.05
) -> Way:
    """ANK that takes the flow and the model together, at 1e-3 of the first residual (fluxes of second order
    in the matrix-free product at `second`); CFL number from `first` on, as a power `growth` of the residual;
    incomplete factors with `fill`; linear systems to `linear`."""
    options: dict[str, Any] = {"ANKCoupledSwitchTol": 1e-3, "ANKSecondOrdSwitchTol": second}
    options |= {"ANKCFL0": first, "ANKCFLExponent": growth, "ANKPCILUFill": fill, "ANKLinearSolveTol": linear}
    name = f"ANK, CFL from {first:g} by {growth:g}, coupled, second order at {second:g}, ILU({fill})"
    return Way(f"{name}, linear {linear:g}", options)


# Larger CFL numbers diverge from the far field's state
DADI = Way("DADI", {"useANKSolver": False, "smoother": "DADI", "nSubiterTurb": 1, "CFL": 0.8})
# The best of the scan on 113x33
BEST = coupled()


def ways() -> list[Way]:
    """What the scan tries."""
    found = [coupled(first, second) for first in (2.0, 5.0, 20.0) for second in (1e-2, 1e-3)]
    found += [coupled(growth=1.0), coupled(fill=1), coupled(linear=0.1), coupled(growth=1.0, fill=1)]
    found += [coupled(5.0, 1e-3, growth=1.0), coupled(5.0, 1e-3, fill=1)]
    for first in (5.0, 20.0):
        options = {"useNKSolver": True, "NKSwitchTol": 1e-3, "ANKCFL0": first}
        found.append(Way(f"ANK, CFL from {first:g}, Newton at 0.001", options))
    found.append(Way("ANK as it is by default"))
    several = {"useANKSolver": False, "coarseDiscretization": "upwind", "smoother": "Runge-Kutta", "CFL": 1.5}
    found += [Way(f"{n} levels of Runge-Kutta", {**several, "MGCycle": f"{n}w"}, 600) for n in (3, 4)]
    return found


def adflow(
    flow: Flow, way: Way, threads: int, given: argparse.Namespace, drop: float = 1e-8
) -> dict[str, Any]:
    """One run: what adflow_solve.py writes. RuntimeError where it fails."""
    with tempfile.TemporaryDirectory(prefix="adflow-") as made:
        folder = Path(made)
        write_cgns(folder / "grid.cgns", flow, *read_grid(given.nasa / f"{flow.grid}.p2dfmt.xz"), given.cgns)
        run = {"gridFile": str(folder / "grid.cgns"), "outputDirectory": made, "nCycles": way.cycles}
        case = {
            "options": {**PHYSICS, **QUIET, **way.options, **run, "L2Convergence": drop},
            "flow": {
                "mach": flow.mach,
                "reynolds": flow.reynolds,
                "reynoldsLength": 1.0,
                "T": 300.0,
                "alpha": flow.alpha,
                "areaRef": 1.0,
                "chordRef": 1.0,
            },
        }
        (folder / "case.json").write_text(json.dumps(case))
        at = ["--bind-to", "core"] if threads > 1 else ["--bind-to", "none"]
        words = [given.mpirun, "-n", str(threads), *at, given.python]
        if threads == 1:
            words = ["taskset", "-c", str(cores()[0]), *words]
        said = output_of([*words, str(HERE / "adflow_solve.py"), "case.json", "found.json"], cwd=folder)
        if not (folder / "found.json").exists():
            raise RuntimeError(f"{way.name}: {said[-500:]}")
        found: dict[str, Any] = json.loads((folder / "found.json").read_text())
        return found


def settled(found: dict[str, Any], drag: float) -> tuple[int, float] | None:
    """Iterations and seconds after which the drag stays within 0.1 %."""
    history = np.array(found["drag"])
    off = ~(np.abs(history / drag - 1) <= WITHIN)
    last = int(np.flatnonzero(off)[-1]) + 1 if off.any() else 0
    if last >= len(history) - 1:
        return None
    return last, float(found["seconds_at"][last])


def scan(flow: Flow, drag: float, given: argparse.Namespace) -> list[tuple[float, int, Way]]:
    """Seconds and iterations to the drag of each way, the fastest first. RuntimeError without any."""
    rows = []
    for way in ways():
        try:
            found = adflow(flow, way, 1, given)
        except RuntimeError as error:
            print(f"{way.name}: {str(error)[-200:]}", flush=True)
            continue
        needs = settled(found, drag)
        if needs is None:
            print(f"{way.name}: not within 0.1 %", flush=True)
            continue
        print(f"{way.name}: {needs[1]:.2f} s, {needs[0]} iterations", flush=True)
        rows.append((needs[1], needs[0], way))
    if not rows:
        raise RuntimeError(f"no way leads ADflow to the drag {drag:g}")
    return sorted(rows, key=lambda row: row[0])


def peer_rate(flow: Flow, threads: int, given: argparse.Namespace) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        found = adflow(flow, replace(DADI, cycles=given.iterations), threads, given)
        seconds = found["seconds_at"]
        tenth = len(seconds) // 10
        return {"": 1e-6 * flow.cells * (len(seconds) - 1 - tenth) / (seconds[-1] - seconds[tenth])}

    return run


def peer_time(
    flow: Flow, way: Way, drag: float, threads: int, given: argparse.Namespace
) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        needs = settled(adflow(flow, way, threads, given), drag)
        if needs is None:
            raise RuntimeError(f"ADflow does not settle: {way.name}")
        return {"": needs[1]}

    return run


def comparisons(made: Path, name: str, given: argparse.Namespace) -> list[Comparison]:
    flow, folder = FLOWS[name], made / name
    folder.mkdir()
    found = []
    way, drag = BEST, 0.0
    if given.time:
        long = adflow(flow, BEST, 1, given, 1e-12)
        drag = long["drag"][-1]
        print(f"{VERSION}: {long['forces']}, {len(long['drag'])} iterations", flush=True)
        if given.scan:
            way = scan(flow, drag, given)[0][2]
    needs = beside_cfl3d.strata_needs(folder, flow, given) if given.time else 0
    for used in given.cores:
        core_words = f"{used} core{'s' if used > 1 else ''}"
        rates = [
            Contender(OURS, beside_cfl3d.strata_rate(folder, flow, used, given)),
            Contender("ADflow", peer_rate(flow, used, given)),
        ]
        title = f"{flow.grid}, {flow.cells} cells, {core_words}, single grid"
        found.append(Comparison(title, "M cell iterations/s", True, None, rates))
        if given.time:
            times = [
                Contender(OURS, beside_cfl3d.strata_time(folder, flow, needs, used, given)),
                Contender("ADflow", peer_time(flow, way, drag, used, given)),
            ]
            title = f"{flow.grid}, {core_words}, time to the drag within 0.1 %"
            found.append(Comparison(title, "s", False, None, times))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--python", required=True, help="starts the interpreter that has ADflow")
    parser.add_argument("--cgns", help="the library libcgns, where it is in no usual place")
    parser.add_argument("--mpirun", default="mpirun", help="of the MPI that ADflow was built with")
    parser.add_argument("--nasa", type=Path, default=GRIDS, metavar="DIR", help="NASA's grids")
    names = sorted(name for name in FLOWS if name.startswith("naca"))
    parser.add_argument("--grids", nargs="+", choices=names, default=names[:1])
    parser.add_argument("--scan", action="store_true", help="find ADflow's best way again")
    beside_cfl3d.own_options(parser)
    common_options(parser, blocks=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        return compared((comparisons(Path(made), name, given) for name in given.grids), given)


if __name__ == "__main__":
    sys.exit(main())
