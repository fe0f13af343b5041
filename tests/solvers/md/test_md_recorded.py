"""The kernels beside LAMMPS and NIST: energy, virial and forces of recorded states; copper at 0 K."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wheels
from lammps_states import RECORDED, recorded, state

from strata.errors import StrataError
from strata.md import evaluate
from strata.md.atoms import lattice
from strata.md.evaluate import Evaluated, Evaluator
from strata.md.potentials import Eam, LennardJones, Potential

HERE = Path(__file__).resolve().parent
NIST = json.loads((HERE / "nist_lennard_jones.json").read_text())["reference_configurations"]
COPPER = Eam(HERE.parents[2] / "cases" / "md" / "copper.eam.alloy", ("Cu",))
# As record.py gives them to LAMMPS.
MIXTURE = {"1": (1.0, 1.0), "2": (0.7, 1.2), "3": (1.3, 0.9)}
PAIRS = {
    ("1", "1"): (1.0, 1.0, 2.5),
    ("2", "2"): (0.7, 1.2, 3.2),
    ("3", "3"): (1.3, 0.9, 2.2),
    ("1", "2"): (0.9, 1.15, 2.8),
    ("1", "3"): (1.1, 0.93, 2.4),
    ("2", "3"): (0.5, 1.05, 2.0),
}
POTENTIALS: dict[tuple[str, str], Potential] = {
    ("mixture", "truncated"): LennardJones(MIXTURE, 3.0),
    ("mixture", "energy-shifted"): LennardJones(MIXTURE, 3.0, "energy"),
    ("mixture", "force-shifted"): LennardJones(MIXTURE, 3.0, "force"),
    ("mixture", "explicit"): LennardJones(MIXTURE, 3.2, "none", PAIRS),
    ("mixture", "explicit-force-shifted"): LennardJones(MIXTURE, 3.2, "force", PAIRS),
    ("noble", "energy-shifted"): LennardJones({"1": (0.2381, 3.405), "2": (0.3258, 3.636)}, 8.5, "energy"),
    ("alloy", "eam"): Eam(RECORDED / "copper-nickel.eam.alloy", ("Cu", "Ni")),
    ("copper", "eam"): COPPER,
    ("melt", "truncated"): LennardJones({"1": (1.0, 1.0)}, 2.5),
    ("melt", "energy-shifted"): LennardJones({"1": (1.0, 1.0)}, 2.5, "energy"),
}


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    try:
        evaluate.program()
    except StrataError as error:
        pytest.skip(error.message)


def found(name: str, potential: Potential) -> Evaluated:
    box, species, positions = state(name)
    with Evaluator(potential) as evaluator:
        return evaluator(positions, box, [potential.names[kind] for kind in species])


def compare(ours: Evaluated, known: dict[str, Any], relative: float) -> None:
    """Each relative to the largest of its kind: sums of terms of both signs cancel in the others."""
    assert ours.energy == pytest.approx(known["potential_energy"], rel=relative)
    assert np.abs(ours.virial - known["virial"]).max() < relative * np.abs(known["virial"]).max()
    if "forces" in known:
        theirs = np.array(known["forces"])
        assert np.abs(ours.forces - theirs).max() < relative * np.abs(theirs).max()
        own = np.sqrt((theirs**2).sum(axis=1))
        assert np.median(np.sqrt(((ours.forces - theirs) ** 2).sum(axis=1)) / own) < relative


@pytest.mark.parametrize(("name", "variant"), POTENTIALS, ids=lambda word: word)
def test_energy_virial_and_forces_are_those_of_lammps(name: str, variant: str) -> None:
    # The first energy is what is left of terms of both signs, some fifty times as large; in the second
    # LAMMPS adds 216,000 equal terms one by one.
    relative = {("mixture", "explicit-force-shifted"): 1e-11, ("melt", "energy-shifted"): 2e-12}
    relative = relative.get((name, variant), 1e-12)
    compare(found(name, POTENTIALS[name, variant]), recorded(name)["variants"][variant], relative)


def test_a_parameter_that_is_off_by_1e9th_is_seen() -> None:
    off = {**MIXTURE, "2": (0.7, 1.2 * (1 + 1e-9))}
    with pytest.raises(AssertionError):
        compare(found("mixture", LennardJones(off, 3.0)), recorded("mixture")["variants"]["truncated"], 1e-12)


def test_mixed_precision_is_near() -> None:
    potential = LennardJones(MIXTURE, 3.0, "energy", precision="mixed")
    compare(found("mixture", potential), recorded("mixture")["variants"]["energy-shifted"], 2e-5)


@pytest.mark.parametrize("row", NIST["rows"], ids=lambda row: f"{row[3]} {row[4]:g}")
def test_configuration_4_has_the_energy_and_virial_that_nist_prints(row: list) -> None:
    positions = np.array(NIST["configuration_4_positions"])
    number, atoms, edge, truncation, cutoff, energy, virial, _ = row
    assert (number, atoms) == (4, len(positions))
    shift = "none" if truncation == "truncated" else "force"
    with Evaluator(LennardJones(cutoff=cutoff, shift=shift)) as evaluator:
        ours = evaluator(positions, np.full(3, edge))
    # Five digits are printed.
    assert ours.energy == pytest.approx(energy, rel=5e-5)
    assert ours.virial[:3].sum() == pytest.approx(virial, rel=5e-5)


def test_a_cell_smaller_than_the_cutoff_has_the_forces_of_many_cells() -> None:
    rng = np.random.default_rng(1)
    one = lattice("fcc", (1, 1, 1), 3.615)
    at = one.positions + rng.normal(scale=0.1, size=one.positions.shape)
    shifts = np.array([[i, j, k] for i in range(4) for j in range(4) for k in range(4)]) * 3.615
    with Evaluator(COPPER) as copper:
        small = copper(at, one.box)
        large = copper((at[None] + shifts[:, None]).reshape(-1, 3), one.box * 4)
    assert small.energy == pytest.approx(large.energy / 64, rel=1e-12)
    assert large.forces.reshape(64, -1, 3) == pytest.approx(
        np.broadcast_to(small.forces, (64, 4, 3)), abs=1e-11
    )


def test_a_tilted_cell_is_the_same_crystal() -> None:
    rng = np.random.default_rng(2)
    made = lattice("fcc", (3, 3, 3), 3.6)
    at = made.positions + rng.normal(scale=0.05, size=made.positions.shape)
    cell = np.diag(made.box)
    cell[1] += cell[0]  # another basis of the same lattice
    cell[2] -= 2 * cell[1]
    with Evaluator(COPPER) as copper:
        straight, tilted = copper(at, made.box), copper(at, cell)
    assert tilted.energy == pytest.approx(straight.energy, rel=1e-13)
    assert tilted.forces == pytest.approx(straight.forces, abs=1e-11)


def test_open_directions_have_no_images() -> None:
    at = np.array([[0.2, 0, 0], [9.0, 0, 0]])
    with Evaluator(LennardJones(cutoff=2.5)) as pair:
        assert pair(at, np.full(3, 10.0)).energy < 0
        assert pair(at, np.full(3, 10.0), periodic=(False, True, True)).energy == 0
        free = pair(at * [0.125, 1, 1], np.zeros((3, 3)), periodic=(False,) * 3)
    r = 8.8 * 0.125
    assert free.energy == pytest.approx(4 * (r**-12 - r**-6))


def test_what_cannot_be_is_refused() -> None:
    with Evaluator(LennardJones()) as pair:
        with pytest.raises(StrataError, match="not positions"):
            pair(np.zeros((2, 2)), np.ones(3))
        with pytest.raises(StrataError, match="no volume"):
            pair(np.zeros((1, 3)), np.array([1.0, 0.0, 1.0]))
        with pytest.raises(StrataError, match="species"):
            pair(np.zeros((1, 3)), np.ones(3) * 9, ["B"])
    with pytest.raises(StrataError, match="shift"):
        LennardJones(shift="half")
    with pytest.raises(StrataError) as error, Evaluator(Eam(HERE / "absent.eam", ("Cu",))) as none:
        none(np.zeros((1, 3)), np.ones(3) * 9)
    assert "absent.eam" in str(error.value)


def copper_stress(evaluator: Evaluator, strain: np.ndarray, constant: float) -> np.ndarray:
    """In GPa, as xx, yy, zz, xy, xz, yz, of a crystal whose cell is strained."""
    made = lattice("fcc", (2, 2, 2), constant)
    stretch = np.eye(3) + strain
    cell = np.diag(made.box) @ stretch
    ours = evaluator(made.positions @ stretch, cell)
    return -ours.virial / np.linalg.det(cell) * 160.21766


def test_copper_has_the_lattice_constant_energy_and_elastic_constants_that_lammps_finds() -> None:
    from scipy.optimize import brentq

    known = recorded("elastic")
    with Evaluator(COPPER) as copper:
        constant = brentq(
            lambda a: copper_stress(copper, np.zeros((3, 3)), a)[:3].mean(), 3.5, 3.7, xtol=1e-12
        )
        made = lattice("fcc", (2, 2, 2), constant)
        cohesive = copper(made.positions, made.box).energy / len(made)

        def slope(a: int, b: int) -> np.ndarray:
            up, down = np.zeros((3, 3)), np.zeros((3, 3))
            up[a, b], down[a, b] = 1e-5, -1e-5
            return (copper_stress(copper, up, constant) - copper_stress(copper, down, constant)) / 2e-5

        stretched, sheared = slope(0, 0), slope(0, 1)
    assert constant == pytest.approx(known["lattice_constant"], rel=1e-6)
    assert cohesive == pytest.approx(known["cohesive_energy"], rel=1e-9)
    assert stretched[0] == pytest.approx(known["c11"], rel=1e-4)
    assert stretched[1:3] == pytest.approx(known["c12"], rel=1e-4)
    assert sheared[3] == pytest.approx(known["c44"], rel=1e-4)
    assert (stretched[0] + stretched[1]) / 2 + sheared[3] == pytest.approx(known["c110"], rel=1e-4)
    # Beside measured ones at 0 K: W. C. Overton, J. Gaffney, Phys. Rev. 98, 969 (1955)
    assert [stretched[0], stretched[1], sheared[3]] == pytest.approx([176.2, 124.9, 81.8], rel=0.08)


def test_ase_gets_energy_forces_and_stress() -> None:
    wheels.needed("ase")
    from ase import Atoms
    from ase.build import bulk
    from ase.optimize import BFGS

    from strata.md.calculator import Strata

    atoms = bulk("Cu", cubic=True) * (2, 2, 2)
    atoms.rattle(0.1, seed=3)
    atoms.calc = Strata(COPPER)
    forces, stress, energy = atoms.get_forces(), atoms.get_stress(), atoms.get_potential_energy()
    moved = []
    for sign in (1, -1):
        other = atoms.copy()
        other.calc = atoms.calc
        other.positions[5, 1] += sign * 1e-5
        moved.append(other.get_potential_energy())
    assert forces[5, 1] == pytest.approx(-(moved[0] - moved[1]) / 2e-5, rel=1e-5)
    for number, (a, b) in enumerate([(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]):
        strained = []
        for sign in (1, -1):
            strain = np.eye(3)
            strain[a, b] += sign * 5e-6
            strain[b, a] += sign * 5e-6
            other = atoms.copy()
            other.calc = atoms.calc
            other.set_cell(atoms.cell.array @ strain, scale_atoms=True)
            strained.append(other.get_potential_energy())
        assert stress[number] == pytest.approx(
            (strained[0] - strained[1]) / 2e-5 / atoms.get_volume(), rel=1e-4
        )
    BFGS(atoms, logfile=None).run(fmax=1e-4, steps=100)
    assert atoms.get_potential_energy() < energy
    assert atoms.get_potential_energy() / len(atoms) == pytest.approx(
        recorded("elastic")["cohesive_energy"], abs=1e-3
    )

    pair = Atoms("Ar2", [[0, 0, 0], [0, 0, 4.0]])  # no cell, no periodic direction
    pair.calc = Strata(LennardJones({"Ar": (0.0104, 3.4)}, 10.0))
    assert pair.get_potential_energy() == pytest.approx(4 * 0.0104 * ((3.4 / 4) ** 12 - (3.4 / 4) ** 6))


def test_every_record_names_the_program_that_it_came_from() -> None:
    names = sorted(path.stem for path in RECORDED.glob("*.json"))
    assert {"mixture", "noble", "copper", "alloy", "melt", "drift", "elastic", "fluid"} <= set(names)
    for name in names:
        assert recorded(name)["lammps"] == 20250722
