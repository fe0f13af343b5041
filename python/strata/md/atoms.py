"""Atoms in a periodic box: from arrays or a lattice, and as files that a case can start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from strata.errors import FAILED, StrataError, why

BASES = {
    "sc": [[0, 0, 0]],
    "bcc": [[0, 0, 0], [0.5, 0.5, 0.5]],
    "fcc": [[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]],
}


@dataclass
class Atoms:
    """Positions (N x 3) in a box with edges `box` that begins at 0. `species`: a name for each atom, or one
    for all. `masses`: of each name. `velocities`: N x 3, or None.
    """

    positions: np.ndarray
    box: np.ndarray
    species: np.ndarray | str = "A"
    velocities: np.ndarray | None = None
    masses: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.positions = np.asarray(self.positions, dtype=float)
        self.box = np.broadcast_to(np.asarray(self.box, dtype=float), (3,)).copy()
        if self.positions.ndim != 2 or self.positions.shape[1] != 3 or not np.isfinite(self.positions).all():
            raise StrataError("not positions", given=f"shape {self.positions.shape}", allowed="finite, N x 3")
        if not (np.isfinite(self.box).all() and (self.box > 0).all()):
            raise StrataError("not a box", given=str(self.box), allowed="three lengths above 0")
        count = len(self.positions)
        if isinstance(self.species, str):
            self.species = np.full(count, self.species, dtype=object)
        self.species = np.asarray(self.species, dtype=object)
        if self.velocities is not None:
            self.velocities = np.asarray(self.velocities, dtype=float)
        for name, values, shape in (
            ("species", self.species, (count,)),
            ("velocities", self.velocities, (count, 3)),
        ):
            if values is not None and values.shape != shape:
                raise StrataError(f"not {name} of these atoms", given=str(values.shape), allowed=str(shape))

    def __len__(self) -> int:
        return len(self.positions)

    def kinds(self) -> list[str]:
        """The names of species, in the order in which they first come."""
        return list(dict.fromkeys(self.species))


def lattice(
    kind: str, cells: Sequence[int], constant: float | None = None, density: float | None = None, species="A"
) -> Atoms:
    """Atoms on a cubic lattice ("fcc", "bcc" or "sc") of so many cells, by its constant or by the density of
    atoms.
    """
    if kind not in BASES:
        raise StrataError("there is no lattice of this name", given=kind, allowed=", ".join(BASES))
    if (constant is None) == (density is None):
        raise StrataError(
            "a lattice needs its constant or the density of atoms",
            given="none of both" if constant is None else "both",
            allowed="one of both",
        )
    basis = np.array(BASES[kind])
    if constant is None:
        constant = (len(basis) / density) ** (1 / 3)  # type: ignore[operator]
    corners = np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 1, 3)
    return Atoms((corners + basis).reshape(-1, 3) * constant, np.asarray(cells) * constant, species)


def write_xyz(path: Path, atoms: Atoms) -> None:
    """Extended XYZ in full precision. Never over another file."""
    kinds = "species:S:1:pos:R:3" + (":velo:R:3" if atoms.velocities is not None else "") + ":id:I:1"
    edges = " ".join(f"{v!r}" for v in np.diag(atoms.box).ravel().tolist())
    lines = [str(len(atoms)), f'Lattice="{edges}" Properties={kinds} pbc="T T T"']
    columns = [atoms.positions] + ([atoms.velocities] if atoms.velocities is not None else [])
    for i, (name, row) in enumerate(zip(atoms.species, np.hstack(columns).tolist(), strict=True), start=1):
        lines.append(f"{name} {' '.join(map(repr, row))} {i}")
    _write_new(path, lines)


def write_lammps(path: Path, atoms: Atoms) -> None:
    """A LAMMPS data file (atom_style atomic) in full precision, atoms inside the box, with masses that are
    known. Over no other file.
    """
    kinds = atoms.kinds()
    inside = np.mod(atoms.positions, atoms.box)
    lines = ["# " + " ".join(kinds), "", f"{len(atoms)} atoms", f"{len(kinds)} atom types", ""]
    lines += [f"0.0 {edge!r} {a}lo {a}hi" for a, edge in zip("xyz", atoms.box.tolist(), strict=True)]
    known = [f"{i} {atoms.masses[k]!r} # {k}" for i, k in enumerate(kinds, start=1) if k in atoms.masses]
    if known:
        lines += ["", "Masses", "", *known]
    number = {kind: i for i, kind in enumerate(kinds, start=1)}
    lines += ["", "Atoms # atomic", ""]
    lines += [
        f"{i} {number[kind]} {' '.join(map(repr, row))}"
        for i, (kind, row) in enumerate(zip(atoms.species, inside.tolist(), strict=True), start=1)
    ]
    if atoms.velocities is not None:
        lines += ["", "Velocities", ""]
        lines += [
            f"{i} {' '.join(map(repr, row))}" for i, row in enumerate(atoms.velocities.tolist(), start=1)
        ]
    _write_new(path, lines)


def _write_new(path: Path, lines: list[str]) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise StrataError("there is such a file already", at=str(path), allowed="a new file") from None
    except OSError as error:
        raise StrataError("cannot write atoms", at=str(path), given=why(error), code=FAILED) from None
