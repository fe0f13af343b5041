"""The material point method: the same bits on every layout, and after a restart on another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from solver_cases import MPM_CASES, changed, checksums, solver_program

# Coarser than our cases are, and as short as what they are about allows: the disks meet, the block slides
# into other patches, the metal flows plastically, the waves from both ends of the pulled bar meet.
SHORT = {
    "bar": ({"cells": "[24, 10, 10]", "patch": "[6, 5, 5]", "energy": "0.02"}, None),
    "cylinder": ({"cells": "[22, 22, 1]", "patch": "[5, 9, 1]"}, 80),
    "disks": ({"patch": "[8, 8, 1]"}, 260),
    "impact": ({}, 160),
    "incline": ({"cells": "[40, 12, 1]", "patch": "[10, 6, 1]"}, 240),
    "manufactured-bar": ({}, 60),
    "manufactured-vortex": ({"cells": "[32, 32, 1]", "patch": "[8, 16, 1]"}, 60),
    "sphere": ({"cells": "[20, 24, 20]", "patch": "[5, 6, 10]"}, 24),
}


@pytest.fixture(autouse=True)
def _built(front: str) -> None:
    if solver_program(front, "strata-mpm") is None:
        pytest.skip("the solver is not built")


def ended(out: Path) -> tuple[dict, int]:
    """What a run kept at its end, and the step."""
    last = max(out.glob("checkpoint-*"))
    return checksums(last), int(last.name.rpartition("-")[2])


def same_everywhere(run, case: Path, tmp_path: Path, steps: int | None) -> None:
    """On 1x1 and 4x1, and on 2x1 until halfway and from there on 1x2: the same checkpoint and series."""
    until = ("--steps", steps) if steps else ()
    known = series = None
    for layout in ("1x1", "4x1"):
        out = tmp_path / layout
        # Its last step always is one; the number only asks for them.
        run(case, "--out", out, "--checkpoint", 1_000_000, *until, layout=layout, timeout=600)
        result = json.loads((out / "result.json").read_text())
        assert f"{result['processes']}x{result['threads']}" == layout
        known = known or ended(out)
        series = series or (out / "series.csv").read_text()
        assert ended(out) == known, layout
        assert (out / "series.csv").read_text() == series, layout
    last = known[1]
    assert steps in (None, last)
    patches = {patch for label, patch, _ in known[0] if label == "position"}
    assert len(patches) >= 4

    out = tmp_path / "again"
    run(case, "--out", out, "--checkpoint", 1_000_000, "--steps", last // 2, layout="2x1", timeout=600)
    assert ended(out)[1] == last // 2
    again = ("--restart", out, "--checkpoint", 1_000_000, *until)
    run(case, "--out", out, *again, layout="1x2", timeout=600)
    assert ended(out) == known, "after a restart"
    # With a line more, that of its halfway end.
    assert set(series.splitlines()) <= set((out / "series.csv").read_text().splitlines()), "after a restart"


@pytest.mark.parametrize("name", SHORT)
def test_every_layout_has_the_same_bits_and_so_has_a_restart_on_another(run, tmp_path, name):
    changes, steps = SHORT[name]
    same_everywhere(run, changed(tmp_path, name, cases=MPM_CASES, **changes), tmp_path, steps)


@pytest.mark.soak
@pytest.mark.parametrize("name", [*SHORT, "axial", "manufactured-cube"])
def test_cases_at_full_length_have_the_same_bits_on_every_layout(run, tmp_path, name):
    same_everywhere(run, MPM_CASES / f"{name}.toml", tmp_path, None)
