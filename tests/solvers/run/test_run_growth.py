"""What no physics can be ends a run with one error that says what grew, since when and where; and what memory
does not hold is said as such.
"""

from __future__ import annotations

import re
import resource
import subprocess
from pathlib import Path

import pytest
from solver_cases import CASES, MD_CASES, changed, solver_program

PYTHON = CASES.parents[1] / "solvers" / "transport" / "heat.py"


def one_error(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stdout
    assert done.stderr.count("strata: error") == 1, done.stderr
    return done.stderr


# -- Transport: a step a little too long makes waves that grow, and the integral stays what it was.


@pytest.mark.parametrize("solver", ["native", "python"])
def test_heat_in_steps_that_are_too_long_ends_where_values_leave_their_range(run, tmp_path, solver):
    small = {"cells": "[16, 16, 16]", "patch": "[8, 8, 8]", "error": "0.0"}
    case = changed(tmp_path, "heat", cfl="1.3", end="0.5", **small)
    words = [PYTHON, case] if solver == "python" else [case]
    text = one_error(run(*words, "--out", tmp_path / "out", layout="2x1", check=False))
    assert "the step is unstable: 'temperature' is " in text
    assert re.search(r"task 'conduct', patch \d+ of 'grid', step \d+", text)
    assert re.search(r" K (at \(0\.\d+, 0\.\d+, 0\.\d+\) m|in cell \(\d+, \d+, \d+\)), and the first", text)
    assert "time.cfl = 1; the case has 1.3" in text
    assert not (tmp_path / "out" / "result.json").exists()


# -- Solids

DISKS = """solver = "mpm"
[grid]
cells = [24, 24, 1]
patch = [12, 12, 1]
size = [1.2, 1.2, 0.05]
[[materials]]
law = "{law}"
density = 1000.0
young = 1000.0
poisson = 0.3
[particles]
per_cell = [2, 2, 1]
[[bodies]]
shape = "cylinder"
from = [0.4, 0.4, 0.0]
to = [0.4, 0.4, 0.05]
radius = 0.2
velocity = [{v}, {v}, 0.0]
[[bodies]]
shape = "cylinder"
from = [0.8, 0.8, 0.0]
to = [0.8, 0.8, 0.05]
radius = 0.2
velocity = [-{v}, -{v}, 0.0]
[time]
end = 3.0
cfl = 0.2
[verify]
energy = 1.0
"""


def test_solids_that_gain_energy_from_nothing_end_with_energy_step_and_place(front, run, tmp_path):
    if solver_program(front, "strata-mpm") is None:
        pytest.skip("the material point method is not built")
    case = tmp_path / "disks.toml"
    case.write_text(DISKS.format(law="linear", v=0.6))
    said = [
        one_error(run(case, "--out", tmp_path / layout, layout=layout, check=False))
        for layout in ("1x1", "2x2")
    ]
    pattern = (
        r"task 'M2G', patch \d+ of 'grid', step (\d+): energy grows without a source: more than 10 times the "
        r"(\S+) J .* energy are (\S+) J .* the fastest point, at \((\S+), (\S+), (\S+)\) m"
    )
    found = [re.search(pattern, text) for text in said]
    assert found[0] and found[1] and found[0].groups() == found[1].groups()
    step, given, energy, *place = map(float, found[0].groups())
    assert 100 < step < 3000 and 10 < energy / given < 13
    assert all(0 <= x <= most for x, most in zip(place, (1.2, 1.2, 0.05), strict=True))
    assert '("linear" is for small strains and rotations alone)' in said[0]
    # The same bodies of a law for large strains, and slow ones of this law, go on.
    for law, v in (("neo-hookean", 0.6), ("linear", 0.1)):
        case.write_text(DISKS.format(law=law, v=v))
        run(case)


def test_steps_that_shrink_to_nothing_end_a_run_also_where_plates_give_energy(front, run, tmp_path):
    if solver_program(front, "strata-mpm") is None:
        pytest.skip("the material point method is not built")
    case = tmp_path / "disks.toml"
    plate = (
        '[[plates]]\naxis = "x"\nplace = 1.19\nside = "upper"\nkind = "fixed"\nvelocity = [0.0, 0.001, 0.0]\n'
    )
    case.write_text(DISKS.format(law="linear", v=1.0) + plate)
    text = one_error(run(case, check=False))
    assert re.search(r"step \d+: waves and points cross 1\d\d\S* times as many cells a second", text), text
    assert re.search(r"the fastest point, at \(\S+, \S+, \S+\) m, has \S+ m/s", text)


# -- Atoms

TWO = """two atoms

{count} atoms
1 atom types
0 12 xlo xhi
0 12 ylo yhi
0 12 zlo zhi

Atoms # atomic

{atoms}
"""
GAS = """solver = "md"
[system]
file = "{file}"
temperature = 0.0
patches = [2, 2, 2]
[pair]
cutoff = 2.5
precision = "{precision}"
[time]
step = 0.001
steps = 20
[output]
thermo = 1
[verify]
drift = 1e9
"""


@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize(
    ("x", "says"),
    [
        ((3.0, 4.0, 5.0), r"atoms 7 and 11 lie at one place, \(3, 4, 5\)"),
        ((6.0, 6.0, 6.0), r"atoms 7 and 11 lie at one place, \(6, 6, 6\)"),
    ],
)
def test_two_atoms_at_one_place_are_named(front, run, tmp_path, precision, x, says):
    if solver_program(front, "strata-md") is None:
        pytest.skip("molecular dynamics is not built")
    places = {7: x, 11: x, 3: (1.0, 1.0, 1.0), 4: (9.0, 9.0, 2.0)}
    atoms = "\n".join(f"{n} 1 {p[0]} {p[1]} {p[2]}" for n, p in places.items())
    (tmp_path / "two.data").write_text(TWO.format(count=len(places), atoms=atoms))
    case = tmp_path / "two.toml"
    case.write_text(GAS.format(file=tmp_path / "two.data", precision=precision))
    for layout in ("1x1", "2x1"):
        text = one_error(run(case, layout=layout, check=False))
        assert re.search(says, text), text
        assert "time.step" not in text


def test_atoms_in_steps_that_are_too_long_end_with_the_energy_and_the_key(front, run, tmp_path):
    if solver_program(front, "strata-md") is None:
        pytest.skip("molecular dynamics is not built")
    case = changed(tmp_path, "melt", "", MD_CASES, cells="[6, 6, 6]", thermo="1", step="0.03", steps="2000")
    done = run(case, check=False)
    assert done.returncode == 1
    assert done.stderr.count("strata: error") == 1, done.stderr
    assert re.search(r"energy grows without a source: the conserved energy was -?\d\S* epsilon", done.stderr)
    assert "time.step (0.03 tau) is too long" in done.stderr


NEAR = """PAIR
N 3 R 0.5 2.0

1 0.5 1.0 1.0
2 1.25 0.5 0.5
3 2.0 0.0 0.0
"""


def test_atoms_that_forces_move_from_rest_have_the_energy_of_the_work(front, run, tmp_path):
    """Their first energy is 0, and so is that of a table beyond its last line: rounding is no growth."""
    if solver_program(front, "strata-md") is None:
        pytest.skip("molecular dynamics is not built")
    (tmp_path / "two.data").write_text(TWO.format(count=2, atoms="1 1 3.1 3.2 3.3\n2 1 9.1 9.2 9.3"))
    (tmp_path / "near.table").write_text(NEAR)
    pair = 'form = "table"\nfile = "near.table"\nsections = ["X X PAIR"]'
    pushed = pair + '\n[outside]\nforces = ["all 0.3 0.1 0.2"]'
    case = tmp_path / "pushed.toml"
    text = GAS.format(file="two.data", precision="mixed").replace('precision = "mixed"', pushed)
    case.write_text(text.replace("cutoff = 2.5\n", ""))
    run(case, layout="1x1")


# -- Memory


def test_a_case_that_memory_does_not_hold_is_said_to_be_one(front, tmp_path):
    program = solver_program(front, "strata-md")
    if program is None:
        pytest.skip("molecular dynamics is not built")
    many = "[4000, 4000, 4000]\npatches = [800, 800, 800]"
    case = changed(tmp_path, "melt", "", MD_CASES, cells=many)
    limit = 600 << 20
    done = subprocess.run(
        [str(program), str(case), "--graph"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stderr.count("strata: error") == 1 and "not enough memory" in done.stderr
    assert "bad_alloc" not in done.stderr and str(Path(case)) in done.stderr
