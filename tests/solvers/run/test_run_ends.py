"""Where runs end, and at which steps what is due is written: rounding makes no step more and none fewer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from solver_cases import FLOW_CASES, changed, solver_program, steps_in

NEEDS_HDF5 = "this build cannot write fields"

STEPS_OF_A_TENTH = """import numpy as np

from strata.graph import Graph
from strata.graph.program import Case, Solver, drive


def declare(graph: Graph, case: Case) -> Solver:
    grid = graph.grid("line", (4,), (4,), (True,), (1.0,))
    u = graph.field("u", grid, history=1)
    time = graph.scalar("time", history=1)

    @graph.start(grid, makes={"u": u})
    def first(here):
        here["u"][:] = 1

    @graph.step(grid, needs={"old": u.previous()}, makes={"u": u})
    def stay(here):
        here["u"][:] = here["old"]

    @graph.once(needs={"before": time.previous()}, makes={"time": time})
    def a_sum(here):
        here["time"][0] = here["before"][0] + 0.1

    return Solver(time=time, end=case["end"])


case = Case("tenths", "Steps of 0.1, added up.")
case.key("end", type=float, meaning="of the run")
if __name__ == "__main__":
    drive(case, declare)
"""


def steps_of(out: Path) -> int:
    return json.loads((out / "result.json").read_text())["steps"]


@pytest.mark.parametrize(("end", "steps"), [("1.0", 10), ("0.8", 8), ("0.85", 9), ("0.3", 3)])
def test_a_flow_in_steps_of_a_tenth_ends_with_the_step_that_reaches_its_end(front, run, tmp_path, end, steps):
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")
    small = {"cells": "[8, 8]", "patch": "[4, 4]", "zones": "[1, 1]", "subiterations": "1", "error": "0.0"}
    case = changed(tmp_path, "vortex", cases=FLOW_CASES, step="0.1", end=end, **small)
    done = run(case, "--out", tmp_path / "out", check=False)
    assert steps_of(tmp_path / "out") == steps, done.stderr


@pytest.mark.parametrize(("end", "steps"), [("1.0", 10), ("0.3", 3), ("0.25", 3)])
def test_a_clock_that_adds_its_steps_up_ends_a_run_as_well(run, tmp_path, end, steps):
    (tmp_path / "tenths.py").write_text(STEPS_OF_A_TENTH)
    case = tmp_path / "case.toml"
    case.write_text(f'solver = "tenths"\nend = {end}\n')
    run(tmp_path / "tenths.py", case, "--out", tmp_path / "out")
    assert steps_of(tmp_path / "out") == steps


def test_fields_by_time_are_written_by_the_step_that_reaches_it(run, tmp_path):
    (tmp_path / "tenths.py").write_text(STEPS_OF_A_TENTH)
    case = tmp_path / "case.toml"
    case.write_text('solver = "tenths"\nend = 2.0\n[output]\ninterval = 0.5\n')
    done = run(tmp_path / "tenths.py", case, "--out", tmp_path / "out", check=False)
    if NEEDS_HDF5 in done.stderr:
        pytest.skip("no HDF5")
    assert done.returncode == 0, done.stderr
    assert steps_in(tmp_path / "out" / "fields", "line-*.vtkhdf") == [0, 5, 10, 15, 20]
