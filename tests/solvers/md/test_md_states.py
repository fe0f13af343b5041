"""The solver beside LAMMPS, from states that LAMMPS wrote: step 0, and thermo over some steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lammps_states import RECORDED, lines_of, masses, recorded, state
from solver_cases import solver_program

from strata import md

ROOT = Path(__file__).resolve().parents[3]
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
THREE = {"names": ["1", "2", "3"], "epsilon": [1.0, 0.7, 1.3], "sigma": [1.0, 1.2, 0.9]}
GIVEN = ["1 1 1.0 1.0 2.5", "2 2 0.7 1.2 3.2", "3 3 1.3 0.9 2.2", "1 2 0.9 1.15 2.8", "1 3 1.1 0.93 2.4"]
NOBLE = {"names": ["1", "2"], "epsilon": [0.2381, 0.3258], "sigma": [3.405, 3.636]}
OUTSIDE: dict[str, Any] = {
    "system": {"boundary": ["periodic", "walls", "walls"]},
    "groups": {
        "names": ["floor", "tied"],
        "members": ["floor: z < 2.0", "tied: id 60 to 140 and not group floor"],
    },
    "outside": {"frozen": ["floor"], "accelerations": ["all 0 0 -0.5"], "springs": ["tied 20"]},
    "walls": {
        "faces": ["zlo lj93 1 1 2.5", "zhi lj126 0.5 1.1 2.5", "ylo harmonic 50 1.2", "yhi harmonic 30 1.3"]
    },
}
MORSE = {
    "form": "table",
    "file": str(RECORDED / "morse.table"),
    "points": 1000,
    "sections": ["1 1 LIKE 2.5", "1 2 UNLIKE", "2 2 LIKE 2.2"],
}
CASES: dict[tuple[str, str], dict[str, Any]] = {
    ("mixture", "truncated"): {"kinds": THREE, "pair": {"cutoff": 3.0}},
    ("mixture", "energy-shifted"): {"kinds": THREE, "pair": {"cutoff": 3.0, "shift": "energy"}},
    ("mixture", "force-shifted"): {"kinds": THREE, "pair": {"cutoff": 3.0, "shift": "force"}},
    ("mixture", "tails"): {"kinds": THREE, "pair": {"cutoff": 3.0, "long_range": True}},
    ("mixture", "explicit"): {
        "kinds": {**THREE, "pairs": [*GIVEN, "2 3 0.5 1.05 2.0"]},
        "pair": {"cutoff": 3.2},
    },
    ("mixture", "explicit-force-shifted"): {
        "kinds": {**THREE, "pairs": [*GIVEN, "2 3 0.5 1.05 2.0"]},
        "pair": {"cutoff": 3.2, "shift": "force"},
    },
    ("noble", "energy-shifted"): {
        "system": {"units": "real"},
        "kinds": NOBLE,
        "pair": {"cutoff": 8.5, "shift": "energy"},
        "neighbours": {"skin": 0.5},
    },
    ("alloy", "eam"): {
        "system": {"units": "metal"},
        "kinds": {"names": ["Cu", "Ni"]},
        "pair": {"form": "eam", "file": str(RECORDED / "copper-nickel.eam.alloy")},
        "neighbours": {"skin": 0.5},
    },
    ("copper", "eam"): {
        "system": {"units": "metal"},
        "kinds": {"names": ["Cu"]},
        "pair": {"form": "eam", "file": str(ROOT / "cases" / "md" / "copper.eam.alloy")},
        "neighbours": {"skin": 0.5},
    },
    ("melt", "truncated"): {"pair": {"cutoff": 2.5}},
    ("melt", "energy-shifted"): {"pair": {"cutoff": 2.5, "shift": "energy"}},
    ("outside", "walls"): {
        **OUTSIDE,
        "kinds": {"names": ["1", "2"], "epsilon": [1.0, 0.8], "sigma": [1.0, 1.05]},
        "pair": {"cutoff": 2.5, "shift": "energy"},
    },
    ("outside", "table"): {**OUTSIDE, "kinds": {"names": ["1", "2"]}, "pair": MORSE},
    ("outside", "table-linear"): {
        **OUTSIDE,
        "kinds": {"names": ["1", "2"]},
        "pair": {**MORSE, "interpolation": "linear"},
    },
}

# Of energies in which LAMMPS's own last digits are spent: 216,000 equal terms are added one by one; terms of
# both signs leave a fiftieth of them.
LAST_DIGITS = {("melt", "energy-shifted"): 2e-12, ("mixture", "explicit-force-shifted"): 1e-11}


@pytest.fixture(scope="module", autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-md") is None:
        pytest.skip("the solver of molecular dynamics is not built")


def run(tmp_path: Path, name: str, given: dict[str, Any], step: float, steps: int, every: int) -> md.Run:
    data = tmp_path / f"{name}.data"
    data.write_text("\n".join(lines_of(name)) + "\n")
    case = {
        **given,
        "system": {"temperature": -1, **given.get("system", {}), "file": str(data), "patches": [2, 1, 2]},
        "time": {"step": step},
        "output": {"thermo": every},
        "verify": {"drift": 1e9},
    }
    case["pair"] = {
        **given["pair"],
        **({} if given["pair"].get("form") == "eam" else {"precision": "double"}),
    }
    return md.run(case, steps=steps, layout="1x2")


def digits_of(variant: str) -> float:
    """Relative. Slopes at the ends of tables are found in another way."""
    return 1e-10 if variant == "table" else 1e-12


@pytest.mark.parametrize(("name", "variant"), CASES, ids=lambda word: word)
def test_energies_and_pressure_are_those_of_lammps_and_stay_so(
    tmp_path: Path, name: str, variant: str
) -> None:
    known = recorded(name)["variants"][variant]
    theirs = known.get("run")
    step = theirs["timestep"] if theirs else 0.001
    steps, every = (theirs["rows"][-1][0], 10) if theirs else (1, 1)
    series = run(tmp_path, name, CASES[name, variant], step, steps, every).thermo
    largest = max(map(abs, known["pressure"]))
    # To all digits that sums of both signs leave
    summed = LAST_DIGITS.get((name, variant), 1e-12)
    assert series["potential energy"][0] == pytest.approx(known["potential_energy"], rel=summed)
    assert series["kinetic energy"][0] == pytest.approx(known["kinetic_energy"], rel=1e-12)
    # LAMMPS counts the degrees of freedom of frozen atoms.
    held = "outside" in CASES[name, variant]
    assert held or series["temperature"][0] == pytest.approx(known["temperature"], rel=1e-12)
    digits = digits_of(variant)
    for axis, value in zip(TENSOR, known["pressure"], strict=True):
        assert series[f"pressure {axis}"][0] == pytest.approx(value, abs=digits * largest), axis
    if theirs is None:
        return
    columns = dict(zip(theirs["columns"], np.array(theirs["rows"]).T, strict=True))
    assert series["step"].tolist() == columns["step"].tolist()
    for ours, name_there in (
        ("temperature", "temp"),
        ("potential energy", "pe"),
        ("kinetic energy", "ke"),
        ("total energy", "etotal"),
    ):
        if ours != "temperature" or not held:
            assert series[ours] == pytest.approx(columns[name_there], rel=1e-9), ours
    scale = np.abs(columns["press"]).max()
    assert series["pressure"] == pytest.approx(columns["press"], abs=1e-9 * scale)


@pytest.mark.parametrize(
    ("name", "variant"), [each for each in CASES if each[0] != "melt"], ids=lambda word: word
)
def test_forces_are_those_of_lammps(tmp_path: Path, name: str, variant: str) -> None:
    """From velocities at rest, a step so short that no position changes: what is left are one and a half
    kicks by the first forces."""
    step = 2.0**-60
    given = {**CASES[name, variant]}
    given["system"] = {**given.get("system", {}), "temperature": 0.0}
    done = run(tmp_path, name, given, step, 1, 1)
    known, constants = recorded(name)["variants"][variant], recorded(name)["constants"]
    weights = masses(name)[state(name)[1]] * constants["mvv2e"]
    ours = done.velocities * weights[:, None] / (1.5 * step)
    theirs = np.array(known["forces"])
    digits = digits_of(variant)
    assert np.abs(ours - theirs).max() < digits * np.abs(theirs).max()
    lengths = np.sqrt((theirs**2).sum(axis=1))
    apart = np.sqrt(((ours - theirs) ** 2).sum(axis=1))
    some = lengths > 0  # frozen atoms have none
    assert np.median(apart[some] / lengths[some]) < digits
