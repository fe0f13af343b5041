"""What the doctor says of a system, from its facts."""

from __future__ import annotations

import pytest

from strata.doctor import Row, _shared_huge_pages, outcome, table


@pytest.mark.parametrize("word", ["always", "within_size", "advise", "force"])
def test_shared_memory_that_gets_huge_pages_is_found(word: str) -> None:
    assert word in _shared_huge_pages({"shmem": word}).found


@pytest.mark.parametrize("word", ["never", "deny", None])
def test_shared_memory_without_huge_pages_is_named_with_its_cost_and_the_remedy(word: str | None) -> None:
    row = _shared_huge_pages({"shmem": word})
    assert row.found == ""
    assert "arenas" in row.costs and "small pages" in row.costs
    assert (word or "offers no others") in row.costs
    assert "shmem_enabled" in row.get[0]


def row(piece: str, found: str, required: bool) -> Row:
    return Row(piece, "software", required, found, "" if found else "something", ())


def test_the_last_line_says_whether_strata_can_work_here() -> None:
    rows = [row("compiler", "c++ 12", True), row("mpi", "", False), row("fftw", "", False)]
    assert table(rows).splitlines()[-1] == outcome(rows)
    assert outcome(rows) == (
        "all that Strata needs is here; 2 of 3 things are absent, each with its cost above"
    )
    assert outcome(rows[:1]) == "all that Strata needs is here; nothing is absent"
    rows[0] = row("compiler", "", True)
    assert outcome(rows) == "Strata cannot work here yet: compiler missing"
