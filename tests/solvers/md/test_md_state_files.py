"""Molecular dynamics from and to files: LAMMPS's state of copper has LAMMPS's energies and trajectory; a
trajectory has the same bytes on every layout and after a restart, and is what its form says."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from every_layout import same_everywhere
from solver_cases import MD_CASES, changed, solver_program

RECORDED = Path(__file__).parent / "lammps"
MELT = {"cells": "[6, 6, 6]", "seed": "87287\npatches = [2, 2, 1]", "thermo": "5"}


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-md") is None:
        pytest.skip("the solver is not built")


def copper(tmp_path: Path, state: Path, steps: int = 50) -> Path:
    case = tmp_path / "copper.toml"
    case.write_text(f"""solver = "md"
[system]
units = "metal"
file = "{state}"
patches = [2, 1, 2]
[kinds]
names = ["Cu"]
[pair]
form = "eam"
file = "{MD_CASES / "copper.eam.alloy"}"
[neighbours]
skin = 0.5
[time]
step = 0.001
steps = {steps}
[output]
thermo = 1
""")
    return case


@pytest.fixture(scope="module")
def state(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("state") / "copper.data"
    path.write_bytes(gzip.decompress((RECORDED / "copper.data.gz").read_bytes()))
    return path


def rows(out: Path) -> list[dict[str, float]]:
    """Of series.csv, without units in the names."""
    with (out / "series.csv").open() as lines:
        return [{k.split(" [")[0]: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]


def test_copper_from_a_file_has_the_energies_and_the_trajectory_of_lammps(run, tmp_path, state):
    out = tmp_path / "out"
    run(copper(tmp_path, state), "--out", out, layout="2x1")
    eam = json.loads((RECORDED / "copper.json").read_text())["variants"]["eam"]
    first = rows(out)[0]
    assert first["potential energy"] == pytest.approx(eam["potential_energy"], rel=1e-12)
    assert first["kinetic energy"] == pytest.approx(eam["kinetic_energy"], rel=1e-12)
    assert first["temperature"] == pytest.approx(eam["temperature"], rel=1e-12)
    largest = max(map(abs, eam["pressure"]))
    for name, wanted in zip(("xx", "yy", "zz", "xy", "xz", "yz"), eam["pressure"], strict=True):
        assert first[f"pressure {name}"] == pytest.approx(wanted, abs=1e-12 * largest)
    follows(out, eam["run"])


def follows(out: Path, recorded: dict) -> None:
    """The series has what LAMMPS recorded of its own run, 1e-9 in 50 steps."""
    ours = {row["step"]: row for row in rows(out)}
    names = {"temp": "temperature", "pe": "potential energy", "ke": "kinetic energy", "pxx": "pressure xx"}
    for values in recorded["rows"]:
        theirs = dict(zip(recorded["columns"], values, strict=True))
        for name, mine in names.items():
            assert ours[theirs["step"]][mine] == pytest.approx(theirs[name], rel=1e-9), theirs["step"]
    assert recorded["rows"][-1][0] == 50


LJ = "epsilon = [1.0, 0.7, 1.3]\nsigma = [1.0, 1.2, 0.9]\n"
EXPLICIT = LJ + (
    'pairs = ["A A 1.0 1.0 2.5", "B B 0.7 1.2 3.2", "C C 1.3 0.9 2.2", "A B 0.9 1.15 2.8", '
    '"A C 1.1 0.93 2.4", "C B 0.5 1.05 2.0"]\n'
)
NOBLE = "epsilon = [0.2381, 0.3258]\nsigma = [3.405, 3.636]\n"
MIXED = {  # state and variant of tests/solvers/md/lammps -> units, kinds, pair
    ("mixture", "truncated"): ("lj", "ABC", LJ, 'cutoff = 3.0\nshift = "none"'),
    ("mixture", "energy-shifted"): ("lj", "ABC", LJ, 'cutoff = 3.0\nshift = "energy"'),
    ("mixture", "force-shifted"): ("lj", "ABC", LJ, 'cutoff = 3.0\nshift = "force"'),
    ("mixture", "tails"): ("lj", "ABC", LJ, 'cutoff = 3.0\nshift = "none"\nlong_range = true'),
    ("mixture", "explicit"): ("lj", "ABC", EXPLICIT, 'cutoff = 3.2\nshift = "none"'),
    ("mixture", "explicit-force-shifted"): ("lj", "ABC", EXPLICIT, 'cutoff = 3.2\nshift = "force"'),
    ("noble", "energy-shifted"): ("real", ("Ar", "Kr"), NOBLE, 'cutoff = 8.5\nshift = "energy"'),
    ("alloy", "eam"): (
        "metal",
        ("Cu", "Ni"),
        "",
        f'form = "eam"\nfile = "{RECORDED}/copper-nickel.eam.alloy"',
    ),
}


def several_kinds(tmp_path: Path, name: str, variant: str, more: str = "") -> Path:
    units, names, kinds, pair = MIXED[name, variant]
    data = tmp_path / f"{name}.data"
    data.write_bytes(gzip.decompress((RECORDED / f"{name}.data.gz").read_bytes()))
    case = tmp_path / f"{name}.toml"
    step = {"lj": 0.001, "real": 2.0, "metal": 0.001}[units]
    case.write_text(
        f'solver = "md"\n[system]\nunits = "{units}"\nfile = "{data}"\npatches = [2, 2, 1]\n[kinds]\n'
        f'names = {list(names)}\n{kinds}[pair]\nprecision = "double"\n{pair}\n[neighbours]\nskin = 0.3\n'
        f"[time]\nstep = {step}\nsteps = 50\n[output]\nthermo = 1\n{more}"
    )
    return case


@pytest.mark.parametrize(("name", "variant"), MIXED)
def test_several_kinds_have_the_energies_and_pressures_of_lammps(run, tmp_path, name, variant):
    out = tmp_path / "out"
    run(several_kinds(tmp_path, name, variant), "--out", out)
    wanted = json.loads((RECORDED / f"{name}.json").read_text())["variants"][variant]
    first = rows(out)[0]
    assert first["kinetic energy"] == pytest.approx(wanted["kinetic_energy"], rel=1e-12)
    assert first["temperature"] == pytest.approx(wanted["temperature"], rel=1e-12)
    scale = max(abs(wanted["potential_energy"]), abs(wanted["kinetic_energy"]))
    assert first["potential energy"] == pytest.approx(wanted["potential_energy"], abs=1e-12 * scale)
    largest = max(map(abs, wanted["pressure"]))
    for each, value in zip(("xx", "yy", "zz", "xy", "xz", "yz"), wanted["pressure"], strict=True):
        assert first[f"pressure {each}"] == pytest.approx(value, abs=1e-12 * largest)
    if "run" in wanted:
        follows(out, wanted["run"])


@pytest.mark.parametrize("variant", ["explicit", "force-shifted"])
def test_several_kinds_have_the_same_bits_on_every_layout(run, tmp_path, variant):
    more = (
        '[thermostat]\nkind = "v-rescale"\ntemperature = 1.5\ntime = 0.2\n' if variant == "explicit" else ""
    )
    same_everywhere(run, several_kinds(tmp_path, "mixture", variant, more), tmp_path, None)


def test_copper_has_the_same_bits_on_every_layout_and_after_a_restart(run, tmp_path, state):
    same_everywhere(run, copper(tmp_path, state, 40), tmp_path, None)


def test_a_state_as_extended_xyz_is_that_of_the_data_file(run, tmp_path, state):
    text = state.read_text()
    atoms = [line.split() for line in text.split("Atoms # atomic\n\n")[1].split("\n\n")[0].splitlines()]
    speeds = {w[0]: w[1:] for w in map(str.split, text.split("Velocities\n\n")[1].splitlines())}
    lines = [
        str(len(atoms)),
        'Lattice="14.46 0 0 0 14.46 0 0 0 14.46" Properties=id:I:1:species:S:1:pos:R:3:velo:R:3',
    ]
    lines += [" ".join([w[0], "Cu", *w[2:5], *speeds[w[0]]]) for w in reversed(atoms)]
    xyz = tmp_path / "copper.xyz"
    xyz.write_text("\n".join(lines) + "\n")
    series = []
    for each in (state, xyz):
        out = tmp_path / each.suffix[1:]
        run(copper(tmp_path, each), "--out", out)
        series.append((out / "series.csv").read_text())
    assert series[0] == series[1]


def test_a_damaged_state_is_one_error_with_its_line(run, tmp_path, state):
    lines = state.read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("100 1 "))
    for damaged, said in (
        ("100 1 1.0 2.0 x", "a number is expected"),
        ("99 1 1.0 2.0 3.0", "one number"),
        (lines[at - 1], "one number"),  # at one place too
        (f"{lines[at]}\n\nMasses\n\n1 3.0\n\n", "begins within"),
    ):
        broken = tmp_path / "broken.data"
        broken.write_text("\n".join([*lines[:at], damaged, *lines[at + 1 :]]) + "\n")
        done = run(copper(tmp_path, broken), layout="2x1", check=False)
        assert done.returncode != 0
        assert said in done.stderr
        assert f"broken.data:{at + 1}" in done.stderr or said != "a number is expected"
        assert done.stderr.count("error:") == 1
    done = run(copper(tmp_path, tmp_path / "none.data"), check=False)
    assert "none.data" in done.stderr
    assert done.returncode == 2


def test_files_that_say_other_units_than_the_case_are_refused(run, tmp_path, state):
    """Their numbers would be taken as they are."""
    case = copper(tmp_path, state)
    text = case.read_text()
    for units, file in (("real", "copper.eam.alloy"), ("lj", "copper.eam.alloy")):
        case.write_text(text.replace('"metal"', f'"{units}"'))
        done = run(case, check=False)
        assert done.returncode == 2
        assert f"is in units metal, and the case is in {units}" in done.stderr and file in done.stderr
    case.write_text(
        f'solver = "md"\n[system]\nfile = "{state}"\n[kinds]\nnames = ["Cu"]\n[time]\nsteps = 1\n'
    )
    done = run(case, check=False)
    assert "is in units metal, and the case is in lj" in done.stderr and state.name in done.stderr


@pytest.mark.parametrize("units", ["real", "metal"])
def test_no_mass_is_made_up_in_units_of_real_atoms(run, tmp_path, units):
    """Nor where some kinds have one: a mass of 1 g/mol is no atom's. In reduced units it is 1."""
    data, case = tmp_path / "two.data", tmp_path / "two.toml"
    box = "".join(f"0 30 {axis}lo {axis}hi\n" for axis in "xyz")
    head = f"two\n\n2 atoms\n2 atom types\n\n{box}\n"
    atoms = "Atoms # atomic\n\n1 1 1 2 3\n2 2 9 2 3\n"

    def done(masses: str, of: str, kinds: str = "") -> subprocess.CompletedProcess:
        data.write_text(head + masses + atoms)
        case.write_text(
            f'solver = "md"\n[system]\nunits = "{of}"\nfile = "{data}"\ntemperature = 1.0\n'
            f'[kinds]\nnames = ["N", "C"]\n{kinds}[pair]\ncutoff = 8.0\n[time]\nstep = 0.001\nsteps = 2\n'
        )
        return run(case, check=False)

    for masses, kind in (("", "N"), ("Masses\n\n1 14.007\n\n", "C")):
        refused = done(masses, units)
        assert refused.returncode == 2
        assert f"no mass of {kind}" in refused.stderr and "kinds.masses" in refused.stderr
    assert "no mass of" not in done("Masses\n\n1 14.007\n2 12.011\n\n", units).stderr
    assert "no mass of" not in done("", units, "masses = [14.007, 12.011]\n").stderr
    assert "no mass of" not in done("", "lj").stderr
    assert "no mass of C" in done("Masses\n\n1 14.007\n\n", "lj").stderr


def with_trajectory(tmp_path: Path, digits: int = 17) -> Path:
    add = f'\n[trajectory]\nforms = ["xyz", "dcd"]\nsteps = 10\ndigits = {digits}\n'
    return changed(tmp_path, "melt", add=add, cases=MD_CASES, **MELT)


def files(out: Path) -> dict[str, bytes]:
    return {name: (out / f"trajectory.{name}").read_bytes() for name in ("xyz", "dcd")}


def xyz_frames(data: bytes) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Step, numbers and positions of each frame."""
    lines = data.decode().splitlines()
    found = []
    while lines:
        atoms = int(lines[0])
        step = int(lines[1].split("step=")[1].split()[0])
        table = [line.split() for line in lines[2 : 2 + atoms]]
        found.append(
            (
                step,
                np.array([int(r[4]) for r in table]),
                np.array([[float(v) for v in r[1:4]] for r in table]),
            )
        )
        lines = lines[2 + atoms :]
    return found


def dcd_frames(data: bytes) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Numbers of the head; cells and positions of frames: Fortran's records."""
    records, at = [], 0
    while at < len(data):
        size = int(np.frombuffer(data, "<i4", 1, at)[0])
        assert np.frombuffer(data, "<i4", 1, at + 4 + size)[0] == size
        records.append(data[at + 4 : at + 4 + size])
        at += size + 8
    assert records[0][:4] == b"CORD"
    frames = records[3:]
    cells = [np.frombuffer(frames[k], "<f8") for k in range(0, len(frames), 4)]
    places = [
        np.stack([np.frombuffer(frames[k + axis], "<f4") for axis in (1, 2, 3)], axis=1)
        for k in range(0, len(frames), 4)
    ]
    assert all(len(each) == np.frombuffer(records[2], "<i4")[0] for each in places)
    return np.frombuffer(records[0][4:], "<i4"), cells, places


def test_trajectories_are_the_same_on_all_layouts_and_after_a_restart(run, tmp_path):
    case = with_trajectory(tmp_path)
    known = None
    for layout in ("1x1", "2x1", "1x2"):
        out = tmp_path / layout
        run(case, "--out", out, "--steps", 45, layout=layout)
        known = known or files(out)
        assert files(out) == known, layout
        assert not list(out.glob("*.part"))
    out = tmp_path / "again"
    run(case, "--out", out, "--steps", 25, "--checkpoint", 15, "--keep", 0, layout="2x1")
    with (out / "trajectory.xyz").open("ab") as file:
        file.write(b"864\nhalf a frame")
    run(case, "--out", out, "--restart", out, "--steps", 45, layout="1x2")
    assert files(out) == known
    frames = xyz_frames(known["xyz"])
    head, cells, places = dcd_frames(known["dcd"])
    assert [step for step, _, _ in frames] == [0, 10, 20, 30, 40]
    assert list(head[:3]) == [5, 0, 10]
    for (_, ids, exact), cell, coarse in zip(frames, cells, places, strict=True):
        assert (np.diff(ids) == 1).all()
        assert len(ids) == 864
        edge = 6 * (4 / 0.8442) ** (1 / 3)
        np.testing.assert_allclose(cell, [edge, 90, edge, 90, 90, edge], rtol=1e-12)
        assert (exact.astype(np.float32) == coarse).all()
    # They move, and none is where another one is.
    assert 0.01 < np.abs(frames[1][2] - frames[0][2]).max() < 1


def test_a_killed_run_leaves_whole_frames_and_goes_on(front, run, tmp_path):
    case = with_trajectory(tmp_path, digits=9)
    whole = tmp_path / "whole"
    run(case, "--out", whole)
    out = tmp_path / "killed"
    program = solver_program(front, "strata-md")
    words = [str(program), str(case), "--out", str(out), "--checkpoint", "10", "--quiet"]
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        end = time.monotonic() + 60
        while not (out / "checkpoint-000000000030").exists() and not list(out.glob("checkpoint-*30")):
            if process.poll() is not None or time.monotonic() > end:
                break
            time.sleep(0.001)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert list(out.glob("checkpoint-*"))
    run(case, "--out", out, "--restart", out, layout="1x2")
    assert files(out) == files(whole)


def test_an_existing_trajectory_is_not_overwritten(run, tmp_path):
    case = with_trajectory(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    (out / "trajectory.dcd").write_bytes(b"of another run")
    done = run(case, "--out", out, "--steps", 10, check=False)
    assert done.returncode == 2
    assert "there is a trajectory already" in done.stderr
    assert (out / "trajectory.dcd").read_bytes() == b"of another run"
