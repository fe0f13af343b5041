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
    "copper": {"cells": "[5, 5, 5]", "temperature": "1200.0\npatches = [2, 2, 2]", "thermo": "5"},
    "droplet": {
        "cells": "[10, 10, 10]",
        "sphere": "6.0",
        "box": "[24.0, 24.0, 24.0]",
        "patches": "[4, 4, 4]",
        "thermo": "5",
    },
}


@pytest.mark.parametrize("name", SMALL)
def test_nodes_have_the_bits_of_one_process_after_a_restart_and_in_a_replay(front, run, tmp_path, name):
    program = solver_program(front, "strata-md")
    if program is None:
        pytest.skip("the solver is not built")
    changes = dict(SMALL[name])
    if name == "copper":
        changes["file"] = f'"{MD_CASES / "copper.eam.alloy"}"'
    case = changed(tmp_path, name, cases=MD_CASES, **changes)
    one = tmp_path / "one"
    run(case, "--out", one, "--steps", STEPS, "--checkpoint", 10, "--keep", 0)

    def alike(out: Path) -> bool:
        last = f"checkpoint-{STEPS:06}"
        assert checksums(out / last) == checksums(one / last)
        return (out / "series.csv").read_text() == (one / "series.csv").read_text()

    words = ("--steps", STEPS, "--checkpoint", 10, "--quiet")
    for ranks, per_node in ((4, 1), (4, 2)):
        out = tmp_path / f"{ranks} {per_node}"
        over_nodes(ranks, per_node, program, case, "--out", out, *words)
        assert alike(out)
    out = tmp_path / "again"
    run(case, "--out", out, "--steps", 20, "--checkpoint", 20)
    over_nodes(4, 1, program, case, "--out", out, "--restart", out, *words)
    assert alike(out)

    window = tmp_path / "window"
    asked = ("--replay", one, "--window", f"13:{STEPS - 3}", "--every", "6", "--out", window, "--quiet")
    over_nodes(4, 1, program, case, *asked, says="bit for bit alike with the run")
    said = json.loads((window / "replay.json").read_text())
    assert said["processes"] == 4
    assert said["alike"] == {"series_rows": 5, "field_files": 0, "checkpoints": 2}
