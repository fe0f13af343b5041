"""Threads are where the layout says: read back from programs that run in a machine of four domains."""

from __future__ import annotations

import json
from typing import Any

import pytest
from machine import CPUS, CPUS_PER_DOMAIN, Machine

PAGES_OF_4_MIB = 1024

Report = dict[str, Any]


def cpus(report: Report) -> list[int]:
    """The CPU that each thread ran on."""
    return [thread["cpu"] for thread in report["threads"]]


def allowed(report: Report) -> list[list[int]]:
    """The CPUs that each thread may run on."""
    return [thread["allowed"] for thread in report["threads"]]


def domains_of(places: list[int]) -> list[str]:
    return [str(cpu // CPUS_PER_DOMAIN) for cpu in places]


@pytest.mark.parametrize(
    ("layout", "stride", "expected"),
    [
        ("1x8", 1, [[0, 1, 2, 3, 4, 5, 6, 7]]),
        ("8x1", 1, [[0], [1], [2], [3], [4], [5], [6], [7]]),
        ("4x2", 1, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        ("2x2", 2, [[0, 2], [4, 6]]),
        ("1x2", 7, [[0, 7]]),
        ("3x1", 3, [[0], [3], [6]]),
    ],
)
def test_each_thread_is_held_on_its_core_and_its_pages_are_in_that_domain(
    vm: Machine, tidy: None, layout: str, stride: int, expected: list[list[int]]
) -> None:
    reports = vm.run(f"strata launch --layout {layout} --stride {stride} -- pages --touch threads").reports()
    assert [report["rank"] for report in reports] == list(range(len(expected)))
    assert [cpus(report) for report in reports] == expected
    for report, places in zip(reports, expected, strict=True):
        assert allowed(report) == [[cpu] for cpu in places]
        for thread, domain in zip(report["threads"], domains_of(places), strict=True):
            assert thread["pages"] == {domain: PAGES_OF_4_MIB // len(places)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--layout 2x1 --stride 2 --bind numa", [[[0, 1]], [[2, 3]]]),
        ("--layout 2x1 --stride 2 --bind cache", [[[0, 1]], [[2, 3]]]),
        ("--layout 1x2 --stride 4 --bind package", [[[0, 1], [4, 5]]]),
        ("--layout 1x2 --bind none", [[list(range(CPUS))] * 2]),
        ("--layout 1x3 --bind 6,1,4", [[[6], [1], [4]]]),
        ("--layout 2x2 --bind os:7-4", None),
        ("--layout 2x2 --bind os:4-7", [[[4], [5]], [[6], [7]]]),
        ("--layout 1x4 --bind 0-7:2", [[[0], [2], [4], [6]]]),
    ],
)
def test_each_width_of_binding_holds_threads_so_wide(
    vm: Machine, tidy: None, options: str, expected: list[list[list[int]]] | None
) -> None:
    done = vm.run(f"strata launch {options} -- pages")
    if expected is None:
        assert done.status == 2
        assert "unknown way to bind" in done.err
        return
    reports = done.reports()
    assert [allowed(report) for report in reports] == expected
    for report in reports:
        assert all(thread["cpu"] in thread["allowed"] for thread in report["threads"])


def test_children_inherit_what_their_parent_was_given(vm: Machine, tidy: None) -> None:
    reports = vm.run("strata launch --layout 1x2 --bind 2,5 -- pages --forks 2").reports()
    assert len(reports) == 3
    assert all(allowed(report) == [[2], [5]] for report in reports)


def test_a_placement_file_is_followed_thread_by_thread_and_memory_by_memory(vm: Machine, tidy: None) -> None:
    vm.put(
        "/tmp/placement",
        "process 0 thread 0-1  core 6,1   memory 2   # crosswise\n"
        "process 1             numa 1     memory interleave 0,3\n",
    )
    first, second = vm.run(
        "strata launch --layout 2x2 --placement /tmp/placement -- pages --touch threads"
    ).reports()
    assert allowed(first) == [[6], [1]]
    assert first["pages"] == {"2": PAGES_OF_4_MIB}
    assert allowed(second) == [[2, 3], [2, 3]]
    assert second["pages"] == {"0": PAGES_OF_4_MIB // 2, "3": PAGES_OF_4_MIB // 2}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("process 0 numa 4", ["placement:1", "no such domain", "numa 4", "0 to 3"]),
        ("process 0 core 0 memory 9", ["placement:1", "no such memory", "of which 9", "0-3"]),
        ("process 3 core 0", ["placement:1", "process 3", "0 to 0 (layout 1x1)"]),
        ("process 0 thread 2 core 0", ["placement:1", "thread 2", "0 to 0 (layout 1x1)"]),
    ],
)
def test_a_placement_file_that_names_what_is_not_there_is_refused_with_its_line(
    vm: Machine, line: str, said: list[str]
) -> None:
    vm.put("/tmp/placement", line + "\n")
    done = vm.run("strata launch --layout 1x1 --placement /tmp/placement -- pages")
    assert (done.status, done.out) == (2, "")
    for words in said:
        assert words in done.err


def test_a_layout_fits_into_what_the_process_may_use_or_is_refused(vm: Machine, tidy: None) -> None:
    one, two = vm.run("taskset -c 3,6 strata launch --layout 2x1 -- pages").reports()
    assert (cpus(one), cpus(two)) == ([3], [6])
    done = vm.run("taskset -c 3,6 strata launch --layout 3x1 -- pages")
    assert (done.status, done.out) == (2, "")
    for words in ("needs 3 cores", "2 cores", "--layout 2x1"):
        assert words in done.err


def test_check_finds_a_program_that_binds_itself_against_the_layout(vm: Machine, tidy: None) -> None:
    kept = vm.run("strata launch --check --layout 2x2 -- pages --hold 1")
    assert kept.status == 0, kept.err
    broken = vm.run("strata launch --check --bind 0 -- pages --bind 7 --hold 1")
    assert broken.status == 1
    assert "did not keep the placement" in broken.err
    assert "may run on PU 7, promised was PU 0" in broken.err


def test_a_record_says_where_threads_were(vm: Machine, tidy: None) -> None:
    done = vm.run(
        "strata launch --record /tmp/record --layout 4x2 -- pages --hold 2 >/dev/null; cat /tmp/record"
    )
    record = json.loads(done.out)
    assert record["agrees"] is True
    seen = {(thread["rank"], thread["allowed"], thread["last_cpu"]) for thread in record["threads"]}
    assert seen == {(cpu // 2, str(cpu), cpu) for cpu in range(CPUS)}


def test_what_dry_run_promises_is_what_the_program_finds(vm: Machine, tidy: None) -> None:
    options = "--layout 2x2 --stride 2 --bind numa --memory interleave:1,2"
    table = vm.run(f"strata launch {options} --dry-run -- pages").out.splitlines()
    start = next(i for i, line in enumerate(table) if line.split()[:2] == ["process", "thread"]) + 1
    promised = [line.split()[:4] for line in table[start : start + 4]]
    found = []
    for report in vm.run(f"strata launch {options} -- pages").reports():
        for number, thread in enumerate(report["threads"]):
            pus = f"{thread['allowed'][0]}-{thread['allowed'][-1]}"
            found.append([str(report["rank"]), str(number), pus, pus])
        assert set(report["pages"]) == {"1", "2"}
    assert promised == found
