"""A graph solver's patches on four memories: the values of each lie in the domain of the process that has it,
also after the patch has gone to another process.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest
from building import find_built
from machine import Machine

pytestmark = pytest.mark.skipif(
    find_built("tests/numa/patch_places") is None, reason="patch_places is not built: ./strata test builds it"
)


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ("--layout 4x2 --memory local", [0, 1, 2, 3]),
        pytest.param("--layout 4x1 --stride 2", [0, 1, 2, 3], marks=pytest.mark.soak),
        pytest.param("--layout 2x2 --stride 1 --bind numa", [0, 1], marks=pytest.mark.soak),
        pytest.param("--layout 3x1 --stride 3 --memory first-touch", [0, 1, 3], marks=pytest.mark.soak),
        pytest.param("--layout 4x1 --bind 7,5,3,1 --memory local", [3, 2, 1, 0], marks=pytest.mark.soak),
    ],
)
def test_the_values_of_each_patch_lie_in_the_domain_of_its_process(
    vm: Machine, tidy: None, options: str, own: list[int]
) -> None:
    """`own`: the domain of each process, by the rule of the layout."""
    done = vm.run(f"strata launch {options} --check -- patch_places 64 16")
    assert done.status == 0, done.err
    patches = [json.loads(line) for line in done.out.splitlines()]
    for when in ("start", "handed on"):
        of = {one["patch"]: one for one in patches if one["when"] == when}
        assert len(of) == 4**3
        assert set(Counter(one["process"] for one in of.values())) == set(range(len(own)))
        for one in of.values():
            assert set(one["pages"]) == {str(own[one["process"]])}, one
    before, after = (
        {p["patch"]: p["process"] for p in patches if p["when"] == w} for w in ("start", "handed on")
    )
    assert after == {patch: (process + 1) % len(own) for patch, process in before.items()}
