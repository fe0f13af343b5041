"""Molecular dynamics: the same bits on every layout, after a restart on another one, and with balancing."""

from __future__ import annotations

import json

import pytest
from every_layout import ended, same_everywhere
from solver_cases import MD_CASES, changed, solver_program

SHORT = {
    "melt": ({"cells": "[8, 8, 8]", "seed": "87287\npatches = [3, 2, 2]", "thermo": "5"}, 45),
    "columbia": ({"cells": "[8, 8, 8]", "patches": "[2, 1, 2]", "thermo": "5"}, 25),
    "droplet": (
        {"cells": "[10, 10, 10]", "sphere": "6.0", "box": "[24.0, 24.0, 24.0]", "patches": "[4, 4, 4]"},
        60,
    ),
}


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-md") is None:
        pytest.skip("the solver is not built")


@pytest.mark.parametrize("name", SHORT)
def test_every_layout_has_the_same_bits_and_so_has_a_restart_between_rebuilds(run, tmp_path, name):
    changes, steps = SHORT[name]
    same_everywhere(run, changed(tmp_path, name, cases=MD_CASES, **changes), tmp_path, steps)


def test_lists_of_a_fixed_age_have_the_same_bits_after_a_restart(run, tmp_path):
    changes, steps = SHORT["melt"]
    case = changed(tmp_path, "melt", cases=MD_CASES, **{**changes, "skin": "0.3\nevery = 10"})
    same_everywhere(run, case, tmp_path, steps)


@pytest.mark.parametrize("kind", ["langevin", "v-rescale", "nose-hoover"])
def test_thermostats_have_the_same_bits_on_every_layout(run, tmp_path, kind):
    changes, _ = SHORT["melt"]
    case = changed(tmp_path, "melt", cases=MD_CASES, **changes)
    case.write_text(case.read_text() + f'\n[thermostat]\nkind = "{kind}"\ntemperature = 1.5\ntime = 0.2\n')
    same_everywhere(run, case, tmp_path, 24)


def test_balancing_leaves_the_bits_of_a_droplet_as_they_are(run, tmp_path):
    changes, _ = SHORT["droplet"]
    case = changed(tmp_path, "droplet", cases=MD_CASES, **changes)
    known = None
    for balance in ("false", "true"):
        path = tmp_path / f"{balance}.toml"
        path.write_text(case.read_text() + f"\n[run]\nbalance = {balance}\n")
        out = tmp_path / balance
        run(path, "--out", out, "--checkpoint", 1_000_000, "--steps", 200, layout="2x1", timeout=600)
        known = known or ended(out)
        assert ended(out) == known


def test_the_series_has_the_start_and_every_step_that_is_due(run, tmp_path):
    changes, _ = SHORT["melt"]
    case = changed(tmp_path, "melt", cases=MD_CASES, **{**changes, "steps": "12"})

    def steps(name: str, *options: object) -> list[str]:
        run(case, "--out", tmp_path / name, *options)
        rows = (tmp_path / name / "series.csv").read_text().splitlines()
        return [row.split(",")[0] for row in rows if row[:1].isdigit()]

    # Where the command line ends a run nothing is due.
    assert steps("short", "--steps", 7) == ["0", "5"]
    assert steps("out") == ["0", "5", "10", "12"]
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["verified"] is True


def test_a_wrong_key_is_one_error_that_says_what_is_allowed(run, tmp_path):
    case = changed(tmp_path, "melt", cases=MD_CASES, cutoff="40.0")
    done = run(case, check=False)
    assert done.returncode != 0
    assert "pair.cutoff" in done.stderr
    assert "at most" in done.stderr
