"""Meshes that move, as a run shows them: walls at their places, and two turns of a cylinder to the end."""

from __future__ import annotations

import csv
import json
import math

import pytest
from solver_cases import FLOW_CASES, changed, solver_program

CENTRE, RATE, STEP = (-1.5, 0.0), 0.1333333333, 0.25


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver is not built")


def test_surface_files_have_walls_where_they_are(run, tmp_path):
    case = changed(tmp_path, "turning-cylinder", cases=FLOW_CASES, subiterations="2")
    run(case, "--out", tmp_path / "out", "--steps", 4, check=False)
    with (tmp_path / "out" / "surface-000004.csv").open() as file:
        rows = list(csv.DictReader(file))
    angle = RATE * STEP * 4
    # The cylinder's middle is at the origin at first.
    middle = [
        CENTRE[0] - CENTRE[0] * math.cos(angle),
        CENTRE[1] - CENTRE[0] * math.sin(angle),
    ]
    assert len(rows) == 64
    for row in rows:
        away = math.hypot(float(row["x"]) - middle[0], float(row["y"]) - middle[1])
        assert away == pytest.approx(0.5 * math.cos(math.pi / 64), abs=1e-6)


@pytest.mark.soak
def test_two_turns_of_a_cylinder_fail_in_no_step(run, tmp_path):
    out = tmp_path / "out"
    run(FLOW_CASES / "turning-cylinder.toml", "--out", out, layout="1x2", timeout=3600, check=False)
    with (out / "series.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert int(rows[-1]["step"]) == 377
    assert float(rows[-1]["failed steps"]) == 0
    assert json.loads((out / "result.json").read_text())
