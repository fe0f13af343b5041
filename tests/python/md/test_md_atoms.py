"""Atoms as arrays and files; structures of other programs through MDAnalysis."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import wheels

from strata.errors import StrataError
from strata.md import frames
from strata.md.atoms import Atoms, lattice, write_lammps, write_xyz
from strata.md.convert import convert

PDB = """\
CRYST1   20.000   21.000   22.000  90.00  90.00  90.00 P 1           1
ATOM      1  O   HOH A   1       1.000   2.000   3.000  1.00  0.00           O
ATOM      2  H1  HOH A   1       1.500   2.500   3.000  1.00  0.00           H
ATOM      3  H2  HOH A   1      25.000  -1.000   3.000  1.00  0.00           H
END
"""
GRO = """\
Argon
    2
    1ARG     AR    1   0.100   0.200   0.300
    2ARG     AR    2   1.100   0.200   0.300
   2.00000   2.10000   2.20000
"""


@pytest.mark.parametrize(
    ("kind", "atoms", "neighbours", "distance"),
    [("fcc", 4, 12, 0.5**0.5), ("bcc", 2, 8, 0.75**0.5), ("sc", 1, 6, 1.0)],
)
def test_a_lattice_has_its_neighbours(kind: str, atoms: int, neighbours: int, distance: float) -> None:
    made = lattice(kind, (3, 4, 5), density=0.8)
    assert len(made) == atoms * 60
    assert len(made) / made.box.prod() == pytest.approx(0.8)
    away = made.positions - made.positions[0]
    away -= made.box * np.rint(away / made.box)
    r = np.sort(np.sqrt((away**2).sum(axis=1)))
    constant = made.box[0] / 3
    assert r[1 : neighbours + 1] == pytest.approx(distance * constant)
    assert r[neighbours + 1] > 1.1 * distance * constant


def test_files_hold_every_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    made = Atoms(
        rng.uniform(0, 3, (5, 3)),
        [3.0, 4.0, 5.0],
        np.array(list("ABABB")),
        rng.normal(size=(5, 3)),
        {"A": 1.5, "B": 2.0},
    )
    write_xyz(tmp_path / "a.xyz", made)
    read = frames.last(tmp_path / "a.xyz")
    assert (read.positions == made.positions).all() and (read.arrays["velo"] == made.velocities).all()
    assert read.species.tolist() == list("ABABB") and read.box.tolist() == [3, 4, 5]
    write_lammps(tmp_path / "a.data", made)
    lines = (tmp_path / "a.data").read_text().splitlines()
    at = lines.index("Atoms # atomic") + 2
    rows = np.array([line.split() for line in lines[at : at + 5]], dtype=float)
    assert (rows[:, 2:] == made.positions).all() and rows[:, 1].tolist() == [1, 2, 1, 2, 2]
    assert lines[lines.index("Masses") + 2] == "1 1.5 # A"
    with pytest.raises(StrataError, match="already"):
        write_xyz(tmp_path / "a.xyz", made)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positions": np.zeros((3, 2))}, "not positions"),
        ({"box": [1, 0, 1]}, "not a box"),
        ({"velocities": np.zeros((2, 3))}, "not velocities"),
        ({"species": np.array(["A"])}, "not species"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(StrataError, match=message):
        Atoms(**{"positions": np.zeros((3, 3)), "box": 2.0, **changes})


def test_a_pdb_file_becomes_extended_xyz(tmp_path: Path) -> None:
    wheels.needed("MDAnalysis")
    (tmp_path / "w.pdb").write_text(PDB)
    what, said = convert(tmp_path / "w.pdb", tmp_path / "w.xyz")
    assert what == "3 atoms (1 O, 2 H)" and said == ["XYZ has no masses: kinds.masses of a case gives them."]
    read = frames.last(tmp_path / "w.xyz")
    assert read.species.tolist() == ["O", "H", "H"] and read.box.tolist() == [20, 21, 22]
    assert read.positions == pytest.approx(np.array([[1, 2, 3], [1.5, 2.5, 3], [25, -1, 3]]))
    with pytest.raises(StrataError, match="no atoms are selected"):
        convert(tmp_path / "w.pdb", tmp_path / "v.xyz", "name XX")


def test_a_gro_file_becomes_lammps_data_in_angstrom(tmp_path: Path) -> None:
    wheels.needed("MDAnalysis")
    (tmp_path / "a.gro").write_text(GRO)
    convert(tmp_path / "a.gro", tmp_path / "a.data")
    text = (tmp_path / "a.data").read_text()
    assert "2 atoms" in text and "0.0 20.0 xlo xhi" in text
    x = [float(line.split()[2]) for line in text.splitlines() if line.startswith(("1 1 ", "2 1 "))]
    assert x == pytest.approx([1, 11], abs=1e-5)


def test_a_tilted_box_and_one_that_is_missing_are_refused(tmp_path: Path) -> None:
    wheels.needed("MDAnalysis")
    (tmp_path / "t.pdb").write_text(PDB.replace(" 90.00 P", " 60.00 P"))
    with pytest.raises(StrataError, match="tilted"):
        convert(tmp_path / "t.pdb", tmp_path / "t.xyz")
    (tmp_path / "n.pdb").write_text(PDB.split("\n", 1)[1])
    with pytest.raises(StrataError, match="no box"):
        convert(tmp_path / "n.pdb", tmp_path / "n.xyz")
    convert(tmp_path / "n.pdb", tmp_path / "n.xyz", box=(9, 9, 9))
    assert frames.last(tmp_path / "n.xyz").box.tolist() == [9, 9, 9]


def test_without_mdanalysis_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "MDAnalysis", None)
    with pytest.raises(StrataError, match="not installed") as error:
        convert(tmp_path / "w.pdb", tmp_path / "w.xyz")
    assert "strata[md]" in str(error.value)
