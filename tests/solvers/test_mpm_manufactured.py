"""The body force of the manufactured solutions (docs/mpm.md), from nothing but the energy and the motion."""

from __future__ import annotations

import numpy as np
import pytest

MU, LAMBDA, RHO, A = 3846.0, 5769.0, 1.0, 0.05
C = np.sqrt(MU * (3 * LAMBDA + 2 * MU) / (LAMBDA + MU) / RHO)


def energy(F: np.ndarray) -> float:
    log_j = np.log(np.linalg.det(F))
    return 0.5 * MU * (np.sum(F * F) - 3) - MU * log_j + 0.5 * LAMBDA * log_j**2


def slope(f, x: float, h: float = 2e-3) -> float:
    """Of fourth order."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def displacement(X: np.ndarray, t: float) -> np.ndarray:
    return A * np.sin(np.pi * X) * np.sin(np.pi * C * t + np.arange(3) * 2 * np.pi / 3)


def gradient(X: np.ndarray, t: float) -> np.ndarray:
    unit = np.eye(3)
    columns = [slope(lambda s, e=e: X + s * e + displacement(X + s * e, t), 0.0) for e in unit]
    return np.array(columns).T


def piola(X: np.ndarray, t: float, i: int, j: int) -> float:
    F = gradient(X, t)
    unit = np.zeros((3, 3))
    unit[i, j] = 1
    return slope(lambda s: energy(F + s * unit), 0.0)


def formula(X: np.ndarray, t: float) -> np.ndarray:
    phase = np.pi * C * t + np.arange(3) * 2 * np.pi / 3
    u = displacement(X, t)
    F = 1 + A * np.pi * np.cos(np.pi * X) * np.sin(phase)
    stiffness = (LAMBDA * (1 - np.log(F.prod())) + MU) / F**2 + MU
    return -((np.pi * C) ** 2) * u + stiffness * np.pi**2 * u / RHO


def slope_along(f, X: np.ndarray, j: int) -> float:
    return slope(lambda s: f(X + s * np.eye(3)[j]), 0.0)


def found(X: np.ndarray, t: float, i: int) -> float:
    force = sum(slope_along(lambda Y, j=j: piola(Y, t, i, j), X, j) for j in range(3))
    h = 1e-5
    acceleration = slope(lambda at: slope(lambda to: displacement(X, to)[i], at, h), t, h)
    return acceleration - force / RHO


@pytest.mark.parametrize("seed", range(3))
def test_the_body_force_is_what_energy_and_motion_ask_for(seed):
    random = np.random.default_rng(seed)
    X, t = random.uniform(0.1, 0.9, 3), random.uniform(0, 0.02)
    for i in range(3):
        assert formula(X, t)[i] == pytest.approx(found(X, t, i), rel=1e-4, abs=1.0)
