"""Elements of atoms whose file does not say them, from their names.

PDB puts the element's symbol into columns 13-14, at the right: " CA " is an alpha carbon and "CA  " calcium
(wwPDB, "Atomic Coordinate Entry Format Description", version 3.3, section ATOM). Four letters that begin with
H are a hydrogen's. Other files have names alone; there the residue decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from strata import documents, unpacked

_SYMBOLS = """
H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb
Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu
Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr
"""
_LIVING = """
ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL HID HIE HIP HSD HSE
HSP CYX ASH GLH LYN ACE NME DA DC DG DT A C G U HOH WAT SOL TIP TIP3 TIP4
"""
SYMBOLS = frozenset(_SYMBOLS.split())
_ORGANIC = "HCNOPS"  # a second letter after these is mostly the atom's place in its molecule
_PLAIN = ("Cl", "Si", "Se")  # but not in these, outside of what living things are made of
_RESIDUES = frozenset(_LIVING.split())


def of_name(name: str, residue: str, field: str | None = None) -> str:
    """The element of an atom of this name, "" where none fits. `field`: columns 13-16 of a PDB file."""
    letters = re.sub("[^A-Za-z]", "", name)
    two, one = letters[:2].capitalize(), letters[:1].upper()
    if len(letters) <= 2 and letters.capitalize() in SYMBOLS and letters.upper() == _letters(residue):
        return letters.capitalize()  # an ion or an atom that is its own residue, wherever its name stands
    if field is not None:
        symbol = field[:2].strip().capitalize()
        two_letters = field[0].isalpha() and symbol in SYMBOLS and not (one == "H" and field[3].isalnum())
        return symbol if two_letters else _first(one)
    if residue.upper() in _RESIDUES:
        return one if one in _ORGANIC and one else two if two in SYMBOLS else _first(one)
    if two in SYMBOLS and len(two) == 2 and (one not in _ORGANIC or two in _PLAIN):
        return two
    return _first(one)


def _first(letter: str) -> str:
    return letter if letter in SYMBOLS else ""


def _letters(text: str) -> str:
    return re.sub("[^A-Za-z]", "", text).upper()


def fields(path: Path, names: Sequence[str]) -> list[str] | None:
    """Columns 13-16 of the atoms of a PDB file's first model; None where they are not those of `names`."""
    found = []
    try:
        with documents.streamed(path) as raw, unpacked.opened(path, raw) as file:
            for line in file:
                if line.startswith((b"ENDMDL", b"END   ", b"END\n", b"END\r")):
                    break
                if line.startswith((b"ATOM  ", b"HETATM")):
                    found.append(line[12:16].decode("ascii", "replace").ljust(4))
    except unpacked.DAMAGE:
        return None
    return found if [each.strip() for each in found] == list(names) else None
