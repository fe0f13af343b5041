"""Teams on four memories: members are where the layout says, the arena's pages where each policy says."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from building import find_built
from machine import CPUS, CPUS_PER_DOMAIN, DOMAINS, Machine

MIB = 8
PAGES = MIB * 256
OWN = [(str(memory), PAGES // DOMAINS) for memory in range(DOMAINS)]
ONE_A_DOMAIN = f"STRATA_LAYOUT={DOMAINS}x1 STRATA_STRIDE={CPUS_PER_DOMAIN}"

pytestmark = pytest.mark.skipif(
    find_built("tests/numa/team_places") is None, reason="team_places is not built: ./strata test builds it"
)


def runs(pages: str) -> list[tuple[str, int]]:
    """Memories with how many pages in a row: what a failure can print."""
    return [(memory, len(list(group))) for memory, group in itertools.groupby(pages)]


def places(vm: Machine, words: str, layout: str = ONE_A_DOMAIN) -> dict[str, Any]:
    done = vm.run(f"{layout} team_places {words}")
    assert (done.status, done.err) == (0, ""), done.err
    found = dict(json.loads(done.out))
    return found | {"pages": runs(found["pages"])}


def refused(vm: Machine, words: str, layout: str = "STRATA_LAYOUT=1x1") -> str:
    done = vm.run(f"{layout} team_places {words}")
    assert (done.status, done.out[:200]) == (1, ""), done.err
    return done.err


@pytest.mark.parametrize(
    ("layout", "cores"),
    [
        ("", [[cpu] for cpu in range(CPUS)]),
        ("STRATA_LAYOUT=4x2", [[2 * d, 2 * d + 1] for d in range(DOMAINS)]),
        (ONE_A_DOMAIN, [[2 * d] for d in range(DOMAINS)]),
        ("STRATA_LAYOUT=2x1 STRATA_BIND=numa", [[0, 1], [0, 1]]),
    ],
)
def test_members_are_bound_as_the_layout_says(vm: Machine, layout: str, cores: list[list[int]]) -> None:
    members = places(vm, "first 1 owners", layout)["members"]
    assert [member["rank"] for member in members] == list(range(len(cores)))
    for member, own in zip(members, cores, strict=True):
        assert member["allowed"] == (str(own[0]) if len(own) == 1 else f"{own[0]}-{own[-1]}")
        assert member["cpu"] in own


def test_first_touch_pages_lie_with_the_member_that_touched_them(vm: Machine) -> None:
    assert places(vm, f"first {MIB} owners")["pages"] == OWN
    for member in (0, 3):
        assert places(vm, f"first {MIB} {member}")["pages"] == [(str(member), PAGES)]


@pytest.mark.parametrize("touch", ["owners", "1"])
def test_whoever_touches_them_pages_lie_where_the_policy_says(vm: Machine, touch: str) -> None:
    assert places(vm, f"bound:2 {MIB} {touch}")["pages"] == [("2", PAGES)]
    assert places(vm, f"blocked {MIB} {touch}")["pages"] == OWN
    assert places(vm, f"blocked:3,2,1,0 {MIB} {touch}")["pages"] == OWN[::-1]
    for policy, memories in (("interleave", "0123"), ("interleave:1,3", "13")):
        pages = places(vm, f"{policy} {MIB} {touch}")["pages"]
        start = memories.index(pages[0][0])
        turn = memories[start:] + memories[:start]
        assert pages == [(memory, 1) for memory in turn] * (PAGES // len(memories))


def test_blocks_end_on_the_page_that_is_nearest(vm: Machine) -> None:
    pages = places(vm, "blocked:0,1,2 1 2")["pages"]
    assert pages == [("0", 85), ("1", 86), ("2", 85)]


def test_an_array_that_its_memory_cannot_hold_is_refused(vm: Machine) -> None:
    said = refused(vm, "bound:1 380 none")
    assert "memory does not suffice" in said and "array field" in said
    assert "380 MiB more" in said and "left in memory P#1" in said
    assert places(vm, "interleave 380 none")["pages"] == [("-", 380 * 256)]
    said = refused(vm, "blocked:2,2,3 570 none")
    assert "380 MiB more" in said and "left in memory P#2" in said


@pytest.mark.parametrize("touch", ["none", pytest.param("0", marks=pytest.mark.soak)])
def test_what_a_memory_has_promised_is_not_promised_again(vm: Machine, touch: str) -> None:
    said = refused(vm, f"bound:1 200 {touch} again:bound:1")
    assert "array field 3" in said and "left in memory P#1" in said
    assert ("promised" in said) == (touch == "none")
    done = vm.run(f"STRATA_LAYOUT=1x1 team_places bound:1 200 {touch} again:bound:2")
    assert (done.status, done.err) == (0, "")


def test_an_array_beyond_the_limit_of_the_cgroup_is_refused(any_vm: Machine, tidy: None) -> None:
    group = "/sys/fs/cgroup/$([ -d /sys/fs/cgroup/memory ] && echo memory/)small"
    limit = "$([ -d /sys/fs/cgroup/memory ] && echo memory.limit_in_bytes || echo memory.max)"
    done = any_vm.run(
        f"""
mkdir {group} && echo $((100 << 20)) >{group}/{limit}
sh -c 'echo $$ >{group}/cgroup.procs; STRATA_LAYOUT=2x1 exec team_places first 150 none' >&2
echo "status $?"
sh -c 'echo $$ >{group}/cgroup.procs; STRATA_LAYOUT=2x1 exec team_places first 60 owners'
rmdir {group}
"""
    )
    status, within = done.out.splitlines()
    assert status == "status 1"
    assert "150 MiB more" in done.err and "left in the cgroup /small" in done.err
    assert json.loads(within)["pages"].count("-") == 0


def test_huge_pages_lie_where_the_policy_says_when_the_system_grants_them(vm: Machine) -> None:
    switch = "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
    vm.run(f"echo advise >{switch}")
    try:
        for policy, pages in (("bound:2", [("2", PAGES)]), ("blocked:3,2,1,0", OWN[::-1]), ("first", OWN)):
            found = places(vm, f"{policy} {MIB} owners")
            assert (found["pages"], found["huge"]) == (pages, MIB << 20), policy
    finally:
        vm.run(f"echo never >{switch}")
    assert places(vm, f"bound:2 {MIB} owners")["huge"] == 0


def test_touched_pages_are_laid_on_huge_ones_where_they_are_without_any_setting(vm: Machine) -> None:
    for policy, pages in (("bound:2", [("2", PAGES)]), ("blocked", OWN), ("first", OWN)):
        found = places(vm, f"{policy} {MIB} owners collapse")
        assert (found["pages"], found["huge"]) == (pages, MIB << 20), policy


def test_cores_that_go_to_a_member_elsewhere_take_its_threads_there(vm: Machine) -> None:
    """Member 1 lives in domain 1; the core it gets of member 0's lies in domain 0, and so do the thread that
    then runs there and the pages that it touches.
    """
    done = vm.run("STRATA_LAYOUT=4x2 team_places crew 0 1 1")
    assert (done.status, done.err) == (0, ""), done.err
    found = json.loads(done.out)
    own = [[2 * d, 2 * d + 1] for d in range(DOMAINS)]
    for when in ("before", "moved", "after"):
        for threads in found[when]:
            for thread in threads:
                assert thread["allowed"] == str(thread["cpu"])
                assert runs(thread["pages"]) == [(str(thread["cpu"] // CPUS_PER_DOMAIN), 16)]
    cpus = {when: [sorted(t["cpu"] for t in threads) for threads in found[when]] for when in found}
    assert cpus["before"] == own
    (given,) = set(own[0]) - set(cpus["moved"][0])
    assert cpus["moved"][1] == [given, 2, 3]
    assert cpus["moved"][2:] == own[2:]
    assert [len(threads) for threads in cpus["after"]] == [2, 2, 2, 2]
    assert sorted(cpu for threads in cpus["after"] for cpu in threads) == list(range(CPUS))
