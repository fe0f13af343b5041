"""Parts of the native build, as the Python side asks for them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from strata import paths
from strata.errors import StrataError
from strata.study import planner
from strata.study.case import read
from strata.study.command import find

STUDIES = ("npb", "npb-mz-networks", "patch-size", "team", "pinning")


@pytest.fixture
def front(tmp_path: Path) -> Path:
    """Of a tree with the first part and mpm alone."""
    parts = tmp_path / "share" / "strata" / "parts"
    parts.parent.mkdir(parents=True)
    parts.write_text("first\nmpm\n")
    return tmp_path / "bin" / "strata"


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What this process became, if anything."""
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execvp", lambda _, words: commands.append(words))
    monkeypatch.setattr(sys, "argv", [str(Path(paths.__file__).with_name("__main__.py")), "study", "a b"])
    return commands


@pytest.mark.parametrize("program", ["strata-npb-team", "strata_graph_python", "data"])
def test_a_part_that_the_tree_lacks_is_built_and_the_command_starts_anew(
    front: Path, became: list[list[str]], program: str
) -> None:
    paths.need_programs(front, ["strata-bench", program])
    part = {"strata-npb-team": "npb", "strata_graph_python": "python", "data": "data"}[program]
    root = paths.root()
    assert became == [["bash", f"{root}/setup/part.sh", part, "study", "a b"]]


def test_what_the_tree_has_is_not_built(front: Path, became: list[list[str]], tmp_path: Path) -> None:
    paths.need_programs(front, ["strata-bench", "strata-mpm", "strata-somebody-elses"])
    (tmp_path / "share" / "strata" / "parts").unlink()  # a package, or a folder of CMake's
    paths.need_programs(front, ["strata-npb"])
    assert became == []


def test_in_a_notebook_nothing_is_started_anew(
    front: Path, became: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/ipykernel.py"])
    with pytest.raises(StrataError, match="strata setup --all"):
        paths.need_programs(front, ["strata-npb"])
    assert became == []


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_asks_for_the_programs_that_its_commands_name(name: str) -> None:
    wanted = {
        "npb": {"strata-npb", "strata-npb-mpi"},
        "npb-mz-networks": {"strata-npb-team", "strata-npb-mpi"},
        "patch-size": {"strata-mpm-patches", "strata-bench"},
        "team": {"strata-bench-graph"},
        "pinning": {"strata-bench-mpi"},
    }
    assert planner.programs_of(read(find(name))) == wanted[name]
