"""The page on restarts lists the keys that a restart may change, as the solvers declare them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from declared import SOLVERS, of_solver
from tested_build import strata

PAGE = Path(__file__).resolve().parents[2] / "docs" / "restart.md"


@cache
def listed() -> dict[str, set[str]]:
    """Solver -> keys of its row, and those of all."""
    table = PAGE.read_text(encoding="utf-8").partition("| solver | ends of a run |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    keys = {}
    for name, *cells in rows:
        words = " ".join(re.sub(r", unless.*", "", cell) for cell in cells)
        keys[name.strip("`")] = set(re.findall(r"`([\w.]+)`", words))
    return keys


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_page_has_the_keys_that_a_solver_declares(solver: str) -> None:
    declared = of_solver(strata(), solver)
    may_change = {".".join(key) for key, said in declared.items() if "; a restart may change it" in said}
    assert listed()[solver] | listed()["all"] == may_change
    assert not listed()[solver] & listed()["all"]


def test_the_page_has_the_condition_of_the_end_of_a_flow_that_turns() -> None:
    said = of_solver(strata(), "transport")["time", "end"]
    assert said.endswith("; a restart may change it, unless advection.flow is rotation or vortex")
    assert '`time.end`, unless `advection.flow` is "rotation" or "vortex" |' in PAGE.read_text(
        encoding="utf-8"
    )


def test_the_page_names_no_solver_that_is_not_there() -> None:
    assert set(listed()) == {"all", *SOLVERS}
