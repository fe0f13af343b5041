"""Meshes that overlap on coarser grids and in multigrid cycles: how soon a flow settles, and its bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flow_cases import Done, run_flow
from solver_cases import solver_program

from strata.run.case import Case

CYCLES = {"multigrid": 3, "smooth": [2, 1]}


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def cylinder(folder: Path, layout: str = "1x2", **time: Any) -> Done:
    """At Reynolds number 40, in a ring of its own over rectangles."""
    case: Case = {
        "solver": "flow",
        "mesh": {
            "background": {"kind": "brick", "cells": [64, 64], "low": [-20.0, -20.0], "high": [20.0, 20.0]}
            | {"stretch": 3.5, "patch": [32, 32]},
            "ring": {"kind": "cylinder", "cells": [64, 32], "patch": [32, 16], "first": 0.02}
            | {"farfield": 3.0},
        },
        "flow": {"equations": "laminar", "mach": 0.1, "reynolds": 40.0},
        "time": {"cfl_start": 5.0, "cfl": 20.0, "ramp": 30, "implicit": "lu-sgs"} | time,
        "boundary": {
            "ring-wall": {"kind": "wall"},
            "ring-farfield": {"kind": "overset"},
            **{f"background-{face}": {"kind": "far-field"} for face in ("x-min", "x-max", "y-min", "y-max")},
        },
    }
    return run_flow(case, folder, layout, "--series", "1", "--bind", "none")


@pytest.mark.parametrize("first", [[], [20, 20]])
def test_a_cylinder_settles_much_sooner_by_cycles(tmp_path: Path, first: list[int]) -> None:
    without = cylinder(tmp_path / "without", iterations=120)
    cycles = cylinder(tmp_path / "cycles", iterations=120, sequence=first, **CYCLES)
    print("residuals", cycles.last("residual"), without.last("residual"), "drag", cycles.last("drag"))
    assert cycles.last("failed steps") == 0
    assert cycles.last("residual") < 0.01 * without.last("residual")
    # 1.6042 where both have settled, after thousands of iterations without cycles.
    assert cycles.last("drag") == pytest.approx(1.6042, abs=0.04)


def test_cycles_have_the_same_bits_on_every_layout(tmp_path: Path) -> None:
    texts = [
        (
            cylinder(tmp_path / layout, layout, iterations=3, sequence=[2], **CYCLES).folder / "series.csv"
        ).read_text()
        for layout in ("1x1", "2x1", "4x1")
    ]
    assert len(texts[0].splitlines()) == 6 and len(set(texts)) == 1
