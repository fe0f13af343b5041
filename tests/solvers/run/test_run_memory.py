"""What a run says of its memory, for each process: values, what lies around them, and the runtime's share."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from solver_cases import MD_CASES, MPM_CASES, changed, solver_program


def memory(run, case: Path, out: Path, layout: str) -> tuple[list[dict[str, int]], str]:
    done = run(case, "--out", out, "--steps", 3, layout=layout)
    found = json.loads((out / "result.json").read_text())["memory_bytes"]
    if found[0]["runtime"] is None:
        pytest.skip("this C library does not tell what it has given out")
    return found, done.stdout


# Patches stay where they are: they move by measured costs, beside other work too, and plans grow with that.
BALANCED = "\n[run]\nbalance = false\n"


def share(of: dict[str, int]) -> float:
    return of["runtime"] / sum(of.values())


@pytest.mark.parametrize("layout", ["1x1", "2x1"])
def test_of_particles_on_patches_of_16_cells_the_runtime_takes_below_one_percent(run, tmp_path, layout):
    """10^5 particles a process and more: 26^3 cells with 8 each, for each of them."""
    processes = int(layout[0])
    case = changed(
        tmp_path,
        "bar",
        BALANCED,
        cases=MPM_CASES,
        cells=f"[{32 * processes}, 32, 32]",
        patch="[16, 16, 16]",
        size=f"[{1.0 * processes}, 1.0, 1.0]",
        to=f"[{processes - 0.1}, 0.9, 0.9]",
        **{"from": "[0.1, 0.1, 0.1]"},
    )
    found, said = memory(run, case, tmp_path / "out", layout)
    assert len(found) == processes
    for of in found:
        assert of["values"] > 10**5 * 8 * 40  # numbers of a particle, with room to grow
        assert share(of) < 0.01
    assert re.search(
        r"memory of (a|the) process at most: [\d.]+ MB of values, .* MB of Strata's runtime", said
    )


def test_the_runtime_takes_bytes_by_patches_and_not_by_cells(run, tmp_path):
    """Twice as large a cube in patches twice as large."""
    bytes_of = {}
    for n, patch in ((48, 16), (96, 32)):
        case = changed(
            tmp_path, "heat", cells=f"[{n}, {n}, {n}]", patch=f"[{patch}, {patch}, {patch}]", error="1.0"
        )
        (bytes_of[patch],), _ = memory(run, case, tmp_path / str(patch), "1x1")
    assert bytes_of[32]["runtime"] < 1.1 * bytes_of[16]["runtime"]
    assert share(bytes_of[32]) < 0.002


@pytest.mark.parametrize("layout", ["1x1", "1x2", "2x1", "2x2", "4x1"])
@pytest.mark.parametrize("name", ["heat", "advection"])
def test_of_cells_on_patches_of_16_cells_the_runtime_takes_below_one_percent(run, tmp_path, name, layout):
    """Of 48^3 cells a process. Heat has two numbers a cell and advection six."""
    processes = int(layout[0])
    keys = {
        "cells": f"[{48 * processes}, 48, 48]",
        "patch": "[16, 16, 16]",
        "size": f"[{1.0 * processes}, 1.0, 1.0]",
        "error": "1.0",
    }
    if name == "advection":
        keys |= {"velocity": "[1.0, 1.0, 1.0]", "centre": "[0.5, 0.5, 0.5]"}
    found, _ = memory(run, changed(tmp_path, name, BALANCED, **keys), tmp_path / "out", layout)
    assert len(found) == processes
    for of in found:
        assert of["values"] > 48**3 * 8 * (2 if name == "heat" else 6)
        assert share(of) < 0.01


# A process of its own, as a program counts as resident what the one that started it had.
RESIDENT = """
import os, subprocess, sys
started = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(started.pid, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_an_atom_takes_less_than_in_lammps(front: str, tmp_path: Path, precision: str) -> None:
    """One more atom of in.lj, by what is resident at most. LAMMPS of 4 February 2025 takes 332 bytes with its
    leanest package (OPT, double; benchmarks/peers/md_memory.py)."""
    program = solver_program(front, "strata-md")
    if program is None:
        pytest.skip("the solver of molecular dynamics is not built")
    resident = {}
    for side in (20, 36):
        cells = f"[{side}, {side}, {side}]"
        case = changed(
            tmp_path, "melt", cases=MD_CASES, cells=cells, cutoff=f'2.5\nprecision = "{precision}"'
        )
        words = [program, case, "--out", tmp_path / str(side), "--steps", 45, "--quiet"]
        done = subprocess.run(
            [sys.executable, "-c", RESIDENT, *map(str, words)],
            env=os.environ | {"STRATA_LAYOUT": "1x1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        resident[4 * side**3] = 1024 * int(done.stdout)
    (few, small), (many, large) = resident.items()
    each = (large - small) / (many - few)
    print(f"{each:.0f} bytes an atom, {precision}")
    assert 100 < each < 332
