"""Structures that other programs wrote, as files that a case can start from: `strata md convert`.

MDAnalysis reads them (N. Michaud-Agrawal et al., J. Comput. Chem. 32, 2319 (2011)): PDB, GRO and many more.
Lengths stay in Angstrom, as the units `real` and `metal` have them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from strata.errors import FAILED, StrataError
from strata.md.atoms import Atoms, write_lammps, write_xyz

_WAYS = {".xyz": write_xyz, ".extxyz": write_xyz, ".data": write_lammps}


def convert(structure: Path, out: Path, select: str = "all", box: Sequence[float] | None = None) -> str:
    """Writes the new file `out`; returns how many atoms of which kinds it has."""
    if out.suffix not in _WAYS:
        raise StrataError(
            "not a form that is written", at=str(out), given=out.suffix, allowed=", ".join(_WAYS)
        )
    atoms = read(structure, select, box)
    _WAYS[out.suffix](out, atoms)
    kinds = ", ".join(f"{int((atoms.species == kind).sum())} {kind}" for kind in atoms.kinds())
    return f"{len(atoms)} atoms ({kinds})"


def read(structure: Path, select: str = "all", box: Sequence[float] | None = None) -> Atoms:
    """The atoms of a file, with elements as species where the file has them, else names or types."""
    analysis = _mdanalysis()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that this does not need
        try:
            universe = analysis.Universe(str(structure))
            chosen = universe.select_atoms(select)
        except (OSError, ValueError, TypeError, analysis.exceptions.SelectionError) as error:
            raise StrataError(
                "MDAnalysis cannot read the structure",
                at=str(structure),
                given=str(error).splitlines()[0] if str(error) else type(error).__name__,
                code=FAILED,
            ) from None
        if not len(chosen):
            raise StrataError("no atoms are selected", at="--select", given=select)
        species = _species(chosen)
        masses = getattr(chosen, "masses", None)
    edges = np.asarray(box, dtype=float) if box is not None else _edges(universe, structure)
    named = {}
    for kind in dict.fromkeys(species):
        mass = 0.0 if masses is None else float(masses[species == kind][0])
        if np.isfinite(mass) and mass > 0:
            named[kind] = mass
    return Atoms(chosen.positions.astype(float), edges, species, masses=named)


def _species(chosen: Any) -> np.ndarray:
    for name in ("elements", "types", "names"):
        values = getattr(chosen, name, None)
        if values is not None and all(str(v).strip() for v in values):
            return np.array([str(v).strip() for v in values], dtype=object)
    raise StrataError("the structure does not say what its atoms are", allowed="elements, types or names")


def _edges(universe: Any, structure: Path) -> np.ndarray:
    found = universe.dimensions
    if found is None or not (np.asarray(found[:3]) > 0).all():
        raise StrataError(
            "the structure has no box", at=str(structure), remedy="--box X Y Z gives it one, in Angstrom"
        )
    if np.abs(np.asarray(found[3:]) - 90).max() > 1e-4:
        raise StrataError(
            "the box is tilted",
            at=str(structure),
            given=f"angles {' '.join(f'{a:g}' for a in found[3:])}",
            allowed="right angles",
        )
    return np.asarray(found[:3], dtype=float)


def _mdanalysis() -> Any:
    try:
        import MDAnalysis
    except ImportError:
        raise StrataError(
            "MDAnalysis is not installed",
            remedy="pip install 'strata[md]', or pip install MDAnalysis into the Python that Strata uses",
            code=FAILED,
        ) from None
    return MDAnalysis
