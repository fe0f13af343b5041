"""Molecular dynamics over nodes: the bits of one process, also after a restart and in a replay. One machine
plays the nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from solver_cases import MD_CASES, changed, checksums, over_nodes, solver_program

STEPS = 40
SMALL = {
    "melt": {"cells": "[8, 8, 8]", "seed": "87287\npatches = [3, 2, 2]", "thermo": "5"},
    "copper": {"cells": "[5, 5, 5]", "temperature": "1200.0", "patches": "[2, 2, 2]", "thermo": "5"},
    "droplet": {
        "cells": "[10, 10, 10]",
        "sphere": "6.0",
        "box": "[24.0, 24.0, 24.0]",
        "patches": "[4, 4, 4]",
        "thermo": "5",
    },
}


@pytest.fixture
def program(front: str) -> Path:
    found = solver_program(front, "strata-md")
    if found is None:
        pytest.skip("the solver is not built")
    return found


def words(out: Path, *more: object) -> tuple[object, ...]:
    return "--out", out, "--steps", STEPS, "--checkpoint", 10, *more


def alike(out: Path, other: Path) -> bool:
    last = f"checkpoint-{STEPS:06}"
    assert checksums(out / last) == checksums(other / last)
    return (out / "series.csv").read_text() == (other / "series.csv").read_text()


@pytest.mark.parametrize("name", SMALL)
def test_four_nodes_go_on_after_a_restart_with_the_bits_of_one_process(program, run, tmp_path, name):
    changes = dict(SMALL[name])
    if name == "copper":
        changes["file"] = f'"{MD_CASES / "copper.eam.alloy"}"'
    case, one, out = changed(tmp_path, name, cases=MD_CASES, **changes), tmp_path / "one", tmp_path / "four"
    run(case, *words(one))
    run(case, "--out", out, "--steps", 17, "--checkpoint", 17)
    over_nodes(4, 1, program, case, *words(out, "--restart", out, "--quiet"))
    assert alike(out, one)


def test_nodes_of_two_processes_have_the_same_bits_and_replay_a_run_of_one(program, run, tmp_path):
    case = changed(tmp_path, "melt", cases=MD_CASES, **SMALL["melt"])
    one, four, window = tmp_path / "one", tmp_path / "four", tmp_path / "window"
    run(case, *words(one, "--keep", 0))
    over_nodes(4, 2, program, case, *words(four, "--quiet"))
    assert alike(four, one)
    asked = ("--replay", one, "--window", f"13:{STEPS - 3}", "--every", 6, "--out", window, "--quiet")
    over_nodes(4, 2, program, case, *asked, says="bit for bit alike with the run")
    said = json.loads((window / "replay.json").read_text())
    assert said["processes"] == 4
    assert said["alike"] == {"series_rows": 5, "field_files": 0, "checkpoints": 2}
