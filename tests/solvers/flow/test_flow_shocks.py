"""Shock tubes: Lax' beside the exact solution, Woodward and Colella's blast waves beside a converged one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from flow_cases import FLOW, at_end, run_flow
from solver_cases import solver_program

from strata.run.case import Case


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def tube(cells: int, end: float, steps: int, ends: str, **more: object) -> Case:
    return {
        "solver": "flow",
        "grid": {"kind": "tube", "cells": [cells], "patch": [cells, 1]},
        "scheme": {"limiter": "van albada", "kappa": 0.0},
        "time": {
            "kind": "unsteady",
            "end": end,
            "step": end / steps,
            "cfl": 1e4,
            "subiterations": 30,
            "drop": 1e-3,
            "most_change": 1.0,
            "implicit": "lu-sgs",
        },
        "boundary": {
            "left": {"kind": ends},
            "right": {"kind": ends},
            "side": {"kind": "symmetry"},
        },
        **more,
    }


def lax_error(cells: int, folder: Path) -> float:
    """Root-mean-square error of the density at t = 0.13."""
    case = tube(
        cells,
        0.13,
        2 * cells,
        "supersonic-outflow",
        flow={"initial": "shock tube"},
        initial={"left": [0.445, 0.698, 3.528], "right": [0.5, 0.0, 0.571]},
        verify={"error": 1.0},
    )
    folder = run_flow(case, folder, "1x1").folder
    return float(json.loads((folder / "result.json").read_text())["verification"]["value"])


def test_the_shock_tube_of_lax_comes_to_the_exact_solution(tmp_path: Path) -> None:
    """P. D. Lax, Commun. Pure Appl. Math. 7 (1954) 159. Contact and shock are spread over some cells, so the
    root of the mean square falls with about the root of their width.
    """
    errors = [lax_error(cells, tmp_path / f"{cells}") for cells in (100, 200)]
    print("Lax:", errors)
    assert errors[0] < 0.1
    assert errors[1] < 0.8 * errors[0]


def blast_error(cells: int, folder: Path) -> float:
    """The mean difference of the density from the converged one, at t = 0.038."""
    case = tube(cells, 0.038, 5 * cells, "slip-wall", flow={"initial": "blast waves"})
    run_flow(case, folder, "1x1", "--checkpoint", "1000000")
    rho = at_end(folder)["q"].reshape(4, -1)[0]
    beyond = (rho.size // 5 - cells) // 2  # two layers beyond ends and sides: five rows
    inner = rho.reshape(5, -1)[2, beyond : beyond + cells]
    known = np.loadtxt(FLOW / "blast_waves.txt").reshape(cells, -1).mean(1)
    return float(np.abs(inner - known).mean())


def test_blast_waves_come_to_the_converged_solution(tmp_path: Path) -> None:
    """P. Woodward and P. Colella, J. Comput. Phys. 54 (1984) 115; blast_waves.py made the converged one. The
    gas is heated a hundred thousand times, shocks cross, and contacts are narrow.
    """
    errors = [blast_error(cells, tmp_path / f"{cells}") for cells in (200, 400)]
    print("blast waves:", errors)
    assert errors[0] < 0.22
    assert errors[1] < 0.75 * errors[0]
