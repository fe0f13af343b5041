"""`strata run` with cases of the material point method: verified, the same bits, errors."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from solver_cases import MPM_CASES as CASES
from solver_cases import changed as changed_case

sys.path.insert(0, str(CASES))
import points_file as field_files

changed = partial(changed_case, cases=CASES)


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    beside = (".", "../libexec/strata", "../solvers")
    if not any((Path(front).parent / folder / "strata-mpm").exists() for folder in beside):
        pytest.skip("the solver is not built")


def series(out: Path) -> dict[str, np.ndarray]:
    rows = (out / "series.csv").read_text().splitlines()
    values = np.array([[float(v) for v in row.split(",")] for row in rows[1:]])
    return {name.split(" [")[0]: values[:, i] for i, name in enumerate(rows[0].split(","))}


@pytest.mark.parametrize(
    "name", ["disks", "axial", "impact", "incline", "cylinder", "manufactured-bar", "manufactured-vortex"]
)
def test_each_case_ends_verified(run, tmp_path, name):
    out = tmp_path / "out"
    assert "verified:" in run(CASES / f"{name}.toml", "--out", out).stdout
    result = json.loads((out / "result.json").read_text())
    assert result["verified"] is True
    rates = {figure["name"]: figure["value"] for figure in result["figures"]}
    assert rates["particles updated"] > 0 and "cells updated" not in rates
    # The case as it is: its limit leaves half as much room as it needs.
    assert result["verification"]["limit"] / 2 < result["verification"]["value"]


def test_all_limits_of_a_case_must_hold_and_each_is_a_line(run, tmp_path):
    case = tmp_path / "axial.toml"
    given = (CASES / "axial.toml").read_text()
    for energy, passed in (("0.5", True), ("1e-9", False)):
        case.write_text(given.replace("[verify]\n", f"[verify]\nenergy = {energy}\n"))
        out = tmp_path / energy
        done = run(case, "--out", out, check=False)
        assert done.returncode == (0 if passed else 1)
        result = json.loads((out / "result.json").read_text())
        error, change = result["criteria"]
        assert (error["source"], error["passed"]) == ("verify.error of the case", True)
        assert (change["source"], change["passed"]) == ("verify.energy of the case", passed)
        assert result["verified"] is passed and result["verification"]["source"].endswith("; the worst of 2")
        for each in (error, change):
            assert f"  {each['what']}: {each['value']:.3g}, allowed up to {each['limit']:.3g}" in done.stdout
        worst = error if passed else change
        assert result["verification"]["what"] == worst["what"]


def test_orders_of_convergence_are_shown_for_a_case(front):
    # Of the bar with forces by cells; what the figures must be is the claim of test_mpm_orders.cpp.
    command = [sys.executable, CASES / "orders.py", CASES / "manufactured-bar.toml", "16", "32"]
    changes = ["--set", "quadrature=cells", "--set", "deformation=backward", "--strata", front]
    lines = subprocess.run(
        [*command, *changes], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = [re.fullmatch(r" +(16|32) cells  error (\S+)(?:  order (\S+))?", line) for line in lines]
    assert [m[1] for m in found] == ["16", "32"]
    assert [float(m[2]) for m in found] == pytest.approx([4.9e-3, 2.1e-3], rel=0.05)
    assert float(found[1][3]) == pytest.approx(np.log2(4.91e-3 / 2.13e-3), abs=0.02)


def test_the_bar_under_tension_takes_up_what_its_ends_are_given(run, tmp_path):
    # A coarser bar. Until waves come back each end moves at F / (A rho c), c^2 = (lambda + 2 mu) / rho: the
    # work of both forces is 2 F^2 t / (A rho c).
    case = changed(tmp_path, "bar", cells="[120, 5, 5]", patch="[24, 5, 5]", size="[2.4, 0.1, 0.1]",
                   to="[2.2, 0.1, 0.1]", pull="1e2", **{"from": "[0.2, 0, 0]"})  # fmt: skip
    run(case, "--out", tmp_path / "out", "--series", 1)
    found = series(tmp_path / "out")
    mu = 2 * (1e5 + 2e4)
    c = np.sqrt(2 * mu * (1 - 0.49) / (1 - 2 * 0.49) / 1000)
    at = found["time"] < 1.9 / c
    slope = np.polyfit(found["time"][at], found["work of loads"][at], 1)[0]
    assert slope == pytest.approx(2 * 1e2**2 / (0.01 * 1000 * c), rel=0.02)
    assert np.abs(found["momentum x"]).max() < 1e-12 * 1e2 * 0.01


@pytest.mark.parametrize(
    ("shape", "transfer", "within"), [("quadratic", "flip", 2e-3), ("linear", "apic", 1e-2)]
)
def test_an_axial_mode_swings_with_its_frequency(run, tmp_path, shape, transfer, within):
    # f = c / 4 L (Rao, Mechanical Vibrations, 5th ed. 2011, table 8.1): the momentum is zero
    # after a quarter and after three quarters of each period.
    error = "0.005" if shape == "quadratic" else "0"
    how = {"shape": f'"{shape}"', "transfer": f'"{transfer}"', "error": error}
    case = changed(tmp_path, "axial", end="1.6", **how)
    run(case, "--out", tmp_path / "out", "--series", 1)
    found = series(tmp_path / "out")
    t, p = found["time"], found["momentum x"]
    cross = np.flatnonzero(np.sign(p[:-1]) != np.sign(p[1:]))
    zeros = t[cross] - p[cross] * (t[cross + 1] - t[cross]) / (p[cross + 1] - p[cross])
    assert len(zeros) == 8
    frequency = (len(zeros) - 1) / 2 / (zeros[-1] - zeros[0])
    assert frequency == pytest.approx(10 / 4, rel=within)


@pytest.mark.parametrize(("friction", "shape"), [("0.3", "quadratic"), ("0.8", "linear")])
def test_a_block_on_an_incline_slides_or_stays(run, tmp_path, friction, shape):
    # Coulomb: a = g (sin 30 - f cos 30) if that is above 0. (The exact solution that the case compares with
    # has this acceleration; here it is found anew from the momentum.)
    changes = {"friction": friction, "shape": f'"{shape}"', "end": "0.5", "error": "0.04", "young": "1e7"}
    case = changed(tmp_path, "incline", **changes)
    run(case, "--out", tmp_path / "out", "--series", 1)
    found = series(tmp_path / "out")
    mass = 0.8 * 0.4 * 0.05 * 1000
    t, p = found["time"], found["momentum x"] / mass
    acceleration = np.polyfit(t, p, 1)[0]
    expected = max(0.0, 4.905 - float(friction) * 8.4957)
    assert acceleration == pytest.approx(expected, abs=0.05)
    # What Coulomb's force takes on the way. A block that stays sways, and slips a little while it settles.
    force, taken = float(friction) * mass * 8.4957, found["work of friction"][-1]
    if expected > 0:
        assert taken == pytest.approx(force * 0.5 * expected * t[-1] ** 2, rel=0.03)
    else:
        assert 0 < taken < force * np.trapezoid(np.abs(p), t)


def test_stresses_in_a_thick_cylinder_are_those_of_lame(run, tmp_path):
    # sigma_r, sigma_t = p a^2 / (b^2 - a^2) (1 -+ b^2 / r^2) (Timoshenko and Goodier 1970, section 28), from
    # the deformation gradients in the field file.
    done = run(CASES / "cylinder.toml", "--out", tmp_path / "out", "--fields", 100000, check=False)
    if "made without HDF5" in done.stderr:
        pytest.skip("built without HDF5")
    assert done.returncode == 0, done.stderr
    points = field_files.read(sorted((tmp_path / "out" / "fields").glob("*.vtkhdf"))[-1])
    solid = points["mass"] > 0
    x, F = points["Points"][solid], points["deformation gradient"][solid].reshape(-1, 3, 3)
    e = (F + F.transpose(0, 2, 1)) / 2 - np.eye(3)
    lame, mu = 1e6 * 0.3 / 1.3 / 0.4, 1e6 / 2.6
    stress = lame * np.trace(e, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 2 * mu * e
    r = np.hypot(x[:, 0], x[:, 1])
    radial = x[:, :2] / r[:, None]
    around = radial[:, ::-1] * [-1, 1]
    p, a, b = 50.0, 0.4, 1.0
    for direction, sign in ((radial, -1), (around, 1)):
        found = np.einsum("ia,iab,ib->i", direction, stress[:, :2, :2], direction)
        exact = p * a**2 / (b**2 - a**2) * (1 + sign * b**2 / r**2)
        assert np.sqrt(np.mean((found - exact) ** 2)) < 0.015 * p


def test_colliding_disks_meet_and_part_as_published(run, tmp_path):
    # Sulsky, Chen and Schreyer 1994, section 5.2: two disks at 0.1 m/s each way along the diagonal meet, turn
    # nearly all of their energy into strain, and part. A grid passes forces on from about a cell's distance:
    # within a cell and a half of when they would touch (0.4485 m at 0.2828 m/s: 1.586 s).
    run(CASES / "disks.toml", "--out", tmp_path / "out", "--series", 1)
    found = series(tmp_path / "out")
    t, kinetic, strain = found["time"], found["kinetic energy"], found["strain energy"]
    first = kinetic[0]
    contact = t[np.flatnonzero(strain > 1e-3 * first)[0]]
    assert 1.586 - 1.5 * 0.05 * np.sqrt(2) / 0.2828 < contact < 1.65
    turn = np.argmin(kinetic)
    assert kinetic[turn] < 0.1 * first
    assert strain[turn] > 0.8 * first
    assert kinetic[-1] > 0.85 * first
    energy = (kinetic + strain) / first - 1
    assert np.abs(energy).max() < 0.1  # while forces pass through the grid between them
    assert np.abs(energy[-1]) < 0.03
    assert np.abs(found["momentum x"]).max() < 1e-13


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"density": "-1000.0"}, ("materials[0].density", "given: -1000.0", "number, > 0")),
        ({"poisson": "0.3\npoison = 0.3"}, ("materials[0].poison", "materials[0].poisson?")),
        (
            {"from": "[0.1, 0.3, 0.0]", "to": "[0.1, 0.3, 0.05]"},
            ("outside the domain", "in x"),
        ),
        (
            {"from": "[0.3, 1.1, 0.0]", "to": "[0.3, 1.1, 0.05]"},
            ("outside the domain", "in y"),
        ),
        ({"radius": "0.2\ncentre = [0.3, 0.3, 0.0]"}, ("bodies[0].centre", '"cylinder" has no such key')),
        ({"radius": "0.0"}, ("bodies[0].radius", "nothing is in the cylinder")),
        ({"radius": '0.2\nmaterial = "wood"'}, ("bodies[0].material", "there is no such material")),
        ({"law": '"neo-hooke"'}, ("materials[0].law", "mooney-rivlin")),
        ({"law": '"linear"\nyield = 1.0'}, ("materials[0].yield", '"linear" has no such number')),
        ({"velocity": "[0.1]"}, ("bodies[0].velocity", "three numbers")),
    ],
)
def test_what_cannot_be_gives_one_error_with_file_line_and_key(run, tmp_path, changes, says):
    case = changed(tmp_path, "disks", **changes)
    done = run(case, "--out", tmp_path / "out", layout="2x1", check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("strata: error") == 1
    assert f"{case}:" in done.stderr
    for part in says:
        assert part in done.stderr


def test_a_step_that_turns_unstable_ends_the_run_with_patch_step_and_label(run, tmp_path):
    case = changed(tmp_path, "disks", cfl="2.0")
    case.write_text(case.read_text().replace("[-0.1, -0.1, 0.0]", "[40.0, 0.0, 0.0]"))
    done = run(case, "--out", tmp_path / "out", layout="2x1", check=False)
    assert done.returncode == 1
    assert done.stderr.count("strata: error") == 1
    assert re.search(r"task 'CST', patch \d+ of 'grid', step \d+: 'deformation gradient'", done.stderr)


def test_a_point_that_leaves_the_domain_ends_the_run_with_patch_step_and_point(run, tmp_path):
    # Gravity that takes the disks far below the domain in the first step.
    case = changed(tmp_path, "disks")
    case.write_text(case.read_text().replace("[time]", "[loads]\ngravity = [0.0, -1e9, 0.0]\n\n[time]"))
    done = run(case, "--out", tmp_path / "out", layout="2x1", check=False)
    assert done.returncode == 1
    assert done.stderr.count("strata: error") == 1
    assert re.search(r"particle \d+ of 'points', on patch \d+ of 'grid', step \d+: .*border", done.stderr)


FORMER = """# A bar.
solver = "mpm"

[grid]
cells = [12, 4, 4]
patch = [6, 4, 4]
size = [1.2, 0.4, 0.4]   # m
walls = ["symmetry", "symmetry", "fixed", "symmetry", "periodic", "periodic"]
wall_velocity = [0, 0, 0,  0, 0, 0,  0.25, 0, 0,  0, 0, 0,  0, 0, 0,  0, 0, 0]

# Two of a kind.
[materials]
law = ["linear", "neo-hookean"]
density = [1000.0, 800.0]
young = [1e5, 2e5]
poisson = [0.3, 0.2]

[bodies]
shapes = ["box 0.2 0.0 0.0 0.5 0.2 0.2",
          "sphere 0.8 0.2 0.2 0.15"]
material = [0, 1]
velocity = [1.0, 0.0, 0.0,  0.0, 0.0, 0.0]
per_cell = [2, 2, 2]

[contact]
groups = [0, 1]
friction = 0.25

[loads]
surfaces = ["rectangle 0.5 0.0 0.0 0.5 0.2 0.2"]
pressure = [-10.0]
rise = 0.01

[plates]
faces = ["x > 1.1"]
velocity = [-0.5, 0.0, 0.0]

[time]
end = 0.02

[verify]
energy = 10.0
"""
PRESENT = """# A bar.
solver = "mpm"

[grid]
cells = [12, 4, 4]
patch = [6, 4, 4]
size = [1.2, 0.4, 0.4]   # m

[[walls]]
side = "y-min"
kind = "fixed"
velocity = [0.25, 0.0, 0.0]

[[walls]]
side = "z"
kind = "periodic"

# Two of a kind.

[[materials]]
name = "linear"
law = "linear"
density = 1000.0
young = 100e3
poisson = 0.3

[[materials]]
name = "neo-hookean"
law = "neo-hookean"
density = 800.0
young = 200e3
poisson = 0.2

[particles]
per_cell = [2, 2, 2]

[[bodies]]
shape = "box"
from = [0.2, 0.0, 0.0]
to = [0.5, 0.2, 0.2]
material = "linear"
velocity = [1.0, 0.0, 0.0]

[[bodies]]
shape = "sphere"
centre = [0.8, 0.2, 0.2]
radius = 0.15
material = "neo-hookean"
group = 1

[contact]
friction = 0.25

[loads]
rise = 0.01

[[surfaces]]
shape = "rectangle"
from = [0.5, 0.0, 0.0]
to = [0.5, 0.2, 0.2]
pressure = -10.0

[[plates]]
axis = "x"
place = 1.1
side = "upper"
velocity = [-0.5, 0.0, 0.0]

[time]
end = 0.02

[verify]
energy = 10.0
"""


def test_a_case_of_lists_is_told_its_tables_and_rewritten(front, run, tmp_path):
    case = tmp_path / "case.toml"
    case.write_text(FORMER)
    done = run(case, check=False)
    assert done.returncode == 2
    assert f"at: {case}:8 grid.walls" in done.stderr
    for each in ("[[plates]]", "[[materials]]", "[[surfaces]]", f"strata run {case} --rewrite"):
        assert each in done.stderr
    assert "is in its present form" in run(case, "--rewrite").stdout
    assert case.read_text() == PRESENT
    assert (tmp_path / "case.toml.old").read_text() == FORMER
    run(case, "--steps", 3)
    again = [front, "run", "--rewrite", str(case)]
    done = subprocess.run(again, capture_output=True, text=True, check=True, timeout=60)
    assert "nothing was written" in done.stdout
