"""Potentials as values: what the solver and `strata-md-evaluate` are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from strata.errors import StrataError

SHIFTS = ("none", "energy", "force")
PRECISIONS = ("full", "mixed")


@dataclass(frozen=True)
class LennardJones:
    """4 epsilon ((sigma / r)^12 - (sigma / r)^6) up to the cutoff. `species`: epsilon and sigma of each name;
    unlike ones are mixed (Lorentz and Berthelot) unless `pairs` has them, as (epsilon, sigma[, cutoff]).
    `shift`: "none"; "energy", to 0 at the cutoff; "force", which is then 0 there too.
    """

    species: Mapping[str, tuple[float, float]] = field(default_factory=lambda: {"A": (1.0, 1.0)})
    cutoff: float = 2.5
    shift: str = "none"
    pairs: Mapping[tuple[str, str], tuple[float, ...]] = field(default_factory=dict)
    precision: str = "full"

    def __post_init__(self) -> None:
        for what, value, allowed in (
            ("shift", self.shift, SHIFTS),
            ("precision", self.precision, PRECISIONS),
        ):
            if value not in allowed:
                raise StrataError(f"no such {what}", at=what, given=value, allowed=", ".join(allowed))
        for pair in self.pairs:
            for name in pair:
                if name not in self.species:
                    raise StrataError(
                        "a pair of species that are not there", given=name, allowed=", ".join(self.species)
                    )
        if not (np.isfinite(self.table()).all() and (self.table()[:, 1:] > 0).all()):
            given = ", ".join(" ".join(f"{x:g}" for x in row) for row in self.table())
            raise StrataError(
                "not numbers of a potential",
                given=f"epsilon, sigma, cutoff of pairs: {given}",
                allowed="finite; sigma and cutoff above 0",
            )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.species)

    def table(self) -> np.ndarray:
        """epsilon, sigma, cutoff of each pair of species, in the order of their names."""
        rows = []
        for a, (epsilon_a, sigma_a) in self.species.items():
            for b, (epsilon_b, sigma_b) in self.species.items():
                given = self.pairs.get((a, b)) or self.pairs.get((b, a))
                row = given or (np.sqrt(epsilon_a * epsilon_b), (sigma_a + sigma_b) / 2)
                rows.append((*row, self.cutoff)[:3])
        return np.array(rows, dtype=float)

    def request(self) -> bytes:
        """What `strata-md-evaluate` is told."""
        head = f"lj {self.shift} {self.precision} {len(self.species)}\n"
        return head.encode() + np.ascontiguousarray(self.table()).tobytes()


@dataclass(frozen=True)
class Eam:
    """The embedded-atom method: a setfl file, and the elements of it that atoms are of."""

    file: Path | str
    names: tuple[str, ...]

    def request(self) -> bytes:
        """What `strata-md-evaluate` is told."""
        path = Path(self.file).resolve()
        return f"eam {len(self.names)} {' '.join(self.names)} {path}\n".encode()


Potential = LennardJones | Eam
