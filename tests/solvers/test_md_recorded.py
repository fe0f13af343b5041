"""The pair kernels beside LAMMPS and NIST: energy, virial and forces of recorded states."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lammps_states import RECORDED, recorded, state

HERE = Path(__file__).resolve().parent
NIST = json.loads((HERE / "nist_lennard_jones.json").read_text())["reference_configurations"]
SHIFTS = {"truncated": "none", "energy-shifted": "energy", "force-shifted": "force"}
# As record.py gives them to LAMMPS.
EPSILON, SIGMA = np.array([1.0, 0.7, 1.3]), np.array([1.0, 1.2, 0.9])
MIXED = (np.sqrt(np.outer(EPSILON, EPSILON)), (SIGMA[:, None] + SIGMA) / 2, np.full((3, 3), 3.0))
EXPLICIT = (
    np.array([[1.0, 0.9, 1.1], [0.9, 0.7, 0.5], [1.1, 0.5, 1.3]]),
    np.array([[1.0, 1.15, 0.93], [1.15, 1.2, 1.05], [0.93, 1.05, 0.9]]),
    np.array([[2.5, 2.8, 2.4], [2.8, 3.2, 2.0], [2.4, 2.0, 2.2]]),
)


@pytest.fixture(scope="module")
def program(front: str) -> Path:
    found = Path(front).resolve().parents[1] / "tests" / "solvers" / "md_forces"
    if not found.exists():
        pytest.skip(f"{found} was not built")
    return found


def forces(
    program: Path,
    box: Sequence[float],
    shift: str,
    pairs: Sequence[np.ndarray],
    species: np.ndarray,
    positions: np.ndarray,
    precision: str = "full",
) -> tuple[float, np.ndarray, np.ndarray]:
    """Energy, virial and forces, as the program has them."""
    kinds = len(pairs[0])
    lines = [f"{' '.join(repr(float(b)) for b in box)} {shift} {precision} {kinds}"]
    lines += [" ".join(repr(float(t[a, b])) for t in pairs) for a in range(kinds) for b in range(kinds)]
    lines.append(str(len(positions)))
    lines += [
        f"{kind} {' '.join(map(repr, row))}" for kind, row in zip(species, positions.tolist(), strict=True)
    ]
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    energy, virial, *rows = done.stdout.splitlines()
    return float(energy), np.array(virial.split(), float), np.array([row.split() for row in rows], float)


def compare(found: tuple[float, np.ndarray, np.ndarray], known: dict[str, Any], relative: float) -> None:
    """Sums of terms of both signs are compared relative to the largest of them."""
    energy, virial, force = found
    theirs = np.array(known["forces"])
    assert energy == pytest.approx(known["potential_energy"], rel=relative)
    assert np.abs(virial - known["virial"]).max() < relative * np.abs(known["virial"]).max()
    assert np.abs(force - theirs).max() < relative * np.abs(theirs).max()
    # Of each atom relative to its own force, which may be what large ones have left over.
    own = np.sqrt((theirs**2).sum(axis=1))
    assert np.median(np.sqrt(((force - theirs) ** 2).sum(axis=1)) / own) < relative


@pytest.mark.parametrize(
    "variant", ["truncated", "energy-shifted", "force-shifted", "explicit", "explicit-force-shifted"]
)
def test_a_mixture_has_the_forces_that_lammps_finds(program: Path, variant: str) -> None:
    known = recorded("mixture")["variants"][variant]
    box, species, positions = state("mixture")
    pairs = EXPLICIT if variant.startswith("explicit") else MIXED
    shift = SHIFTS.get(variant.removeprefix("explicit-"), "none")
    found = forces(program, box, shift, pairs, species, positions)
    # Untruncated sums cancel in the energy of this variant: its terms are some 50 times as large.
    compare(found, known, 1e-12 if variant != "explicit-force-shifted" else 1e-11)


def test_argon_and_krypton_have_the_forces_that_lammps_finds(program: Path) -> None:
    epsilon, sigma = np.array([0.2381, 0.3258]), np.array([3.405, 3.636])
    pairs = (np.sqrt(np.outer(epsilon, epsilon)), (sigma[:, None] + sigma) / 2, np.full((2, 2), 8.5))
    found = forces(program, state("noble")[0], "energy", pairs, *state("noble")[1:])
    compare(found, recorded("noble")["variants"]["energy-shifted"], 1e-12)


def test_a_wrong_parameter_is_seen(program: Path) -> None:
    box, species, positions = state("mixture")
    wrong = (MIXED[0], MIXED[1] * (1 + 1e-9), MIXED[2])
    found = forces(program, box, "none", wrong, species, positions)
    with pytest.raises(AssertionError):
        compare(found, recorded("mixture")["variants"]["truncated"], 1e-12)


def test_mixed_precision_is_near(program: Path) -> None:
    box, species, positions = state("mixture")
    found = forces(program, box, "energy", MIXED, species, positions, "mixed")
    compare(found, recorded("mixture")["variants"]["energy-shifted"], 2e-5)


def test_the_melt_of_lammps_has_its_energy_and_virial(program: Path) -> None:
    box, species, positions = state("melt")
    one = (np.ones((1, 1)), np.ones((1, 1)), np.full((1, 1), 2.5))
    for variant in ("truncated", "energy-shifted"):
        known = recorded("melt")["variants"][variant]
        energy, virial, _ = forces(program, box, SHIFTS[variant], one, species, positions)
        assert energy == pytest.approx(known["potential_energy"], rel=1e-12)
        assert virial[:3] == pytest.approx(known["virial"][:3], rel=1e-12)


@pytest.mark.parametrize("row", NIST["rows"], ids=lambda row: f"{row[3]} {row[4]:g}")
def test_configuration_4_has_the_energy_and_virial_that_nist_prints(program: Path, row: list) -> None:
    positions = np.array(NIST["configuration_4_positions"])
    number, atoms, edge, truncation, cutoff, energy, virial, _ = row
    assert (number, atoms) == (4, len(positions))
    one = (np.ones((1, 1)), np.ones((1, 1)), np.full((1, 1), cutoff))
    shift = "none" if truncation == "truncated" else "force"
    found = forces(program, [edge] * 3, shift, one, np.zeros(atoms, int), positions)
    # Five digits are printed.
    assert found[0] == pytest.approx(energy, rel=5e-5)
    assert found[1][:3].sum() == pytest.approx(virial, rel=5e-5)


def test_every_record_names_the_program_that_it_came_from() -> None:
    names = sorted(path.stem for path in RECORDED.glob("*.json"))
    assert {"mixture", "noble", "copper", "alloy", "melt", "drift", "elastic"} <= set(names)
    for name in names:
        assert recorded(name)["lammps"] == 20250722
