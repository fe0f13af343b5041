"""Structures of other programs: what is guessed is guessed by the rules of PDB, and what is lost is said."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import wheels

from strata.errors import StrataError
from strata.md import losses
from strata.md.atoms import Atoms, write_lammps
from strata.md.convert import _shortest, convert
from strata.md.elements import fields, of_name

BOX = "CRYST1   30.000   40.000   50.000  90.00  90.00  90.00 P 1           1\n"


def atom(
    number: int,
    field: str,
    residue: str,
    resid: int,
    x: float,
    alt: str = " ",
    occupancy: float = 1.0,
    element: str = "",
) -> str:
    """A row of a PDB file. `field`: columns 13-16."""
    place = f"{number:5d} {field:4s}{alt}{residue:>3s} A{resid:4d}    {x:8.3f}{2:8.3f}{3:8.3f}"
    return f"ATOM  {place}{occupancy:6.2f}{0:6.2f}          {element:>2s}\n"


def data(folder: Path, text: str, name: str = "a.pdb") -> tuple[str, str, list[str]]:
    """What a file becomes as LAMMPS data: its text, its kinds, and what is said."""
    wheels.needed("MDAnalysis")
    (folder / name).write_text(text)
    (folder / "a.data").unlink(missing_ok=True)
    what, said = convert(folder / name, folder / "a.data")
    return (folder / "a.data").read_text(), what, said


@pytest.mark.parametrize(
    ("field", "residue", "element"),
    [
        (" CA ", "ALA", "C"),
        ("CA  ", " CA", "Ca"),
        ("CA  ", "XXX", "Ca"),
        ("HG11", "VAL", "H"),
        ("HG  ", " HG", "Hg"),
        ("1HB ", "ALA", "H"),
        (" NA ", "HEM", "N"),
        (" NA ", " NA", "Na"),
        ("FE  ", "HEM", "Fe"),
        ("CL1 ", "LIG", "Cl"),
        (" D1 ", "LIG", ""),
    ],
)
def test_an_element_from_columns_13_and_14(field: str, residue: str, element: str) -> None:
    assert of_name(field.strip(), residue.strip(), field) == element


@pytest.mark.parametrize(
    ("name", "residue", "element"),
    [
        ("CA", "ALA", "C"),
        ("CA", "CA", "Ca"),
        ("CA", "LIG", "C"),
        ("CL1", "LIG", "Cl"),
        ("OW", "SOL", "O"),
        ("HW1", "SOL", "H"),
        ("AR", "ARG", "Ar"),
        ("SI", "SIO", "Si"),
        ("SI2", "QZ", "Si"),
        ("NA", "NA+", "Na"),
        ("1", "", ""),
    ],
)
def test_an_element_from_name_and_residue_alone(name: str, residue: str, element: str) -> None:
    assert of_name(name, residue) == element


def test_an_alpha_carbon_without_its_element_is_carbon_and_has_its_mass(tmp_path: Path) -> None:
    """Neither calcium, nor a kind without a mass, for which all masses would be left out."""
    text, what, said = data(
        tmp_path, BOX + atom(1, " N  ", "ALA", 1, 1.0, element="N") + atom(2, " CA ", "ALA", 2, 9.4) + "END\n"
    )
    assert what == "2 atoms (1 N, 1 C)" and "\n1 14.007 # N\n2 12.011 # C\n" in text
    assert len(said) == 1 and "1 atom is without an element" in said[0] and "CA of ALA is C" in said[0]


def test_without_any_element_columns_decide(tmp_path: Path) -> None:
    rows = atom(1, " CA ", "ALA", 1, 1.0) + atom(2, "CA  ", " CA", 2, 9.4) + atom(3, "HG11", "VAL", 3, 5)
    _, what, said = data(tmp_path, BOX + rows + "END\n")
    assert what == "3 atoms (1 C, 1 Ca, 1 H)" and "3 atoms are without an element" in said[0]


def test_of_what_is_no_element_the_other_masses_are_kept(tmp_path: Path) -> None:
    text, what, said = data(
        tmp_path, BOX + atom(1, " N  ", "ALA", 1, 1.0, element="N") + atom(2, " X1 ", "LIG", 2, 9.4) + "END\n"
    )
    assert what == "2 atoms (1 N, 1 X1)" and "\nMasses\n\n1 14.007 # N\n\nAtoms" in text
    assert "X1 of LIG is no element" in said[0] and "The mass of X1 is not known" in said[1]
    write_lammps(tmp_path / "b.data", Atoms([[1, 2, 3]], 9.0, "Q"))
    assert "Masses" not in (tmp_path / "b.data").read_text()


def test_of_alternate_locations_one_is_taken_for_each_residue(tmp_path: Path) -> None:
    """The highest occupancy, of equal ones the first; an atom that only the other one has goes with it."""
    rows = [
        atom(1, " N  ", "ALA", 1, 1.0, element="N"),
        atom(2, " CA ", "ALA", 2, 9.4, "A", 0.5, "C"),
        atom(3, " CA ", "ALA", 2, 9.6, "B", 0.5, "C"),
        atom(4, " CB ", "ALA", 3, 5.1, "A", 0.3, "C"),
        atom(5, " CB ", "SER", 3, 5.2, "B", 0.7, "C"),
        atom(6, " OG ", "SER", 3, 5.3, "B", 0.7, "O"),
        atom(7, " CB ", "ALA", 4, 7.0, "B", 0.4, "C"),
    ]
    text, what, said = data(tmp_path, BOX + "".join(rows) + "END\n")
    x = [float(line.split()[2]) for line in text.split("Atoms # atomic")[1].splitlines() if line]
    assert x == pytest.approx([1.0, 9.4, 5.2, 5.3, 7.0]) and what.startswith("5 atoms")
    assert "1 atom is marked as an alternate location whose residue has no other" in said[0]
    assert "2 residues have alternate locations" in said[1] and "2 atoms are left out" in said[1]


def test_models_velocities_and_atoms_outside_of_the_box_are_said(tmp_path: Path) -> None:
    model = atom(1, " N  ", "ALA", 1, -1.0, element="N")
    pdb = BOX + "".join(f"MODEL     {k:4d}\n{model}ENDMDL\n" for k in (1, 2)) + "END\n"
    wheels.needed("MDAnalysis")
    (tmp_path / "a.pdb").write_text(pdb)
    what, said = convert(tmp_path / "a.pdb", tmp_path / "m.data", box=(30, 40, 50))
    assert what == "1 atoms (1 N)"
    assert said[0] == "The file has 2 models or frames: the first is taken."
    assert said[1] == "1 atom is outside of the box: written at its image inside."
    row = "    1AR      AR    1   0.100   0.200   0.300  0.1000  0.2000  0.3000\n"
    gro = f"Argon\n    1\n{row}   2.0   2.1   2.2\n"
    text, _, said = data(tmp_path, gro, "a.gro")
    assert "1 39.948 # Ar" in text and "velocities of the file are left out" in said[0]


def test_of_lammps_data_image_flags_charges_and_bonds_are_said(tmp_path: Path) -> None:
    head = (
        "title\n\n2 atoms\n1 bonds\n2 atom types\n1 bond types\n\n0 30 xlo xhi\n0 30 ylo yhi\n0 30 zlo zhi\n"
    )
    masses = "\nMasses\n\n1 15.9\n2 1.5\n"
    atoms = "\nAtoms # full\n\n1 1 1 -0.8 1 2 3 0 0 0\n2 1 2 0.4 4 5 6 1 0 0\n"
    text, what, said = data(tmp_path, head + masses + atoms + "\nBonds\n\n1 1 1 2\n", "w.data")
    assert what == "2 atoms (1 1, 1 2)" and "1 15.9 # 1\n2 1.5 # 2" in text, "masses of the file are kept"
    assert said == [
        "The charges and the bonds, angles and the like of the file are left out.",
        "The image flags of the file are left out: atoms are where their box has them.",
        "Places have about seven digits: MDAnalysis reads them in single precision.",
    ]


def test_image_flags_are_seen_in_a_packed_file_and_in_sections_of_any_order(tmp_path: Path) -> None:
    text = "title\n\nVelocities\n\n1 0 0 0\n\nAtoms # atomic\n\n1 1 1 2 3 0 0 {}\n\nMasses\n\n1 7.0\n"
    for flag, lines in ((0, 0), (-1, 1)):
        (tmp_path / "a.data").write_text(text.format(flag))
        (tmp_path / "a.data.gz").write_bytes(gzip.compress(text.format(flag).encode()))
        for name in ("a.data", "a.data.gz"):
            assert len(losses.of_images(tmp_path / name)) == lines


def test_places_in_single_precision_are_the_decimals_that_the_file_has() -> None:
    places = np.array([[9.4, -0.001, 123.456]], dtype=np.float32)
    assert _shortest(places).tolist() == [[9.4, -0.001, 123.456]]


def test_data_without_a_style_that_is_understood_is_an_error(tmp_path: Path) -> None:
    wheels.needed("MDAnalysis")
    write_lammps(tmp_path / "in.data", Atoms([[1, 2, 3]], 9.0, "Q"))  # atom_style atomic
    with pytest.raises(StrataError, match="MDAnalysis cannot read the structure"):
        convert(tmp_path / "in.data", tmp_path / "out.data")


def test_columns_are_those_of_the_first_model_and_belong_to_the_names(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(BOX + atom(1, " CA ", "ALA", 1, 1.0) + "ENDMDL\n" + atom(1, "CA  ", "ALA", 1, 1.0))
    assert fields(path, ["CA"]) == [" CA "]
    assert fields(path, ["CB"]) is None and fields(tmp_path / "none.pdb", ["CA"]) is None
