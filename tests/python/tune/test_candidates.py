"""The layouts that are raced, on machines that nobody here owns."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic_machines as machines

from strata.errors import StrataError
from strata.tune.candidates import KINDS, MOST, Candidate, candidates, default_of
from strata.tune.near import dimensions, near
from strata.tune.usable_cores import UsableCores

MACHINES = [machines.two_cores(), machines.eight_domains(), machines.hybrid_laptop(), machines.container()]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", KINDS)
def test_candidates_fit_start_with_the_default_and_are_each_there_once(
    machine: dict[str, Any], kind: str
) -> None:
    usable = UsableCores.of(machine)
    found = candidates(machine, kind)
    assert found[0] == default_of(usable, kind)
    assert 2 <= len(found) <= MOST
    assert len({c.id for c in found}) == len(found)
    for candidate in found:
        places = (candidate.processes * candidate.threads - 1) * candidate.stride + 1
        assert places <= usable.cores or candidate.bind == "none"
        if kind == "serial":
            assert candidate.layout == "1x1"
        if kind in ("openmp", "forking"):
            assert candidate.processes == 1
        if kind == "mpi":
            assert candidate.threads == 1


@pytest.mark.parametrize("kind", ["mpi", "hybrid"])
def test_over_nodes_each_layout_is_one_nodes_on_all_of_them(kind: str) -> None:
    one = machines.eight_domains()
    over = {**one, "nodes": 4}
    alone, found = candidates(one, kind), candidates(over, kind)
    assert [(c.processes, c.threads, c.stride, c.bind) for c in found] == [
        (c.processes, c.threads, c.stride, c.bind) for c in alone if not c.order
    ]
    for c in [*found, *near(UsableCores.of(over), kind, found[1], [])]:
        assert c.layout == f"{4 * c.processes}x{c.threads}" and not c.order
        assert f"--layout {c.layout}" in c.line(["./a.out"]) and "--nodes 4" in c.line(["./a.out"])


def test_what_is_no_mpi_program_has_no_nodes() -> None:
    with pytest.raises(StrataError) as caught:
        candidates({**machines.two_cores(), "nodes": 2}, "openmp")
    assert "only MPI programs run on several nodes" in str(caught.value)


def test_a_hybrid_program_is_tried_with_a_process_a_domain_first() -> None:
    machine = machines.eight_domains()
    usable = UsableCores.of(machine)
    first = candidates(machine, "hybrid")[1]
    assert (first.processes, first.threads) == (len(usable.domains), usable.cores // len(usable.domains))


def test_several_memories_bring_policies_for_pages_and_one_memory_does_not() -> None:
    assert any(c.memory for c in candidates(machines.eight_domains(), "openmp"))
    assert not any(c.memory for c in candidates(machines.two_cores(), "openmp"))
    assert {"interleave:0-7", "local"} <= {
        c.memory for c in dimensions(UsableCores.of(machines.eight_domains()), "openmp", Candidate(1, 8))
    }


def test_memories_and_pus_have_the_systems_numbers() -> None:
    machine = machines.four_domains()
    for memory in machine["memories"]:
        memory["os_index"] *= 8  # as on POWER
    machine["allowed"]["memories"] = "0,8,16,24"
    usable = UsableCores.of(machine)
    assert usable.memories == (0, 8, 16, 24)
    assert "interleave:0,8,16,24" in {c.memory for c in candidates(machine, "serial")}
    assert usable.each[1].pus == tuple(machine["cores"][1]["pus"])


def test_pages_are_dealt_over_all_memories_also_for_a_layout_that_sits_beside_one() -> None:
    """`--memory interleave` alone takes the memories of the layout's own domains."""
    machine = machines.eight_domains()
    assert "interleave:0-7" in {c.memory for c in candidates(machine, "serial")}
    for best in Candidate(1, 256), Candidate(8, 2, bind="none"), Candidate(64, 1, stride=4):
        assert "interleave" in {c.memory for c in dimensions(UsableCores.of(machine), "openmp", best)}


def test_dimensions_leave_the_best_itself_out_and_use_siblings_where_there_are_some() -> None:
    best = Candidate(1, 4)
    for machine in MACHINES:
        found = dimensions(UsableCores.of(machine), "openmp", best)
        assert best.id not in {c.id for c in found}
        assert any(c.smt > 1 for c in found) == (UsableCores.of(machine).most_pus() > 1)
        assert {"on", "off"} <= {c.huge_pages for c in found}


def test_numbers_of_processes_that_a_program_can_have() -> None:
    machine = machines.eight_domains()
    found = candidates(machine, "mpi", (1, 4, 16))
    assert {c.processes for c in found} == {1, 4, 16}
    assert found[0].processes == 16
    with pytest.raises(StrataError, match="more processes than cores"):
        candidates(machine, "mpi", (100000,))
    with pytest.raises(StrataError, match="only MPI programs"):
        candidates(machine, "openmp", (2,))
    with pytest.raises(StrataError, match="unknown kind"):
        candidates(machine, "quantum")


def test_the_line_to_use_is_one_that_the_launcher_takes() -> None:
    candidate = Candidate(2, 4, stride=2, bind="numa", memory="local", huge_pages="on")
    options = "--layout 2x4 --stride 2 --bind numa --memory local --huge-pages on"
    assert candidate.line(["./a.out", "two words"]) == f"strata launch {options} -- ./a.out 'two words'"
    assert Candidate(1, 1).line(["ls"]) == "strata launch --layout 1x1 -- ls"
