"""Writes an EAM potential of metals as a setfl file, from the formulas of Zhou, Johnson and Wadley.

    python cases/md/zhou.py Cu > copper.eam.alloy
    python cases/md/zhou.py Cu Ni --points 500 > copper-nickel.eam.alloy

Formulas and parameters: X. W. Zhou, R. A. Johnson, H. N. G. Wadley, Phys. Rev. B 69, 144113 (2004), equations
(1) to (9) and table III. Energies in eV, lengths in Angstrom.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Metal:
    """Table III, with what a setfl file says besides: number, mass (u), lattice constant and type."""

    number: int
    mass: float
    lattice: float
    r_e: float
    f_e: float
    rho_e: float
    rho_s: float
    alpha: float
    beta: float
    a: float
    b: float
    kappa: float
    lam: float
    f_n: tuple[float, float, float, float]
    f: tuple[float, float, float, float]
    eta: float
    f_s: float


METALS = {
    "Cu": Metal(
        *(29, 63.546, 3.615, 2.556162, 1.554485, 21.175871, 21.175395, 8.127620, 4.334731),
        *(0.396620, 0.548085, 0.308782, 0.756515),
        (-2.170269, -0.263788, 1.088878, -0.817603),
        (-2.19, 0.0, 0.561830, -2.100595),
        *(0.310490, -2.186568),
    ),
    "Ni": Metal(
        *(28, 58.6934, 3.52, 2.488746, 2.007018, 27.562015, 27.930410, 8.383453, 4.471175),
        *(0.429046, 0.633531, 0.443599, 0.820658),
        (-2.693513, -0.076445, 0.241442, -2.375626),
        (-2.70, 0.0, 0.265390, -0.152856),
        *(0.469000, -2.699486),
    ),
}


def _falling(r: np.ndarray, m: Metal, height: float, slope: float, cut: float) -> np.ndarray:
    return height * np.exp(-slope * (r / m.r_e - 1)) / (1 + (r / m.r_e - cut) ** 20)


def density(r: np.ndarray, m: Metal) -> np.ndarray:
    """The electron density at a distance from an atom."""
    return _falling(r, m, m.f_e, m.beta, m.lam)


def pair(r: np.ndarray, one: Metal, other: Metal) -> np.ndarray:
    """The energy of a pair; of unlike metals the mean of both, weighted by densities."""

    def alike(m: Metal) -> np.ndarray:
        return _falling(r, m, m.a, m.alpha, m.kappa) - _falling(r, m, m.b, m.beta, m.lam)

    ratio = density(r, other) / density(r, one)
    return (ratio * alike(one) + alike(other) / ratio) / 2


def embedding(rho: np.ndarray, m: Metal) -> np.ndarray:
    """The energy of an atom in the electron density of all others."""
    low, high = 0.85 * m.rho_e, 1.15 * m.rho_e
    power = np.where(rho > 0, np.maximum(rho, 1e-300) / m.rho_s, 1.0) ** m.eta
    return np.select(
        [rho < low, rho < high],
        [np.polyval(m.f_n[::-1], rho / low - 1), np.polyval(m.f[::-1], rho / m.rho_e - 1)],
        m.f_s * (1 - np.log(power)) * power,
    )


def setfl(names: list[str], points: int, cutoff: float) -> str:
    """The file's text. Tables begin at 0, with `points` values, and end one interval before the cutoff."""
    metals = [METALS[name] for name in names]
    r = np.arange(points) * (cutoff / points)
    most = 2.5 * max(m.rho_e for m in metals)
    rho = np.arange(points) * (most / points)
    lines = [
        f"Embedded atom potential of {' and '.join(names)}, written by zhou.py of Strata",
        "Zhou, Johnson, Wadley, Phys. Rev. B 69, 144113 (2004)",
        "units: metal",
        f"{len(names)} {' '.join(names)}",
        f"{points} {most / points:.17g} {points} {cutoff / points:.17g} {cutoff:.17g}",
    ]

    def rows(values: np.ndarray) -> list[str]:
        return [" ".join(f"{v:.10e}" for v in values[i : i + 5]) for i in range(0, points, 5)]

    for m in metals:
        lines.append(f"{m.number} {m.mass} {m.lattice} fcc")
        lines += rows(embedding(rho, m)) + rows(density(r, m))
    for i, one in enumerate(metals):
        for other in metals[: i + 1]:
            lines += rows(r * pair(r, one, other))
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("metals", nargs="+", choices=sorted(METALS))
    parser.add_argument("--points", type=int, default=1000, help="of each table (default: 1000)")
    parser.add_argument("--cutoff", type=float, default=6.0, help="in Angstrom (default: 6.0)")
    given = parser.parse_args()
    sys.stdout.write(setfl(given.metals, given.points, given.cutoff))


if __name__ == "__main__":
    main()
