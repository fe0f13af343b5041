"""The lift of a pitching airfoil, on one grid and on meshes that overlap; the force on a shaking cylinder."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from flow_cases import SECTION_MACH as MACH
from flow_cases import Done, run_flow, section
from section_theory import (
    hankel,
    lift_of_plate,
    lift_of_plate_in_subsonic_flow,
    lift_of_section,
    theodorsen,
)
from solver_cases import solver_program


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


# -- Theory


def test_theodorsens_function_has_the_values_of_his_table() -> None:
    """Table II of Report 496."""
    for k, value in ((0.1, 0.8320 - 0.1723j), (0.2, 0.7276 - 0.1886j), (0.5, 0.5979 - 0.1507j)):
        assert theodorsen(k) == pytest.approx(value, abs=1.5e-4)


def test_the_theories_agree_where_they_meet() -> None:
    """Possio's plate in slow flow, and a section that is nearly a plate, have Theodorsen's lift."""
    k = 0.1
    assert lift_of_plate_in_subsonic_flow(k, 0.01) == pytest.approx(lift_of_plate(k), rel=1e-3)
    assert lift_of_section(0.005, k) == pytest.approx(lift_of_plate(k), rel=2e-3)


@cache
def lift_in_theory(k: float) -> complex:
    """What thickness makes of the lift in incompressible flow, times a plate's in subsonic flow."""
    return lift_of_section(0.12, k) / lift_of_plate(k) * lift_of_plate_in_subsonic_flow(k, MACH)


# -- The airfoil


def slope(size: str, overlaps: bool, folder: Path) -> float:
    """Of the steady lift, over radians."""
    case = section(size, overlaps, {}, time={"cfl": 50.0, "ramp": 50, "iterations": 1500})
    case["flow"]["alpha"] = 1.0
    done = run_flow(case, folder)
    print(f"steady: lift {done.last('lift')}, moved {done.settled('lift')}, {done.last('residual')}")
    return done.last("lift") / math.radians(1)


def pitching(
    size: str, overlaps: bool, k: float, steps: int, folder: Path, periods: int = 2, drop: float = 1e-3
) -> Done:
    """With one degree of amplitude."""
    frequency = 2 * MACH * k
    period = 2 * math.pi / frequency
    motion = {"kind": "pitch", "amplitude": -1.0, "frequency": frequency, "centre": [0.25, 0.0]}
    time = {"kind": "unsteady", "step": period / steps, "end": period * periods}
    time |= {"cfl": 1000.0, "cfl_start": 1000.0, "subiterations": 400, "drop": drop}
    return run_flow(section(size, overlaps, motion, time=time), folder, "1x2", "--series", "1")


def amplitude(done: Done, steps: int) -> complex:
    """Of the lift over the last period, over that of the angle, a sine."""
    lift = done.series["lift"][-steps:]
    at = 2 * math.pi * np.arange(1, steps + 1) / steps
    return complex(2j * np.mean(lift * np.exp(-1j * at)) / math.radians(1))


def beside_theory(size: str, overlaps: bool, k: float, found: complex) -> tuple[float, float]:
    """How far an amplitude is off theory, as a share; and the angle between both, in degrees."""
    theory = lift_in_theory(k)
    off = found / theory
    print(f"{size}, {'two meshes' if overlaps else 'one grid'}, k {k}: lift {abs(found):.3f} a radian at")
    print(f"{math.degrees(np.angle(found)):.2f} degrees; theory {abs(theory):.3f} at", end=" ")
    print(f"{math.degrees(np.angle(theory)):.2f} degrees: off {abs(off) - 1:.3f}", flush=True)
    return abs(off) - 1, math.degrees(np.angle(off))


def test_a_pitching_airfoil_has_the_lift_of_theory(tmp_path: Path) -> None:
    """That of a plate is 5.58 at -2.6 degrees (Theodorsen over sqrt(1 - M^2)); with what compressibility and
    thickness do to the wake's share of it, 5.84 at -7.2 degrees."""
    k, steps = 0.1, 24
    found = [
        amplitude(pitching("coarse", overlaps, k, steps, tmp_path / str(overlaps)), steps)
        for overlaps in (False, True)
    ]
    for overlaps, one in zip((False, True), found, strict=True):
        off, behind = beside_theory("coarse", overlaps, k, one)
        assert abs(off) < 0.03
        assert abs(behind) < 1
    assert found[1] == pytest.approx(found[0], rel=0.02)


@pytest.mark.soak
@pytest.mark.parametrize("k", [0.05, 0.1, 0.2])
def test_the_lift_follows_the_frequency_as_in_theory(tmp_path: Path, k: float) -> None:
    """On finer grids, over the lift of the same airfoil that stands still: what lift loses by its wake."""
    steps = 48
    for overlaps in (False, True):
        folder = tmp_path / str(overlaps)
        steady = slope("fine", overlaps, folder / "steady")
        found = amplitude(pitching("fine", overlaps, k, steps, folder / "pitching", 3, 3e-4), steps)
        off, behind = beside_theory("fine", overlaps, k, found)
        assert abs(off) < 0.025
        assert abs(behind) < 1
        plate = abs(lift_of_plate(k)) / (2 * math.pi)
        print(f"over the slope {steady:.3f}: {abs(found) / steady:.3f}, plate {plate:.3f}")
        assert abs(found) / steady == pytest.approx(plate, rel=0.1)


# -- A wall that accelerates


def test_a_cylinder_that_shakes_in_a_fluid_at_rest_has_the_force_of_acoustics(tmp_path: Path) -> None:
    """Waves go out from a cylinder of radius a that goes to and fro by h sin(omega t): the potential is that
    of a dipole, and the force pi a rho omega^2 h H1(z) / (omega H1'(z)), z = omega a over the speed of sound
    (Morse and Ingard, Theoretical Acoustics, 1968, section 7.3). For small z that is the mass of the fluid
    displaced. Here it is 1.17 times as much, and 20 degrees of it are waves. Differences in time see a
    sine's slope as D times what it is, in the wall's speed and in that of the fluid.
    """
    omega, heave, steps, periods = 1.0, 1e-3, 48, 2
    period = 2 * math.pi / omega
    motion = {"kind": "path", "heave": [0.0, heave], "frequency": omega}
    time = {"kind": "unsteady", "step": period / steps, "end": period * periods}
    case = {
        "solver": "flow",
        "grid": {"kind": "cylinder", "cells": [48, 28], "farfield": 12.0, "motion": motion},
        "flow": {"mach": 0.0},
        "reference": {"mach": 1.0},
        "boundary": {"wall": {"kind": "slip-wall"}, "farfield": {"kind": "far-field"}},
        "time": time | {"cfl": 1000.0, "cfl_start": 1000.0, "subiterations": 100, "drop": 1e-3},
    }
    lift = run_flow(case, tmp_path / "run", "1x2", "--series", "1").series["lift"][-steps:]
    force = complex(2j * np.mean(0.5 * lift * np.exp(-2j * math.pi * np.arange(1, steps + 1) / steps)))
    turn = np.exp(-2j * math.pi / steps)
    differences = complex((1.5 - 2 * turn + 0.5 * turn**2) / (2j * math.pi / steps))
    a = 0.5
    z = omega * a
    theory = -math.pi * a * omega * heave * hankel(1, z) / (hankel(0, z) - hankel(1, z) / z)
    off = force / (theory * differences**2)
    print(f"force over theory {abs(off):.4f} at {math.degrees(np.angle(off)):.2f} degrees", flush=True)
    assert abs(off - 1) < 0.01
