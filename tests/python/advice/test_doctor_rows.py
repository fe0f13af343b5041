"""What the doctor says of a system, from its facts."""

from __future__ import annotations

import pytest

from strata.doctor import _shared_huge_pages


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
