"""Compressible flow with Menter's SST model: the exact decay of turbulence, NASA's plate and airfoil beside
CFL3D on the same grids, and bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import PLATE_X, Done, airfoil, at_end, cfl3d, plate, run_flow
from solver_cases import solver_program

from strata.errors import StrataError
from strata.run.case import Case, run_case


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def with_model(case: Case, model: str) -> Case:
    case["flow"]["model"] = model
    return case


# -- Decay

END, K, OMEGA = 2.0, 1e-4, 3.0  # omega in speeds of sound over a length


def decayed(step: float, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """k and omega of a uniform flow without walls after a while."""
    case: Case = {
        "solver": "flow",
        "grid": {"kind": "brick", "cells": [4, 4], "periodic": [1, 2]},
        "flow": {"equations": "rans", "model": "sst", "mach": 0.3, "reynolds": 1e6},
        "time": {"kind": "unsteady", "step": step, "end": END, "drop": 0.0, "subiterations": 12, "cfl": 1e6},
    }
    case["flow"] |= {"k": K, "omega": OMEGA * 0.3 / 1e6}
    values = at_end(run_flow(case, folder, "1x1", "--checkpoint", "1000000").folder)["k and omega"]
    k, omega = values.reshape(2, -1)
    return k, omega


def test_turbulence_without_shear_decays_as_the_exact_solution_does(tmp_path: Path) -> None:
    """omega' = -beta omega^2 and k' = -beta* omega k: omega = omega_0 / (1 + beta omega_0 t), k = k_0 (1 + beta
    omega_0 t)^(-beta* / beta), with beta = 0.0828 far from walls. Of second order in time.
    """
    grown = 1 + 0.0828 * OMEGA * END
    errors = []
    for n in (10, 20, 40):
        k, omega = decayed(END / n, tmp_path / str(n))
        assert np.ptp(k) < 1e-15 * K
        assert np.ptp(omega) < 1e-14 * OMEGA
        errors.append([abs(k[0] / (K * grown ** (-0.09 / 0.0828)) - 1), abs(omega[0] * grown / OMEGA - 1)])
    print("errors of k and omega:", errors)
    assert max(errors[-1]) < 1e-3
    for coarse, fine in ((errors[0], errors[1]), (errors[1], errors[2])):
        assert all(3 < a / b < 5 for a, b in zip(coarse, fine, strict=True))


# -- The plate


def plate_friction(done: Done) -> float:
    return done.walls.at(PLATE_X, done.walls.cf)


def cfl3d_friction(name: str) -> float:
    wall = cfl3d(name)["wall"]
    return float(np.interp(PLATE_X, wall["X"], wall["Cf"]))


# Iterations, and how many grids a cycle can have.
PLATES = {"35x25": (400, 2), "69x49": (400, 3), "137x97": (500, 4)}


def run_plate(points: str, model: str, folder: Path) -> Done:
    iterations, grids = PLATES[points]
    time = {"cfl": 1000.0, "ramp": 50, "multigrid": grids, "smooth": [2, 1]}
    done = run_flow(with_model(plate(points, iterations=iterations, **time), model), folder)
    print(f"{model} {points}: Cf {plate_friction(done)}, drag {done.last('drag')}, {done.last('residual')}")
    assert done.settled("drag") < 1e-5
    return done


def test_the_coarse_plate_has_the_friction_that_cfl3d_finds_there(tmp_path: Path) -> None:
    done = run_plate("35x25", "sst-v", tmp_path / "run")
    print("CFL3D", cfl3d_friction("plate-35x25-sst-v"), cfl3d("plate-35x25-sst-v")["forces"]["cd"])
    assert plate_friction(done) == pytest.approx(cfl3d_friction("plate-35x25-sst-v"), rel=0.015)
    assert done.last("drag") == pytest.approx(cfl3d("plate-35x25-sst-v")["forces"]["cd"], rel=0.015)
