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

from strata import documents
from strata.errors import FAILED, StrataError
from strata.md import elements, losses
from strata.md.atoms import Atoms, write_lammps, write_xyz

_WAYS = {".xyz": write_xyz, ".extxyz": write_xyz, ".data": write_lammps}
_SHOWN = 8  # guesses that are named


def convert(
    structure: Path, out: Path, select: str = "all", box: Sequence[float] | None = None
) -> tuple[str, list[str]]:
    """Writes the new file `out`. Returns how many atoms of which kinds it has, and what was guessed, chosen
    or lost.
    """
    if out.suffix not in _WAYS:
        raise StrataError(
            "not a form that is written", at=str(out), given=out.suffix, allowed=", ".join(_WAYS)
        )
    said: list[str] = []
    atoms = read(structure, select, box, said)
    kinds = atoms.kinds()
    if out.suffix != ".data":
        if atoms.masses:
            said.append("XYZ has no masses: kinds.masses of a case gives them.")
    elif without := [kind for kind in kinds if kind not in atoms.masses]:
        said.append(
            f"The mass of {', '.join(without)} is not known: add it to the section Masses, or to "
            "kinds.masses of the case."
        )
    if out.suffix == ".data":
        outside = int(((atoms.positions < 0) | (atoms.positions >= atoms.box)).any(axis=1).sum())
        if outside:
            said.append(f"{losses.count(outside, 'atom')} outside of the box: written at its image inside.")
    _WAYS[out.suffix](out, atoms)
    listed = ", ".join(f"{int((atoms.species == kind).sum())} {kind}" for kind in kinds)
    return f"{len(atoms)} atoms ({listed})", said


def read(
    structure: Path,
    select: str = "all",
    box: Sequence[float] | None = None,
    said: list[str] | None = None,
) -> Atoms:
    """The atoms of a file, with elements as species where the file has them, else types, else elements that
    are guessed from names. `said` gets what was guessed, chosen or lost.
    """
    said = [] if said is None else said
    analysis = _mdanalysis()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that this does not need
        try:
            documents.opened(structure).close()  # a device has no end
            universe = analysis.Universe(str(structure))
            chosen = universe.select_atoms(select)
        except (OSError, ValueError, TypeError, IndexError, analysis.exceptions.SelectionError) as error:
            raise StrataError(
                "MDAnalysis cannot read the structure",
                at=str(structure),
                given=str(error).splitlines()[0] if str(error) else type(error).__name__,
                allowed="a form of MDAnalysis, known by its ending (.pdb, .gro, ...); LAMMPS data "
                "of atom_style full; a selection in its words (--select)",
                code=FAILED,
            ) from None
        if not len(chosen):
            raise StrataError(
                "no atoms are selected",
                at="--select",
                given=select,
                allowed=f"words of MDAnalysis that name some of the {len(universe.atoms)} atoms of "
                f"{structure}: all, 'name OW', 'element Cu'",
            )
        chosen, lost = losses.one_conformer(chosen)
        said += lost + losses.of_universe(universe, chosen)
        if str(getattr(universe.trajectory, "format", "")) == "DATA":
            said += [*losses.of_images(structure), losses.DIGITS]
        species = _species(universe, chosen, structure, said)
        masses = _masses(universe, chosen, species, said)
    edges = np.asarray(box, dtype=float) if box is not None else _edges(universe, structure)
    return Atoms(_shortest(chosen.positions), edges, species, masses=masses)


def _shortest(values: np.ndarray) -> np.ndarray:
    """Floats of single precision as the shortest numbers that are them: 9.4, which the file says, and not
    9.399999618530273.
    """
    return np.asarray(values, dtype=np.float32).astype(str).astype(float)


def _guessed(universe: Any, name: str) -> bool:
    """Whether a property of atoms is MDAnalysis's guess, or is not there at all."""
    found = getattr(universe._topology, name, None)
    return found is None or bool(found.is_guessed)


def _texts(chosen: Any, name: str) -> list[str]:
    values = getattr(chosen, name, None)
    return [""] * len(chosen) if values is None else [str(value).strip() for value in values]


def _species(universe: Any, chosen: Any, structure: Path, said: list[str]) -> np.ndarray:
    """Elements, else types, that the file says; what is missing is guessed from names, and said."""
    found = _texts(chosen, "elements") if not _guessed(universe, "elements") else [""] * len(chosen)
    if not any(found) and not _guessed(universe, "types") and all(types := _texts(chosen, "types")):
        return np.array(types, dtype=object)
    names, residues = _texts(chosen, "names"), _texts(chosen, "resnames")
    columns = None
    if not all(found) and "PDB" in np.atleast_1d(getattr(universe.trajectory, "format", "")):
        every = elements.fields(structure, _texts(universe.atoms, "names"))
        columns = None if every is None else [every[i] for i in chosen.indices]
    guesses: dict[str, int] = {}
    for i, known in enumerate(found):
        if known:
            continue
        if not names[i]:
            raise StrataError(
                "the structure does not say what its atoms are",
                at=str(structure),
                given=f"atom {chosen.indices[i] + 1} without element, type and name",
                allowed="elements, types or names",
            )
        element = elements.of_name(names[i], residues[i], None if columns is None else columns[i])
        found[i] = element or names[i]
        of = f"{names[i]} of {residues[i]}" if residues[i] else names[i]
        what = f"{of} is {element}" if element else f"{of} is no element"
        guesses[what] = guesses.get(what, 0) + 1
    if guesses:
        shown = list(guesses)
        more = f", and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        by = "columns 13-14 of its name, as PDB has them" if columns is not None else "its name and residue"
        said.append(
            f"{losses.count(sum(guesses.values()), 'atom')} without an element in the file, which is guessed "
            f"by {by}: {', '.join(shown[:_SHOWN])}{more}."
        )
    return np.array(found, dtype=object)


def _masses(universe: Any, chosen: Any, species: np.ndarray, said: list[str]) -> dict[str, float]:
    """Of each kind the mass in the file, else that of the element."""
    given = None if _guessed(universe, "masses") else np.asarray(chosen.masses, dtype=float)
    table = _table()
    named = {}
    for kind in dict.fromkeys(species):
        own = np.zeros(0) if given is None else given[species == kind]
        own = own[np.isfinite(own) & (own > 0)]
        said += losses.of_masses(kind, own)
        if len(own):
            named[kind] = float(own[0])
        elif kind in elements.SYMBOLS and table.get(kind, 0) > 0:
            named[kind] = float(table[kind])
    return named


def _table() -> Any:
    try:
        from MDAnalysis.guesser import tables
    except ImportError:  # before 2.8
        from MDAnalysis.topology import tables
    return tables.masses


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
    return _shortest(found[:3])


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
