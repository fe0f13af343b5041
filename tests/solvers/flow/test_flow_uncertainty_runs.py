"""`strata study uncertainty` with the solver: a cylinder whose drag is known, on three grids and with its far
field twice as far away. tests/python/flow/test_flow_uncertainty.py has what is made of the numbers.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from flow_cases import run_flow
from solver_cases import solver_program

from strata.run.case import Case, text_of

CELLS, FAR = [96, 64], 50.0  # diameters


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def cylinder(far: float = FAR, coarsen: int = 0) -> Case:
    """At Re = 40."""
    grid = {"kind": "cylinder", "cells": CELLS, "patch": CELLS, "farfield": far, "coarsen": coarsen}
    time = {
        "iterations": 150,
        "cfl": 50.0,
        "ramp": 50,
        "sequence": [20, 20][coarsen:],
        "multigrid": 4 - coarsen,
    }
    return {
        "solver": "flow",
        "grid": grid,
        "flow": {"equations": "laminar", "mach": 0.1, "reynolds": 40.0},
        "time": time | {"smooth": [2, 1]},
        "boundary": {"wall": {"kind": "wall"}, "farfield": {"kind": "far-field"}},
    }


def test_the_interval_of_a_drag_has_what_is_known(front: str, tmp_path: Path) -> None:
    """1.522: S. C. R. Dennis and G.-Z. Chang, J. Fluid Mech. 42 (1970) 471."""
    case = tmp_path / "cylinder.toml"
    case.write_text(text_of(cylinder()))
    out = tmp_path / "out"
    words = [front, "study", "uncertainty", str(case), "--grids", "3", "--layout", "1x2", "--out", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    found = json.loads((out / "uncertainty.json").read_text())
    drag = found["coefficients"]["drag"]
    assert abs(1.522 - drag["value"]) < drag["uncertainty"]
    assert drag["limit"] == pytest.approx(1.522, rel=0.01)
    # It says something: less than the two finest grids differ by. Their order is the scheme's.
    coarse = found["grids"][1]["drag"]
    assert drag["uncertainty"] < abs(coarse - drag["value"])
    assert 1.5 < drag["order"] < 2.5
    assert drag["settled"] and drag["iteration"] < 0.01 * drag["grid"]
    # The second grid is every second point, and its far field is moved: the runs by hand are the same.
    assert coarse == run_flow(cylinder(coarsen=1), tmp_path / "half").last("drag")
    far = run_flow(cylinder(2 * FAR, coarsen=1), tmp_path / "far").last("drag")
    assert drag["far_field"] == pytest.approx(abs(far - coarse), rel=1e-9) and drag["far_field"] > 0
