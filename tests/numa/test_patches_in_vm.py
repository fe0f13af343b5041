"""A graph solver's patches on four memories: the values of each lie in the domain of the process that has it.
They do so after the patch has gone to another process, too, and after a restart. Where a process has several
domains, they lie in that of the thread which the patch's tasks prefer.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

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
    patches = places(vm, options, "64 16 16")
    for when, of in itertools.product(("start", "handed on", "restored"), ("u", "x")):
        there = {one["patch"]: one for one in patches if one["when"] == when and one["of"] == of}
        assert len(there) == 4**3
        assert set(Counter(one["process"] for one in there.values())) == set(range(len(own)))
        for one in there.values():
            assert set(one["pages"]) == {str(own[one["process"]])}, one
    before, after = (
        {p["patch"]: p["process"] for p in patches if p["when"] == w} for w in ("start", "handed on")
    )
    assert after == {patch: (process + 1) % len(own) for patch, process in before.items()}


@pytest.mark.parametrize(
    ("options", "domains"),
    [
        ("--layout 2x4", [{0, 1}, {2, 3}]),
        pytest.param("--layout 1x8", [{0, 1, 2, 3}], marks=pytest.mark.soak),
    ],
)
def test_the_values_of_each_patch_lie_beside_its_thread_after_a_move_and_a_restart(
    vm: Machine, tidy: None, options: str, domains: list[set[int]]
) -> None:
    """`domains`: of each process. (At the start a thread may take over the task that makes the values.)"""
    patches = [one for one in places(vm, f"{options} --bind core", "64 64 8") if one["when"] != "start"]
    assert len(patches) == 2 * 2 * 8
    for process, of in enumerate(domains):
        assert {one["domain"] for one in patches if one["process"] == process} == of
    for one in patches:
        there = one["pages"].get(str(one["domain"]), 0)
        # Neighbours in one process share the page in which the values of one end and the other's begin.
        assert there >= 0.9 * sum(one["pages"].values()), one


def places(vm: Machine, options: str, sizes: str) -> list[dict[str, Any]]:
    """What patch_places says."""
    done = vm.run(
        f"rm -rf /tmp/places && strata launch {options} --check -- patch_places {sizes} /tmp/places;"
        " s=$?; rm -rf /tmp/places; exit $s"
    )
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]
