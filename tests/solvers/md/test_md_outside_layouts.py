"""Molecular dynamics with what acts from outside: the same bits on every layout and after a restart, with
groups, walls and open borders; the columns of the series."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from every_layout import ended, same_everywhere
from solver_cases import CASES, changed, solver_program

MD_CASES = CASES.parent / "md"
PLAIN = """solver = "md"
[system]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8442
{system}
[pair]
cutoff = 2.5
shift = "force"
[time]
step = 0.005
steps = 60
[output]
thermo = 5
"""
# A liquid between a floor of frozen atoms and one that is moved, with walls beside it.
BETWEEN = (
    PLAIN.format(
        system="""temperature = 1.2
patches = [3, 2, 2]
box = [11.5, 11.5, 12.0]
boundary = ["periodic", "walls", "walls"]"""
    )
    + """
[groups]
names = ["floor", "lid", "tied", "liquid"]
members = ["floor: z < 2.5", "lid: z > 9.5", "tied: id 300 to 420 and not group floor and not group lid",
  "liquid: not group floor and not group lid"]
series = ["liquid", "lid"]
[outside]
frozen = ["floor"]
moving = ["lid 0.4 0 -0.05"]
springs = ["tied 5"]
accelerations = ["all 0 0 -0.2"]
forces = ["liquid 0.1 0 0"]
[walls]
faces = ["ylo reflect", "yhi harmonic 30 1.0", "zlo lj93 1 1 2.5", "zhi lj126 1 1 2.5 of liquid"]
"""
)
# Most of it flies away.
AWAY = PLAIN.format(
    system="""temperature = 9.0
patches = [3, 2, 2]
boundary = ["open", "open", "open"]"""
)


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-md") is None:
        pytest.skip("the solver is not built")


def written(tmp_path: Path, text: str) -> Path:
    case = tmp_path / "case.toml"
    case.write_text(text)
    return case


def everywhere(run, case: Path, tmp_path: Path, steps: int) -> None:
    """And on 2x2."""
    same_everywhere(run, case, tmp_path, steps)
    out = tmp_path / "2x2"
    run(case, "--out", out, "--checkpoint", 1_000_000, "--steps", steps, layout="2x2", timeout=600)
    assert ended(out) == ended(tmp_path / "1x1")


def test_groups_walls_and_moved_atoms_have_the_same_bits_on_every_layout(run, tmp_path):
    everywhere(run, written(tmp_path, BETWEEN), tmp_path, 45)
    rows = list(csv.DictReader(row for row in (tmp_path / "1x1" / "series.csv").open() if row[:1] != "#"))
    names = " ".join(rows[0])
    for name in ("force on zlo", "energy outside", "temperature of liquid", "force z on lid", "pressure xx"):
        assert name in names


@pytest.mark.parametrize("kind", ["langevin", "nose-hoover"])
def test_thermostats_leave_frozen_atoms_alone_on_every_layout(run, tmp_path, kind):
    text = BETWEEN + f'[thermostat]\nkind = "{kind}"\ntemperature = 1.2\ntime = 0.2\n'
    everywhere(run, written(tmp_path, text), tmp_path, 20)


def test_open_borders_have_the_same_bits_on_every_layout(run, tmp_path):
    everywhere(run, written(tmp_path, AWAY.replace("steps = 60", "steps = 600")), tmp_path, 420)
    # Where the box has no volume there is no pressure.
    assert "pressure" not in (tmp_path / "1x1" / "series.csv").read_text()


@pytest.mark.parametrize("name", ["coexistence", "sessile"])
def test_cases_have_the_same_bits_on_every_layout(run, tmp_path, name):
    case = changed(tmp_path, name, cases=MD_CASES, forms="[]", thermo="10")
    if name == "coexistence":
        case = changed(tmp_path, name, cases=MD_CASES, forms="[]", density="0.75\npatches = [5, 1, 2]")
    everywhere(run, case, tmp_path, 30)


def test_what_outside_is_wrong_is_one_error_with_line_and_key(run, tmp_path):
    case = written(tmp_path, BETWEEN.replace('frozen = ["floor"]', 'frozen = ["flor"]'))
    done = run(case, check=False)
    assert done.returncode != 0
    assert f"{case}:" in done.stderr
    assert "outside.frozen" in done.stderr
    assert "floor, lid, tied, liquid" in done.stderr
