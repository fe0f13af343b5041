#!/usr/bin/env python3
"""One run of ADflow, for flow_adflow.py: reads a JSON file, writes another.

    mpirun -n 2 python3 adflow_solve.py case.json found.json

Runs in the interpreter that ADflow was built for. The case has `options` (ADflow's own), `flow` (of its
AeroProblem); what it finds: the forces, and of each iteration the seconds since the solver began, drag, lift,
residual and how many linear iterations there were until then.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from adflow import ADFLOW
from baseclasses import AeroProblem
from mpi4py import MPI

QUANTITIES = ("cl", "cd", "cdp", "cdv")


def main() -> None:
    case = json.loads(Path(sys.argv[1]).read_text())
    began = time.perf_counter()
    solver = ADFLOW(options=case["options"], comm=MPI.COMM_WORLD)
    problem = AeroProblem(name="flow", evalFuncs=list(QUANTITIES), **case["flow"])
    solver.setAeroProblem(problem)
    ready = time.perf_counter()
    solver(problem)
    ended = time.perf_counter()
    forces: dict[str, float] = {}
    solver.evalFunctions(problem, forces)
    # Names of iterations may end in bytes that Fortran has not set
    solver._convertFortranStringArrayToList = lambda rows: [b"".join(row).decode("latin-1") for row in rows]
    history = {name.strip(): values for name, values in solver.getConvergenceHistory().items()}
    if MPI.COMM_WORLD.rank:
        return
    columns = {
        "seconds_at": "wall time",
        "drag": "CoefDrag",
        "lift": "CoefLift",
        "residual": "RSDMassRMS",
    }
    found = {
        "seconds_of_start": ready - began,
        "seconds": ended - ready,
        "forces": {name: float(forces[f"flow_{name}"]) for name in QUANTITIES},
        "work": [int(each) for each in history["total minor iters"]],
    }
    for name, theirs in columns.items():
        if theirs in history:
            found[name] = [float(each) for each in history[theirs]]
    Path(sys.argv[2]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
