"""The lift of a wing without friction beside lifting-surface theory."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from flow_cases import run_flow
from solver_cases import solver_program
from wing_theory import plate_slope, wing_slope

from strata.run.case import Case

SPAN, MACH, THICKNESS = 3.0, 0.4, 0.12  # from the plane of symmetry, in chords


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


def test_the_theory_has_the_slopes_of_slender_and_of_endless_wings() -> None:
    """R. T. Jones, NACA Report 835 (1946): pi A / 2; and a plate's 2 pi."""
    assert plate_slope(0.1, 0.0) == pytest.approx(math.pi * 0.1 / 2, rel=0.005)
    assert plate_slope(2000, 0.0) == pytest.approx(2 * math.pi, rel=0.005)


def lift(folder: Path, alpha: float, cells: list[int]) -> float:
    """NACA 0012, rectangular, its tip rounded off; over a chord times the span."""
    case: Case = {
        "solver": "flow",
        "grid": {
            "kind": "wing",
            "span": SPAN,
            "cells": cells,
            "farfield": 10.0,
            "beyond": 3.0,
            "first": 6e-3,
            "first_along": 0.02,
            "first_nose": 0.01,
            "first_tip": 0.05,
        },
        "flow": {"mach": MACH, "alpha": alpha},
        "scheme": {"kappa": 1 / 3},
        "time": {"iterations": 150, "cfl": 20.0, "cfl_start": 2.0, "ramp": 50, "multigrid": 3},
        "boundary": {
            "wall": {"kind": "slip-wall"},
            "root": {"kind": "symmetry"},
            "farfield": {"kind": "far-field"},
            "outflow": {"kind": "far-field"},
        },
    }
    done = run_flow(case, folder)
    assert done.settled("lift") < 1e-3
    return done.last("lift") / SPAN


def section_slope() -> float:
    """2 pi (1 + 0.77 t / c) for the thickness in slow flow, as Joukowski's sections have. Compressibility
    multiplies it by more than 1 / beta of a plate: C. Kaplan, NACA Report 834 (1946), for elliptic cylinders.
    """
    mu = 1 / math.sqrt(1 - MACH**2)
    kaplan = mu + THICKNESS / (1 + THICKNESS) * (mu * (mu - 1) + 0.6 * (mu**2 - 1) ** 2)
    return 2 * math.pi * (1 + 0.77 * THICKNESS) * kaplan / mu


def test_a_wing_has_the_lift_of_theory(tmp_path: Path) -> None:
    """The tip is half a body of revolution, so the wing is longer by up to half its thickness."""
    length = SPAN + 0.5 * math.pi / 4 * THICKNESS
    theory = wing_slope(2 * length, MACH, section_slope()) * math.radians(4) * length / SPAN
    found = lift(tmp_path / "run", 4.0, [24, 8, 16, 8, 4])
    print(f"lift {found}, theory {theory}, off {found / theory - 1:.4f}")
    assert found == pytest.approx(theory, rel=0.03)
