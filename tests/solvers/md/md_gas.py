"""Energy and pressure of a thin Lennard-Jones gas, from integrals over its pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.fft import dst

STEP, POINTS = 0.0025, 1 << 14  # of the distance, in sigma: up to 41


@dataclass(frozen=True)
class Gas:
    """Energy of an atom and pressure, in reduced units."""

    energy: float
    pressure: float


def _indirect(rho: float, boltzmann: np.ndarray, r: np.ndarray) -> np.ndarray:
    """ln g + u / T by the hypernetted chain: J. M. J. van Leeuwen, J. Groeneveld and J. de Boer, Physica 25,
    792 (1959). Exact up to the third virial coefficient; of the fourth it lacks one integral.
    """
    wave = np.arange(1, POINTS) * np.pi / (POINTS * STEP)
    gamma = np.zeros_like(r)
    for _ in range(200):
        direct = boltzmann * np.exp(gamma) - 1 - gamma
        c = 2 * np.pi * STEP / wave * dst(direct * r, 1)
        new = dst((c / (1 - rho * c) - c) * wave, 1) / (4 * np.pi * POINTS * STEP * r)
        change = float(np.abs(new - gamma).max())
        gamma = new
        if change < 1e-12:
            return gamma
    raise ValueError(f"no thin gas: its density is {rho}")


def thin_gas(density: float, temperature: float, cutoff: float, atoms: int, moving: bool) -> Gas:
    """Truncated at `cutoff`, with tails for g = 1 beyond it, pressure by the virial; so many atoms in the
    canonical ensemble, to the first order in 1 / atoms: each has atoms - 1 others. The fourth virial
    coefficient is right to some percent: 1e-5 of the energy at T = 0.85, density 0.009.

    `moving`: atoms that move feel no jump of the potential at the cutoff, so where they are has the
    probability of the potential that is shifted to 0 there: in a gas at T = 0.85, cut at 3.0, 0.65 % fewer
    pairs than Monte Carlo finds with the jump. Energy and virial are those of the potential without a shift.
    """
    r = np.arange(1, POINTS) * STEP
    inside = r < cutoff - STEP / 2
    potential = np.minimum(4 * (r**-12.0 - r**-6.0), 600 * temperature)
    jump = 4 * (cutoff**-12 - cutoff**-6) if moving else 0.0
    gamma = _indirect(density, np.exp(-np.where(inside, potential - jump, 0) / temperature), r)
    # At the cutoff integrands end with what they have just below it: half of that, by the trapezoidal rule.
    last = int(inside.sum())
    r, u = r[: last + 1], potential[: last + 1]
    weight = np.full(last + 1, STEP)
    weight[-1] = STEP / 2
    slope = np.where(u < 600 * temperature, 4 * (6 * r**-7.0 - 12 * r**-13.0), 0)
    seen = np.exp(-(u - jump) / temperature) * (np.exp(gamma[: last + 1]) - 1 / atoms) * weight
    energy = 2 * np.pi * density * float((r**2 * u * seen).sum())
    pressure = density * temperature - 2 * np.pi / 3 * density**2 * float((r**3 * slope * seen).sum())
    energy += 8 * np.pi / 3 * density * (cutoff**-9 / 3 - cutoff**-3)
    pressure += 16 * np.pi / 3 * density**2 * (2 * cutoff**-9 / 3 - cutoff**-3)
    return Gas(energy, pressure)
