"""Compressible flow: the same bits on every layout and after a restart on another one; patches and zones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from solver_cases import FLOW_CASES, changed, checksums, solver_program

# Coarser and shorter than our cases: (keys, steps, further tables).
SHORT = {
    "vortex": ({"cells": "[24, 24]", "patch": "[6, 6]", "end": "0.5"}, None, ""),
    "cylinder": ({"cells": "[32, 24]", "patch": "[16, 8]"}, 12, ""),
    "overset-cylinder": ({"iterations": "40"}, None, ""),
    "turning-cylinder": ({"subiterations": "3"}, 6, ""),
    "turning-cylinder, sa": (
        {"subiterations": "2", "cells": "[48, 48]", "equations": '"rans"'},
        3,
        'probes = [-1.5, 1.6, 3.0, 0.0]\naverage = 0.0\nslices = ["y = 0.1"]\nplot3d = 2\n',
    ),
    "caradonna-tung": ({"iterations": "3", "sequence": "[4]", "vortices": "3"}, None, ""),
    "plate": ({"patch": "[10, 8]"}, 12, ""),
    "plate, sst": ({"patch": "[10, 8]", "model": '"sst"'}, 12, ""),
    "naca0012": (
        {
            "file": '"../../tests/solvers/flow/n0012_113-33.p2dfmt.xz"',
            "map": '"../../tests/solvers/flow/n0012_113-33.nmf"',
            "patch": "[16, 16]",
            "iterations": "8",
            "sequence": "[4, 4]",
        },
        None,
        "",
    ),
}


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-flow") is None:
        pytest.skip("the solver is not built")


def short(tmp_path: Path, name: str) -> tuple[Path, int | None]:
    changes, steps, add = SHORT[name]
    case = changed(tmp_path, name.partition(",")[0], add, cases=FLOW_CASES, **changes)
    # Files of grids lie beside our cases.
    case.write_text(case.read_text().replace('"../../', f'"{FLOW_CASES.parents[1]}/'))
    return case, steps


def ended(out: Path) -> tuple[dict, int]:
    """What a run kept at its end, and the step."""
    last = max(out.glob("checkpoint-*"))
    return checksums(last), int(last.name.rpartition("-")[2])


@pytest.mark.parametrize("name", SHORT)
def test_every_layout_has_the_same_bits_and_so_has_a_restart_on_another(run, tmp_path, name):
    case, steps = short(tmp_path, name)
    until = ("--steps", steps) if steps else ()
    known = series = None
    for layout in ("1x1", "4x1"):
        out = tmp_path / layout
        done = run(case, "--out", out, "--checkpoint", 1_000_000, *until, layout=layout, check=False)
        if "without liblzma" in done.stderr:
            pytest.skip("built without liblzma")
        result = json.loads((out / "result.json").read_text())
        assert f"{result['processes']}x{result['threads']}" == layout
        known = known or ended(out)
        series = series or (out / "series.csv").read_text()
        assert ended(out) == known, layout
        assert (out / "series.csv").read_text() == series, layout
    # The other two layouts have half of the steps each.
    last = known[1]
    out = tmp_path / "again"
    run(case, "--out", out, "--checkpoint", 1_000_000, "--steps", last // 2, layout="2x1", check=False)
    assert ended(out)[1] == last // 2
    run(case, "--out", out, "--restart", out, "--checkpoint", 1_000_000, *until, layout="1x2", check=False)
    assert ended(out) == known, "after a restart"
    # With a line more, that of its halfway end.
    assert set(series.splitlines()) <= set((out / "series.csv").read_text().splitlines()), "after a restart"
