"""On one node a program that could run on several takes the same instructions a step as one that could not.

The same objects are linked with strata::team_mpi and without it. Callgrind counts all that the threads do in
their steps, and nothing before and after.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest
from solver_cases import CASES, MD_CASES, MPM_CASES, changed
from tested_build import built

# Two processes wait for each other, and below Callgrind that takes most of the time.
STEPS = {"1x1": 20, "2x1": 5, "1x2": 20}
MOST_APART = 0.005
# Between operations (a hundredth of a step) a run looks for requests, and batches end, as time goes by.
MOST_APART_BETWEEN = 0.1
# Where valgrind does not know the processor's instructions these solvers are built once more for it. That is
# left to the campaigns.
HAS_TWINS = platform.machine() != "x86_64" or "avx512f" in Path("/proc/cpuinfo").read_text()
TWINS_FOR_CAMPAIGNS = ("mpm", "md") if HAS_TWINS else ()
SOLVERS = {
    "transport": (CASES, "heat", {"cells": "[32, 32, 32]", "patch": "[16, 16, 8]"}),
    "mpm": (MPM_CASES, "axial", {}),
    "md": (MD_CASES, "melt", {"cells": "[6, 6, 6]", "seed": "87287\npatches = [2, 2, 2]"}),
}


def a_step(linked: str, name: str, layout: str, folder: Path) -> dict[str, float]:
    """Instructions of all threads: those of operations, and those between them, waiting included."""
    cases, case, changes = SOLVERS[name]
    program, out = built("tests", "solvers", linked, f"strata-{name}"), folder / linked
    steps = STEPS[layout]
    words = [program, changed(folder, case, cases=cases, **changes), "--steps", steps, "--quiet"]
    done = subprocess.run(
        [*map(str, words), "--counters", "simulated", "--out", str(out)],
        env=os.environ | {"STRATA_LAYOUT": layout, "STRATA_BIND": "none"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "valgrind was not found when it was made" in done.stderr or "needs valgrind" in done.stderr:
        pytest.skip(done.stderr.splitlines()[0])
    assert done.returncode == 0, done.stderr
    counters = json.loads((out / "result.json").read_text())["counters"]
    return {
        "operations": sum(row["events"]["instructions"] for row in counters["rows"]) / steps,
        "between them": counters["runtime"]["instructions"] / steps,
    }


@pytest.mark.parametrize("layout", ["1x1", "2x1", pytest.param("1x2", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.soak] * (name in TWINS_FOR_CAMPAIGNS)) for name in SOLVERS],
)
def test_a_step_on_one_node_is_the_same_with_and_without_several(
    tmp_path: Path, name: str, layout: str
) -> None:
    found, expected = (a_step(linked, name, layout, tmp_path) for linked in ("nodes", "one-node"))
    print(f"{name} {layout}: {found} with the library, {expected} without, instructions a step")
    assert expected["operations"] > 1e5 and expected["between them"] > 1e3
    assert found["operations"] == pytest.approx(expected["operations"], rel=MOST_APART)
    if layout == "1x1":  # else one waits for another, how long differs from run to run
        assert sum(found.values()) == pytest.approx(sum(expected.values()), rel=MOST_APART)
        assert found["between them"] == pytest.approx(expected["between them"], rel=MOST_APART_BETWEEN)
