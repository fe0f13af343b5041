"""The lift of a pitching airfoil beside Theodorsen's theory, on one grid and on meshes that overlap."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from flow_cases import SECTION_MACH as MACH
from flow_cases import Done, run_flow, section
from solver_cases import solver_program


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver of compressible flow is not built")


# -- Theory


def bessel(order: int, x: float) -> tuple[float, float]:
    """J and Y of order 0 or 1, by their integrals (Abramowitz and Stegun 9.1.22)."""
    angle = (np.arange(4000) + 0.5) * math.pi / 4000
    t = (np.arange(20000) + 0.5) * 12.0 / 20000
    j = np.mean(np.cos(order * angle - x * np.sin(angle)))
    y = np.mean(np.sin(x * np.sin(angle) - order * angle))
    tail = (np.exp(order * t) + (-1) ** order * np.exp(-order * t)) * np.exp(-x * np.sinh(t))
    return float(j), float(y - tail.sum() * 12.0 / 20000 / math.pi)


def theodorsen(k: float) -> complex:
    """C(k) = H1 / (H1 + i H0), Hankel functions of the second kind (Theodorsen, NACA Report 496, 1935)."""
    h0, h1 = (j - 1j * y for j, y in (bessel(0, k), bessel(1, k)))
    return h1 / (h1 + 1j * h0)


def lift_of_thin_plate(k: float) -> complex:
    """Of a plate that pitches about its quarter chord: lift over 2 pi times the angle, both as complex
    amplitudes; k = omega c / 2 U. Circulation, and the mass of air that goes with the plate (a = -1/2).
    """
    return theodorsen(k) * (1 + 1j * k) + 0.5 * (1j * k - 0.5 * k**2)


def test_theodorsens_function_has_the_values_of_his_table() -> None:
    """Table II of Report 496."""
    for k, value in ((0.1, 0.8320 - 0.1723j), (0.2, 0.7276 - 0.1886j), (0.5, 0.5979 - 0.1507j)):
        assert theodorsen(k) == pytest.approx(value, abs=1.5e-4)


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
    time = {"kind": "unsteady", "step": period / steps, "end": period * periods * (1 - 1e-9)}
    time |= {"cfl": 1000.0, "cfl_start": 1000.0, "subiterations": 400, "drop": drop}
    return run_flow(section(size, overlaps, motion, time=time), folder, "1x2", "--series", "1")


def amplitude(done: Done, steps: int) -> complex:
    """Of the lift over the last period, over that of the angle, a sine."""
    lift = done.series["lift"][-steps:]
    at = 2 * math.pi * np.arange(1, steps + 1) / steps
    return complex(2j * np.mean(lift * np.exp(-1j * at)) / math.radians(1))


def beside_theory(size: str, overlaps: bool, k: float, found: complex) -> tuple[float, float]:
    """How far an amplitude is off that of a plate in subsonic flow, 2 pi / sqrt(1 - M^2) times Theodorsen's
    (Prandtl and Glauert), as a share; and the angle between both, in degrees."""
    theory = lift_of_thin_plate(k) * 2 * math.pi / math.sqrt(1 - MACH**2)
    off = found / theory
    print(f"{size}, {'two meshes' if overlaps else 'one grid'}, k {k}: lift {abs(found):.3f} a radian at")
    print(f"{math.degrees(np.angle(found)):.2f} degrees; plate {abs(theory):.3f} at", end=" ")
    print(f"{math.degrees(np.angle(theory)):.2f} degrees: off {abs(off) - 1:.3f}", flush=True)
    return abs(off) - 1, math.degrees(np.angle(off))


def test_a_pitching_airfoil_has_the_lift_of_theodorsens_theory(tmp_path: Path) -> None:
    """A section 12 % thick has 9 % more lift than a plate where it stands still, and lags behind it: by four
    degrees at Mach 0.3, by less at 0.15."""
    k, steps = 0.1, 24
    found = [
        amplitude(pitching("coarse", overlaps, k, steps, tmp_path / str(overlaps)), steps)
        for overlaps in (False, True)
    ]
    for overlaps, one in zip((False, True), found, strict=True):
        off, behind = beside_theory("coarse", overlaps, k, one)
        assert abs(off) < 0.08
        assert -6 < behind < 0
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
        assert abs(off) < 0.1
        assert -7 < behind < 0
        plate = abs(lift_of_thin_plate(k))
        print(f"over the slope {steady:.3f}: {abs(found) / steady:.3f}, plate {plate:.3f}")
        assert abs(found) / steady == pytest.approx(plate, rel=0.1)
