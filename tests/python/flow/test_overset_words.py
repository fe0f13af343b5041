"""Claims about what `strata overset` and `strata centre integrity` tell their native programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from strata import cli
from strata.centre.integrity import command as integrity
from strata.flow import overset


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines; none of them is started."""
    lines: list[list[str]] = []

    def run(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        lines.append(words)
        return subprocess.CompletedProcess(words, 3)

    monkeypatch.setattr(overset, "_programs", lambda: (Path("front"), Path("program")))
    monkeypatch.setattr(overset.subprocess, "run", run)
    return lines


@pytest.mark.parametrize(
    ("words", "map_file"),
    [
        (["far/wing.v2.p3d"], "far/wing.v2.nmf"),
        (["wing.p3d.xz"], "wing.nmf"),
        (["wing"], "wing.nmf"),
        (["."], ".nmf"),  # the program says that it is no grid
        (["wing.p3d", "--out", "a.nmf"], "a.nmf"),
    ],
)
def test_the_map_lies_beside_its_grid(started: list[list[str]], words: list[str], map_file: str) -> None:
    assert cli.main(["overset", "map", *words]) == 3
    assert started == [["program", "--map", map_file, words[0]]]


def test_options_are_passed_on_as_they_were_typed(started: list[list[str]], tmp_path: Path) -> None:
    typed = ["--dimensions", "2", "--shift=-2,0,0", "--turn-axis", "y"]
    assert cli.main(["overset", "map", "a.p3d", *typed]) == 3
    assert started.pop()[3:] == ["--dimensions", "2", "--shift", "-2,0,0", "--turn-axis", "y", "a.p3d"]
    words = ["a=a.p3d", "b=b.p3d", "--walls", "a-1:j-min", "--orphans", "0", "--out", str(tmp_path)]
    assert cli.main(["overset", "check", *words]) == 3
    assert started.pop()[5:] == ["program", *words[:6], "--out", str(tmp_path / "cells")]


def test_a_pass_has_the_options_that_have_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[integrity.Request] = []
    monkeypatch.setattr(integrity, "run", lambda request, typed: asked.append(request) or 0)
    assert cli.main(["centre", "integrity", "--rounds", "3", "--seed", "0", "--no-yield"]) == 0
    assert asked[0].words == ("--rounds", "3", "--seed", "0", "--no-yield")
