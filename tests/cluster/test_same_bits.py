"""Every solver that `strata run` knows gives the same bits on one, two and four nodes: the values of its
checkpoints, byte by byte, and its series.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from checkpoints import changed
from cluster_box import ROOT, Cluster
from tested_build import built, solver_program, strata

from strata import solvers

CASES = ROOT / "cases"
STEPS = 20
Values = Mapping[object, bytes]

# A case of each solver that takes a moment: of Strata's programs by their names, of those in Python by files.
SMALL: dict[str, list[tuple[str, dict[str, str]]]] = {
    "transport": [
        ("transport/heat", {"cells": "[32, 32, 32]", "patch": "[16, 16, 8]"}),
        ("transport/advection", {"cells": "[64, 64]", "patch": "[16, 16]"}),
    ],
    "mpm": [("mpm/incline", {})],
    "md": [
        ("md/melt", {"cells": "[10, 10, 10]", "seed": "87287\npatches = [2, 2, 2]", "thermo": "5"}),
        ("md/copper", {"cells": "[4, 4, 4]", "patches": "[1, 2, 2]"}),
    ],
    "flow": [
        ("flow/vortex", {"cells": "[32, 32]", "patch": "[8, 8]"}),
        ("flow/overset-cylinder", {}),
    ],
    "solvers/transport/heat.py": [("transport/heat", {"cells": "[16, 16, 16]", "patch": "[8, 8, 8]"})],
    "solvers/transport/advection.py": [("transport/vortex", {"cells": "[32, 32]", "patch": "[8, 8]"})],
}
# Programs that make their own, or compute nothing.
TAKE_NO_CASE = {
    program.removeprefix("strata-")
    for solver in solvers.in_folder(ROOT / "solvers").values()
    for program in (*solver.programs, *solver.measuring)
}
TOO_LARGE = {"mpm/bar-large"}  # as mpm/bar, of several GiB
# Nodes and the layout over all of them.
SPREAD = [(1, "1x1"), (2, "2x1"), (4, "4x1")]
SPREAD_WITH_THREADS = [(1, "2x2"), (2, "2x2"), (2, "4x1"), (4, "4x2"), (4, "8x1")]


def known() -> set[str]:
    """The solvers of the build that is tested, and those in Python."""
    programs = Path(strata()).resolve().parents[1] / "solvers"
    native = {
        path.name.removeprefix("strata-")
        for path in programs.glob("strata-*")
        if os.access(path, os.X_OK) and not path.name.endswith("-simulated")
    }
    python = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "solvers").rglob("*.py")
        if "strata.graph.program" in path.read_text()
    }
    return (native - TAKE_NO_CASE) | python


def all_cases() -> list[tuple[str, str]]:
    """Each case that names a solver, with the program that runs it."""
    found = []
    for path in sorted(CASES.rglob("*.toml")):
        if named := re.search(r'(?m)^solver = "(.+)"', path.read_text()):
            found.append((named[1], str(path.relative_to(CASES).with_suffix(""))))
    return [each for each in found if each[1] not in TOO_LARGE]


def values(out: Path, step: int = STEPS) -> Values:
    """What a run left: the bytes of each label's values on each patch, whichever process wrote them, and the
    file of its series."""
    folder = out / f"checkpoint-{step:06}"
    names = [label["name"] for label in json.loads((folder / "checkpoint.json").read_text())["labels"]]
    found: dict[object, bytes] = {}
    for index in folder.glob("part-*.index"):
        data = index.with_suffix(".data").read_bytes()
        for chunk in map(json.loads, index.read_text().splitlines()):
            if "label" in chunk:
                key = names[chunk["label"]], chunk["patch"], chunk["generation"]
                found[key] = data[chunk["offset"] : chunk["offset"] + chunk["bytes"]]
    series = out / "series.csv"
    return found | {"series": series.read_bytes() if series.exists() else b""}


def differing(some: Values, others: Values) -> list[str]:
    """What is not the same in both, the first of it."""
    keys = some.keys() | others.keys()
    return sorted(str(key) for key in keys if some.get(key) != others.get(key))[:8]


class Runs:
    """One case, run over nodes again and again."""

    def __init__(self, cluster: Cluster, program: list[object], case: Path, steps: int = STEPS) -> None:
        self.cluster, self.program, self.case, self.steps = cluster, program, case, steps

    def over(self, nodes: int, layout: str) -> Values:
        out = self.case.parent / f"{self.case.stem}-{nodes}-{layout}"
        words = ["--nodes", nodes, "--layout", layout, "--bind", "none"]
        run = [*self.program[:2], *words, *self.program[2:], self.case, "--out", out, "--quiet"]
        run += ["--steps", self.steps, "--checkpoint", self.steps]
        done = self.cluster.run(*run, timeout=300)
        assert done.returncode == 0, done.stderr
        processes = int(layout.split("x")[0])
        assert processes == 1 or f"{processes} processes" in done.stdout, done.stdout
        return values(out, self.steps)

    def are_the_same(self, spread: list[tuple[int, str]]) -> None:
        expected = self.over(*spread[0])
        assert len(expected) > 8
        for nodes, layout in spread[1:]:
            assert differing(expected, self.over(nodes, layout)) == [], (self.case.stem, nodes, layout)


def starts(solver: str) -> list[object]:
    """The words before the layout's, and those after."""
    return [strata(), "run", *([ROOT / solver] if solver.endswith(".py") else [])]


def with_mpich(solver: str) -> list[object]:
    return [strata(), "launch", "--", built("tests", "team", "mpich", f"strata-{solver}")]


def test_every_solver_has_a_case_here() -> None:
    if solver_program(strata(), "strata-transport") is None:
        pytest.skip("the solvers are not built (toml++)")
    assert known() == set(SMALL), "a solver without a case in SMALL, or a case without a solver"
    assert {solver for solver, _ in all_cases()} <= known()


@pytest.mark.parametrize("solver", SMALL)
def test_a_solver_gives_the_same_bits_on_one_two_and_four_nodes(
    cluster: Cluster, tmp_path: Path, solver: str
) -> None:
    for case, changes in SMALL[solver]:
        path = changed(CASES / f"{case}.toml", tmp_path / f"{Path(case).name}.toml", **changes)
        Runs(cluster, starts(solver), path).are_the_same(SPREAD)


@pytest.mark.parametrize("solver", [name for name in SMALL if not name.endswith(".py")])
def test_a_solver_gives_the_same_bits_with_the_other_mpi(
    cluster: Cluster, tmp_path: Path, solver: str
) -> None:
    case, changes = SMALL[solver][0]
    path = changed(CASES / f"{case}.toml", tmp_path / f"{Path(case).name}.toml", **changes)
    found = Runs(cluster, with_mpich(solver), path).over(4, "4x1")
    assert differing(Runs(cluster, starts(solver), path).over(1, "1x1"), found) == []


@pytest.mark.soak
@pytest.mark.parametrize("mpi", ["its own MPI", "MPICH"])
@pytest.mark.parametrize(("solver", "case"), all_cases())
def test_every_case_gives_the_same_bits_on_every_layout(
    cluster: Cluster, tmp_path: Path, solver: str, case: str, mpi: str
) -> None:
    path = changed(CASES / f"{case}.toml", tmp_path / f"{Path(case).name}.toml")
    program = with_mpich(solver) if mpi == "MPICH" else starts(solver)
    Runs(cluster, program, path).are_the_same([*SPREAD, *SPREAD_WITH_THREADS])
