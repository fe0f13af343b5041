"""Systems of units: LAMMPS's `lj`, `metal` and `real`, as the solver has them (solvers/md/units.hpp)."""

from __future__ import annotations

from dataclasses import dataclass

from strata.errors import StrataError


@dataclass(frozen=True)
class Units:
    """Names of units, and the factors between them.

    `boltzmann`: energy = boltzmann * temperature. `energy_density`: pressure = energy_density * energy /
    volume. `mass_velocity2`: energy = mass_velocity2 * mass * velocity^2. `second`, `metre`, `pascal`: one
    unit of time, length and pressure in SI; 0 in reduced units.
    """

    name: str
    length: str
    time: str
    energy: str
    mass: str
    temperature: str
    pressure: str
    boltzmann: float
    mass_velocity2: float
    energy_density: float
    time_step: float
    second: float = 0.0
    metre: float = 0.0
    pascal: float = 0.0


UNITS = {
    "lj": Units("lj", "sigma", "tau", "epsilon", "m", "epsilon/k", "epsilon/sigma3", 1, 1, 1, 0.005),
    "metal": Units(
        *("metal", "A", "ps", "eV", "g/mol", "K", "bar"),
        *(8.617343e-5, 1.0364269e-4, 1.6021765e6, 0.001, 1e-12, 1e-10, 1e5),
    ),
    "real": Units(
        *("real", "A", "fs", "kcal/mol", "g/mol", "K", "atm"),
        *(0.0019872067, 48.88821291**2, 68568.415, 1, 1e-15, 1e-10, 101325),
    ),
}


def units(name: str) -> Units:
    """By name; raises StrataError where there are none of this name."""
    if name not in UNITS:
        raise StrataError("there are no units of this name", given=name, allowed=", ".join(UNITS))
    return UNITS[name]
