"""Runs with particles: the same bits on every layout, and after a restart on another one."""

from __future__ import annotations

import json
from pathlib import Path

from solver_cases import checksums


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
