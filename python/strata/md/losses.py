"""What a structure has that a file of atoms to start from does not: said, not lost in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from strata import documents, unpacked


def one_conformer(chosen: Any) -> tuple[Any, list[str]]:
    """The atoms less alternate locations: of each residue that with the highest occupancy, of equal ones the
    first. An atom that only another one has is left out with it.
    """
    marks = getattr(chosen, "altLocs", None)
    if marks is None or not any(str(mark).strip() for mark in marks):
        return chosen, []
    marks = np.array([str(mark).strip() for mark in marks], dtype=object)
    places = [getattr(chosen, name, None) for name in ("segids", "chainIDs", "resids", "icodes")]
    keys = list(zip(*(each for each in places if each is not None), strict=True))
    filled = getattr(chosen, "occupancies", None)
    filled = np.ones(len(marks)) if filled is None else np.asarray(filled, dtype=float)
    residues: dict[Any, list[int]] = {}
    for i in np.flatnonzero(marks != ""):
        residues.setdefault(keys[i], []).append(int(i))
    keep = np.ones(len(marks), bool)
    several = lonely = 0
    for atoms in residues.values():
        means = {m: filled[[i for i in atoms if marks[i] == m]].mean() for m in dict.fromkeys(marks[atoms])}
        best = max(means, key=lambda mark: means[mark])  # the first of equal ones
        keep[[i for i in atoms if marks[i] != best]] = False
        several += len(means) > 1
        lonely += len(atoms) if len(means) == 1 else 0
    said = []
    if lonely:
        said.append(
            f"{count(lonely, 'atom')} marked as an alternate location whose residue has no other one: kept. "
            "Look whether it lies on another atom."
        )
    if keep.all():
        return chosen, said
    where = "1 residue has" if several == 1 else f"{several} residues have"
    return chosen[keep], [
        *said,
        f"{where} alternate locations: of each the one with the highest occupancy is taken (of equal ones "
        f"the first), and {count(int((~keep).sum()), 'atom')} left out.",
    ]


def of_universe(universe: Any, chosen: Any) -> list[str]:
    """Models, velocities, image flags, charges and bonds, which are not written."""
    said = []
    if (frames := int(universe.trajectory.n_frames)) > 1:
        said.append(f"The file has {frames} models or frames: the first is taken.")
    if getattr(universe.trajectory.ts, "has_velocities", False):
        said.append("The velocities of the file are left out: system.temperature of a case makes new ones.")
    lost = []
    charges = getattr(chosen, "charges", None)
    if charges is not None and np.any(np.nan_to_num(np.asarray(charges, dtype=float))):
        lost.append("charges")
    try:
        if len(chosen.bonds):
            lost.append("bonds, angles and the like")
    except AttributeError:  # MDAnalysis's NoDataError is one
        pass
    if lost:
        said.append(f"The {' and the '.join(lost)} of the file are left out.")
    return said


DIGITS = "Places have about seven digits: MDAnalysis reads them in single precision."


def of_images(path: Path) -> list[str]:
    """Image flags of a LAMMPS data file, which MDAnalysis does not read."""
    with documents.streamed(path) as raw, unpacked.opened(path, raw) as file:
        inside = False
        for line in file:
            words = line.decode(errors="replace").partition("#")[0].split()
            if words and words[0].isalpha():
                inside = words[0] == "Atoms"
            elif (
                inside
                and len(words) >= 8
                and all(_whole(w) for w in words[-3:])
                and any(map(int, words[-3:]))
            ):
                return ["The image flags of the file are left out: atoms are where their box has them."]
    return []


def of_masses(name: str, masses: np.ndarray) -> list[str]:
    """Atoms of one kind that have several masses."""
    if not len(masses) or np.ptp(masses) <= 1e-6 * np.abs(masses).max():
        return []
    return [
        f"Atoms of {name} have masses from {masses.min():g} to {masses.max():g} in the file: all get that of "
        f"the first, {masses[0]:g}."
    ]


def count(number: int, what: str) -> str:
    """`1 atom is`, `2 atoms are`."""
    return f"1 {what} is" if number == 1 else f"{number} {what}s are"


def _whole(word: str) -> bool:
    return word.lstrip("+-").isdecimal() and len(word) < 8
