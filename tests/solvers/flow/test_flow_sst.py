"""Compressible flow with Menter's SST model: the exact decay of turbulence, NASA's plate and airfoil beside
CFL3D on the same grids, and bits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flow_cases import PLATE_X, Done, airfoil, at_end, cfl3d, plate, run_flow, section
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
    """k and omega of a flow without walls after a while. A vortex, too weak to count, keeps subiterations
    going: they end where the residual of the flow is small.
    """
    case: Case = {
        "solver": "flow",
        "grid": {"kind": "brick", "cells": [4, 4], "periodic": [1, 2]},
        "flow": {"equations": "rans", "model": "sst", "mach": 0.3, "reynolds": 1e6},
        "time": {
            "kind": "unsteady",
            "step": step,
            "end": END,
            "drop": 0.0,
            "subiterations": 12,
            "cfl": 1e6,
        },
    }
    case["flow"] |= {"k": K, "omega": OMEGA * 0.3 / 1e6, "initial": "vortex"}
    case["initial"] = {"strength": 1e-4, "radius": 0.2, "centre": [0.5, 0.5]}
    values = at_end(run_flow(case, folder, "1x1", "--checkpoint", "1000000").folder)["k and omega"]
    k, omega = values.reshape(2, -1)
    return k, omega


def test_turbulence_without_shear_decays_as_the_exact_solution_does(tmp_path: Path) -> None:
    """omega' = -beta omega^2 and k' = -beta* omega k: omega = omega_0 / (1 + beta omega_0 t), k = k_0 (1 +
    beta omega_0 t)^(-beta* / beta), with beta = 0.0828 far from walls. Of second order in time.
    """
    grown = 1 + 0.0828 * OMEGA * END
    errors = []
    for n in (10, 20, 40):
        k, omega = decayed(END / n, tmp_path / str(n))
        assert np.ptp(k) < 1e-8 * K
        assert np.ptp(omega) < 1e-8 * OMEGA
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


@pytest.mark.soak
@pytest.mark.parametrize("model", ["sst-v", "sst"])
def test_plates_have_the_friction_of_cfl3d(tmp_path: Path, model: str) -> None:
    for points in PLATES:
        cf = plate_friction(run_plate(points, model, tmp_path / points))
        known = cfl3d_friction(f"plate-{points}-{model}")
        print(f"{points}: Cf {cf:.7f}, CFL3D {known:.7f}, off {cf / known - 1:.3%}")
        assert cf == pytest.approx(known, rel=0.015)


# -- The airfoil


def run_airfoil(model: str, iterations: int, folder: Path, layout: str = "1x2", **grid: Any) -> Done:
    time = {"cfl": 1000.0, "cfl_start": 10.0, "ramp": 20, "multigrid": 4, "smooth": [2, 1]}
    case = airfoil("113x33", iterations=iterations, sequence=[20, 20], **time)
    case["grid"] |= grid
    return run_flow(with_model(case, model), folder, layout)


def test_the_coarse_airfoil_has_the_forces_that_cfl3d_finds_there(tmp_path: Path) -> None:
    done = run_airfoil("sst-v", 400, tmp_path / "run")
    theirs = cfl3d("naca-113x33-sst-v")["forces"]
    print(f"Cl {done.last('lift')}, Cd {done.last('drag')}; CFL3D {theirs}")
    assert done.settled("drag") < 1e-4
    assert done.last("lift") == pytest.approx(theirs["cl"], rel=0.005)
    assert done.last("drag") == pytest.approx(theirs["cd"], rel=0.005)


def test_bits_of_cycles_do_not_depend_on_patches(tmp_path: Path) -> None:
    """Pressure and friction on the walls, with coarser grids before and in cycles."""
    rows = []
    for number, patch in enumerate(([16, 16], [64, 32], [24, 8])):
        case = airfoil("113x33", iterations=6, sequence=[4, 4], cfl=1000.0, multigrid=4, smooth=[2, 1])
        case["grid"]["patch"] = patch
        done = run_flow(with_model(case, "sst"), tmp_path / str(number))
        rows.append(sorted(max(done.folder.glob("surface-*.csv")).read_text().splitlines()))
    assert rows[0] == rows[1] == rows[2]


@pytest.mark.parametrize("model", ["sst", "sa"])
def test_meshes_that_overlap_have_the_forces_of_one_grid(tmp_path: Path, model: str) -> None:
    """NACA 0012 at two degrees on a coarse grid; cells of the meshes away from it differ."""
    found = []
    for overlaps in (False, True):
        time = {"cfl": 1000.0, "cfl_start": 5.0, "ramp": 40, "iterations": 400}
        case = section("coarse", overlaps, {}, {"first": 5e-4, "cells": [64, 12, 40]}, time=time)
        case["verify"] = {"drop": 0.5}  # figures of results that count
        case["flow"] |= {"equations": "rans", "model": model, "reynolds": 1e5, "alpha": 2.0}
        case["boundary"]["airfoil-wall" if overlaps else "wall"] = {"kind": "wall"}
        found.append(run_flow(case, tmp_path / str(overlaps)))
        assert found[-1].settled("drag") < 3e-4
    one, two = found
    print("lift and drag", *((of.last("lift"), of.last("drag")) for of in found))
    assert two.last("drag") == pytest.approx(one.last("drag"), rel=0.01)
    assert two.last("lift") == pytest.approx(one.last("lift"), rel=0.04)
    result = json.loads((two.folder / "result.json").read_text())
    figures = {figure["name"]: figure["value"] for figure in result["figures"]}
    print("lost", figures["mass not conserved by the overlap"])
    assert 0 < abs(figures["mass not conserved by the overlap"]) < 1e-3


def test_a_far_field_without_turbulence_is_refused(tmp_path: Path) -> None:
    case = with_model(plate("35x25", iterations=1), "sst")
    case["flow"]["k"] = 0.0
    with pytest.raises(StrataError, match=r"flow\.k"):
        run_case(case, tmp_path / "run", "1x1", check=False)
