"""What a run says of its memory, for each process: values, what lies around them, and the runtime's share."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from solver_cases import MPM_CASES, changed


def memory(run, case: Path, out: Path, layout: str) -> tuple[list[dict[str, int]], str]:
    done = run(case, "--out", out, "--steps", 3, layout=layout)
    found = json.loads((out / "result.json").read_text())["memory_bytes"]
    if found[0]["runtime"] is None:
        pytest.skip("this C library does not tell what it has given out")
    return found, done.stdout


def share(of: dict[str, int]) -> float:
    return of["runtime"] / sum(of.values())


@pytest.mark.parametrize("layout", ["1x1", "2x1"])
def test_of_particles_on_patches_of_16_cells_the_runtime_takes_below_one_percent(run, tmp_path, layout):
    """10^5 particles a process and more: 26^3 cells with 8 each, for each of them."""
    processes = int(layout[0])
    case = changed(
        tmp_path,
        "bar",
        cases=MPM_CASES,
        cells=f"[{32 * processes}, 32, 32]",
        patch="[16, 16, 16]",
        size=f"[{1.0 * processes}, 1.0, 1.0]",
        shapes=f'["box 0.1 0.1 0.1 {processes - 0.1} 0.9 0.9"]',
    )
    found, said = memory(run, case, tmp_path / "out", layout)
    assert len(found) == processes
    for of in found:
        assert of["values"] > 10**5 * 8 * 40  # numbers of a particle, in two sets of arrays
        assert share(of) < 0.01
    assert re.search(r"memory of (a|the) process at most: [\d.]+ MB of values, .* MB of the runtime", said)


def test_the_runtime_takes_bytes_by_patches_and_not_by_cells(run, tmp_path):
    """Heat has two numbers a cell. 1 kB a patch, with all that does not depend on patches, are 1.05 % where
    these have 16^3 cells.
    """
    bytes_of = {}
    for n, patch in ((48, 16), (96, 32)):
        case = changed(
            tmp_path, "heat", cells=f"[{n}, {n}, {n}]", patch=f"[{patch}, {patch}, {patch}]", error="1.0"
        )
        (bytes_of[patch],), _ = memory(run, case, tmp_path / str(patch), "1x1")
    assert bytes_of[32]["runtime"] < 1.1 * bytes_of[16]["runtime"]
    assert bytes_of[16]["runtime"] < 27 * 1024
    assert share(bytes_of[16]) < 0.0115
    assert share(bytes_of[32]) < 0.002


def test_of_advection_on_patches_of_16_cells_the_runtime_takes_below_one_percent(run, tmp_path):
    """Six numbers a cell, in two stages."""
    case = changed(
        tmp_path,
        "advection",
        cells="[48, 48, 48]",
        patch="[16, 16, 16]",
        size="[1.0, 1.0, 1.0]",
        velocity="[1.0, 1.0, 1.0]",
        centre="[0.5, 0.5, 0.5]",
        error="1.0",
    )
    (found,), _ = memory(run, case, tmp_path / "out", "1x1")
    assert share(found) < 0.01
