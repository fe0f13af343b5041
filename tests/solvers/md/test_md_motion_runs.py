"""Barostat, minimisation, removal of drift through `strata run`: the same bits everywhere, files, NIST."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_layout import same_everywhere
from lammps_states import recorded
from solver_cases import CASES, changed, solver_program
from test_md_truth import NIST, POINTS, SPREAD, fluid

from strata import md
from strata.errors import StrataError
from strata.md import frames
from strata.md.averages import average
from strata.md.evaluate import Evaluator
from strata.md.potentials import Eam, LennardJones

MD_CASES = CASES.parent / "md"


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-md") is None:
        pytest.skip("the solver is not built")


SQUEEZED = """
[barostat]
kind = "c-rescale"
pressure = 6.0
time = 0.4
compressibility = 0.05
every = 4
"""


@pytest.mark.parametrize("kind", ["langevin", "v-rescale"])
def test_a_changing_box_has_the_same_bits_on_every_layout_and_after_a_restart(run, tmp_path, kind):
    """Between two changes of the box, and between rebuilds; with the motion of all taken away."""
    case = changed(
        tmp_path,
        "melt",
        cases=MD_CASES,
        cells="[8, 8, 8]",
        seed="87287\npatches = [3, 2, 2]",
        thermo="5",
        step="0.005\nremove_drift = 3",
        add=f'\n[thermostat]\nkind = "{kind}"\ntemperature = 1.5\ntime = 0.2\n' + SQUEEZED,
    )
    same_everywhere(run, case, tmp_path, 46)


def test_a_minimisation_has_the_same_bits_on_every_layout(run, tmp_path):
    changes = {"cells": "[10, 10, 10]", "sphere": "6.0", "box": "[24.0, 24.0, 24.0]", "patches": "[4, 4, 4]"}
    case = changed(
        tmp_path, "droplet", cases=MD_CASES, **changes, step='0.004\nmethod = "fire"', temperature="0.0"
    )
    same_everywhere(run, case, tmp_path, 60)


def squeezed(**pair: Any) -> md.Case:
    case = fluid(0.8442, 1.5, 5, cutoff=2.5, shift="force", **pair)
    case["thermostat"] = {"kind": "v-rescale", "temperature": 1.2, "time": 0.2}
    case["barostat"] = {
        "kind": "c-rescale", "pressure": 6.0, "time": 0.4, "compressibility": 0.05, "every": 4,
    }  # fmt: skip
    return case


def test_files_have_places_and_boxes_of_their_moments(tmp_path):
    """The energy of a trajectory's atoms in a trajectory's box is that of the series; checkpoint and field
    files have the same places."""
    case = squeezed()
    case["output"] = {"thermo": 20, "steps": 60}
    case["trajectory"] = {"forms": ["xyz", "dcd"], "steps": 20, "digits": 17}
    done = md.run(case, steps=60, layout="1x2", out=tmp_path / "run")
    series = done.thermo
    shown = list(frames.read(tmp_path / "run" / "trajectory.xyz"))
    floats = list(frames.read(tmp_path / "run" / "trajectory.dcd"))
    assert series["volume"][-1] < 0.97 * series["volume"][0]
    with Evaluator(LennardJones({"X": (1.0, 1.0)}, cutoff=2.5, shift="force")) as evaluator:
        for row, (frame, single) in enumerate(zip(shown, floats, strict=True)):
            assert frame.box is not None
            assert np.prod(frame.box) == pytest.approx(series["volume"][row], rel=1e-12)
            assert series["density"][row] == pytest.approx(500 / np.prod(frame.box), rel=1e-12)
            energy = evaluator(frame.positions, frame.box, ["X"] * 500).energy
            assert energy == pytest.approx(series["potential energy"][row], rel=1e-9)
            assert single.box == pytest.approx(frame.box, rel=1e-12)
            assert single.positions == pytest.approx(frame.positions, abs=1e-5)
    assert done.positions == pytest.approx(shown[-1].positions, abs=1e-12)
    points = (tmp_path / "run" / "fields" / "atoms-000060.vtkhdf").read_bytes()
    assert all(row.tobytes() in points for row in np.ascontiguousarray(shown[-1].positions))


def test_a_box_that_shrinks_too_far_says_what_to_do():
    case = squeezed()
    case["barostat"]["pressure"] = 100.0
    with pytest.raises(StrataError, match=r"barostat\.least"):
        md.run(case, steps=400)


def at_pressure(density: float, steps: int, early: int, seed: int) -> tuple[float, float, float]:
    """At the pressure that NIST has for this density at T = 0.85: density, its error, and the variance of the
    volume divided by its mean and T: the compressibility."""
    case = fluid(density, 0.85, cutoff=3.0, shift="none", long_range=True)
    case["system"] |= {"seed": seed, "temperature": 3.0}
    case["thermostat"] = {"kind": "langevin", "temperature": 0.85, "time": 0.5}
    # In a box that may shrink, the lattice would stay a crystal.
    molten = md.run(case, steps=2000)
    liquid = md.Atoms(molten.positions, (500 / density) ** (1 / 3), "X", molten.velocities)
    case["system"].pop("temperature")
    case["barostat"] = {
        "kind": "c-rescale", "pressure": POINTS[density]["pressure"], "time": 0.5, "compressibility": 0.055,
        "every": 5,
    }  # fmt: skip
    volume = md.run(case, atoms=liquid, steps=steps).thermo.after(early // 10)["volume"]
    found = average(500 / volume)
    return found.mean, found.error, float(volume.var() / (volume.mean() * 0.85))


def compressibility(density: float) -> float:
    """From NIST's pressures around."""
    rows = [row for row in NIST["nvt_monte_carlo"]["T=0.85"] if abs(row["rho"] - density) < 0.045]
    slope = np.polyfit([row["rho"] - density for row in rows], [row["pressure"] for row in rows], 1)[0]
    return float(1 / (density * slope))


def beside_nist(found: tuple[float, float, float], limit: float) -> None:
    density, error, _ = found
    of_pressure = SPREAD["T=0.85 rho=0.86"]["p"] * compressibility(0.86) * 0.86
    assert error < limit
    assert abs(density - 0.86) < 3 * np.hypot(error, of_pressure)


def test_a_pressure_of_nist_has_its_density() -> None:
    beside_nist(at_pressure(0.86, 20000, 4000, 11), 0.002)


def test_an_ideal_gas_has_the_volumes_of_constant_pressure(tmp_path: Path) -> None:
    """Atoms that do not feel each other: the volume has the density V^N exp(-p V / T), so the mean
    (N + 1) T / p and the variance (N + 1) (T / p)^2 (Frenkel and Smit, Understanding Molecular Simulation,
    2nd ed. 2002, eq. 5.4.7 without interactions)."""
    atoms, pressure = 32, 0.05
    none = "".join(f"{i} {r} 0 0\n" for i, r in enumerate((1e-3, 0.4, 0.8, 1.2), 1))
    (tmp_path / "none.table").write_text(f"NONE\nN 4\n\n{none}")
    table = {"form": "table", "file": str(tmp_path / "none.table"), "sections": ["X X NONE 1.0"]}
    case = fluid(pressure, 1.0, 2, **table)
    case["time"]["step"] = 0.02
    case["thermostat"] = {"kind": "langevin", "temperature": 1.0, "time": 0.5}
    case["barostat"] = {
        "kind": "c-rescale", "pressure": pressure, "time": 0.5, "compressibility": 1 / pressure,
        "every": 2, "least": 0.65,
    }  # fmt: skip
    volume = md.run(case, steps=200000).thermo.after(100)["volume"] * pressure / (atoms + 1)
    mean, spread = average(volume), average((volume - 1) ** 2 * (atoms + 1))
    print(f"mean {mean.mean} +- {mean.error}, spread {spread.mean} +- {spread.error}")
    assert mean.error < 0.005
    assert spread.error < 0.03
    assert abs(mean.mean - 1) < 3.3 * mean.error
    assert abs(spread.mean - 1) < 3.3 * spread.error


@pytest.mark.soak
def test_a_pressure_of_nist_has_its_density_and_compressibility_for_long() -> None:
    found = at_pressure(0.86, 400000, 20000, 12)
    beside_nist(found, 0.0005)
    assert found[2] / compressibility(0.86) == pytest.approx(1, abs=0.12)


def test_disturbed_copper_goes_back_to_its_lattice(tmp_path):
    known = recorded("elastic")
    atoms = md.lattice("fcc", (4, 4, 4), known["lattice_constant"], species="Cu")
    atoms.positions += 0.1 * np.random.default_rng(3).normal(size=atoms.positions.shape)
    case: md.Case = {
        "system": {"units": "metal", "patches": [2, 1, 1]},
        "pair": {"form": "eam", "file": str(MD_CASES / "copper.eam.alloy")},
        "neighbours": {"skin": 0.5},
        "time": {"step": 0.002, "method": "fire"},
        "minimise": {"force": 1e-6},
    }
    done = md.run(case, atoms=atoms, steps=2000, layout="1x2")
    assert done.result["steps"] < 500
    assert done.result["verified"] is True
    assert done.thermo["potential energy"][-1] / 256 == pytest.approx(known["cohesive_energy"], abs=1e-9)
    assert done.thermo["largest force"][-1] <= 1e-6
    assert done.thermo["step"][-1] == done.result["steps"]
    # Those of its neighbours are as far as on the lattice
    with Evaluator(Eam(str(MD_CASES / "copper.eam.alloy"), ("Cu",))) as evaluator:
        found = evaluator(done.positions, atoms.box, ["Cu"] * 256)
    assert np.abs(found.forces).max() < 2e-6


def test_a_minimum_that_is_not_reached_is_not_verified(run, tmp_path):
    case = changed(
        tmp_path,
        "droplet",
        cases=MD_CASES,
        cells="[10, 10, 10]",
        sphere="6.0",
        box="[24.0, 24.0, 24.0]",
        patches="[2, 2, 2]",
        temperature="0.0",
        step='0.004\nmethod = "fire"',
        steps="25",
    )
    done = run(case, "--out", tmp_path / "out", "--checkpoint", 1000, check=False)
    assert done.returncode == 1
    assert "NOT VERIFIED: largest force on an atom" in done.stdout
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["steps"] == 25
    assert result["verified"] is False
    # It goes on where it gets more steps.
    case.write_text(case.read_text().replace("steps = 25", "steps = 2000"))
    run(case, "--out", tmp_path / "out", "--restart", tmp_path / "out", layout="1x2")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert 50 < result["steps"] < 1000
    assert result["verified"] is True
    # Stopped earlier nothing is compared, and nothing has failed.
    run(case, "--out", tmp_path / "short", "--steps", 10)
    assert "stopped before" in (tmp_path / "short" / "result.json").read_text()


def test_a_run_says_its_degrees_of_freedom(front, tmp_path):
    case = changed(tmp_path, "melt", cases=MD_CASES, cells="[4, 4, 4]", cutoff="2.5", steps="5")
    case.write_text(case.read_text() + '\n[thermostat]\nkind = "langevin"\ntemperature = 1.5\ntime = 0.2\n')
    done = subprocess.run(
        [front, "run", str(case), "--bind", "none"], capture_output=True, text=True, timeout=120, check=True
    )
    assert "256 atoms, 768 degrees of freedom" in done.stderr
    assert "degrees of freedom" in done.stdout
