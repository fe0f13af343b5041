"""A real MPI program of several ranks and threads on four memories, started by its own mpiexec: threads and
pages of each rank are where layout and policy say, and the launcher's record says so too.
"""

from __future__ import annotations

import json

import pytest
from machine import CPUS_PER_DOMAIN, Machine

MIB, PAGES_A_MIB = 8, 256


@pytest.fixture
def mpi_vm(vm: Machine) -> Machine:
    if vm.run("which pages_mpi").status:
        pytest.skip("no MPICH to put into the virtual machine")
    return vm


def own_cpus(processes: int, threads: int, stride: int, bind: str) -> list[list[list[int]]]:
    """By process and thread: thread i of process p is on CPU (p T + i) N, or free in the domain of that."""
    found = []
    for p in range(processes):
        cpus = [(p * threads + i) * stride for i in range(threads)]
        first = [cpu // CPUS_PER_DOMAIN * CPUS_PER_DOMAIN for cpu in cpus]
        wide = [list(range(f, f + CPUS_PER_DOMAIN)) for f in first]
        found.append(wide if bind == "numa" else [[cpu] for cpu in cpus])
    return found


def domains(cpus: list[list[int]]) -> set[int]:
    return {cpu // CPUS_PER_DOMAIN for thread in cpus for cpu in thread}


def expected_memories(policy: str, own: list[list[int]], everybody: list[list[list[int]]]) -> set[int]:
    if policy.startswith("bind:"):
        return {int(policy[5:])}
    return set().union(*map(domains, everybody)) if policy == "interleave" else domains(own)


SOAK = [
    (layout, stride, bind, memory)
    for layout, stride in (("2x2", 1), ("2x2", 2), ("2x4", 1), ("4x2", 1), ("3x2", 1), ("2x3", 1))
    for bind in ("core", "numa")
    for memory in ("first-touch", "local", "interleave", "bind:1")
]


@pytest.mark.parametrize(
    ("layout", "stride", "bind", "memory"),
    [
        ("4x2", 1, "core", "local"),
        ("2x2", 2, "numa", "interleave"),
        *(pytest.param(*one, marks=pytest.mark.soak) for one in SOAK),
    ],
)
def test_ranks_of_a_hybrid_mpi_program_have_their_threads_and_pages(
    mpi_vm: Machine, tidy: None, layout: str, stride: int, bind: str, memory: str
) -> None:
    processes, threads = map(int, layout.split("x"))
    options = f"--layout {layout} --stride {stride} --bind {bind} --memory {memory} --record /tmp/record"
    done = mpi_vm.run(f"strata launch {options} -- pages_mpi --mib {MIB} --touch threads --hold 0.5")
    reports = done.reports()
    assert [report["rank"] for report in reports] == list(range(processes))
    everybody = own_cpus(processes, threads, stride, bind)
    for report, own in zip(reports, everybody, strict=True):
        assert [thread["allowed"] for thread in report["threads"]] == own
        memories = expected_memories(memory, own, everybody)
        assert set(map(int, report["pages"])) == memories
        assert sum(report["pages"].values()) == MIB * PAGES_A_MIB
        if memory == "interleave":
            # Each thread goes round on its own, and ends somewhere.
            assert max(report["pages"].values()) - min(report["pages"].values()) <= threads
    record = json.loads(mpi_vm.run("cat /tmp/record; rm /tmp/record").out)
    assert record["pages"]["processes"] == processes
    assert (record["agrees"], record["pages"]["verdict"]) == (True, "as promised"), record["disagreement"]
