"""`strata where` on four memories: what it shows is what the program itself finds with move_pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from machine import Done, Machine

PAGE = 4096
MIB = 1 << 20


def where(vm: Machine, words: str, options: str = "") -> tuple[list[dict[str, Any]], Done]:
    """The processes that `strata where -- WORDS` saw, launchers left out, and what the program said."""
    done = vm.run(f"strata where --json --output /tmp/where {options} -- {words}")
    document = json.loads(vm.run("cat /tmp/where; rm /tmp/where").out)
    return [p for p in document["processes"] if not p["launcher"]], done


def by_memory(process: dict[str, Any], kind: str) -> dict[str, int]:
    """Bytes of one kind by memory."""
    found: dict[str, int] = {}
    for region in process["pages"]["regions"]:
        if region["kind"] == kind:
            for memory, count in region["by_memory"].items():
                found[memory] = found.get(memory, 0) + count
    return found


def touched(process: dict[str, Any], mib: int) -> dict[str, Any]:
    """The mapping that the program touched: the largest of its anonymous ones."""
    regions = [r for r in process["pages"]["regions"] if r["kind"] == "anonymous"]
    largest: dict[str, Any] = max(regions, key=lambda region: sum(region["by_memory"].values()))
    assert sum(largest["by_memory"].values()) >= mib * MIB
    return largest


@pytest.mark.parametrize("method", ["numa_maps", "move_pages"])
@pytest.mark.parametrize(
    "memory, policy",
    [
        ("bind:2", "bind:2"),
        ("interleave:0-3", "interleave:0-3"),
        ("first-touch", "default"),
        ("local", "bind:0"),
    ],
)
def test_pages_are_shown_where_the_program_finds_them(
    vm: Machine, memory: str, policy: str, method: str
) -> None:
    launch = f"strata launch --layout 1x1 --memory {memory} --"
    (process,), done = where(vm, f"{launch} pages --mib 8", f"--method {method}")
    report = done.report()
    region = touched(process, 8)
    assert {m: b // PAGE for m, b in region["by_memory"].items()} == pytest.approx(report["pages"], abs=8)
    if method == "numa_maps":
        assert region["policy"] == policy
    assert process["rank"] == 0
    assert process["domains"] == "0"


def test_ranks_are_shown_each_in_its_own_domain(vm: Machine) -> None:
    processes, done = where(vm, "strata launch --layout 4x2 --memory local -- pages --mib 4")
    assert len(done.reports()) == 4
    assert sorted(p["rank"] for p in processes) == [0, 1, 2, 3]
    for process in processes:
        rank = process["rank"]
        assert process["domains"] == str(rank)
        assert set(touched(process, 4)["by_memory"]) == {str(rank)}
        assert all(
            t["allowed"] in (f"{2 * rank}-{2 * rank + 1}", str(2 * rank), str(2 * rank + 1))
            for t in process["threads"]
        )


def test_text_is_shown_where_it_was_read_first_and_where_it_was_brought(vm: Machine) -> None:
    vm.run("taskset 0x40 cp /bin/pages /tmp/solver")
    (process,), _ = where(vm, "/tmp/solver --mib 1")
    assert set(by_memory(process, "program text")) == {"3"}
    (process,), done = where(vm, "strata launch --text local -- /tmp/solver --mib 1 --text")
    assert done.status == 0, done.err
    assert set(by_memory(process, "program text")) == {"0"}
    (process,), _ = where(vm, "strata launch --layout 1x8 --text interleave -- /tmp/solver --mib 1")
    shares = by_memory(process, "program text")
    assert set(shares) == {"0", "1", "2", "3"}
    assert max(shares.values()) - min(shares.values()) <= 4 * PAGE
    vm.run("rm /tmp/solver")


def test_a_process_that_runs_is_read_from_outside(vm: Machine) -> None:
    script = "strata launch --memory bind:1 -- pages --mib 8 --hold 20 > /tmp/report & pid=$!; "
    script += "while ! [ -s /tmp/report ]; do sleep 0.1; done; strata where --json $pid; kill $pid"
    process = json.loads(vm.run(script).out)["processes"][0]
    region = touched(process, 8)
    assert region["by_memory"] == {"1": pytest.approx(8 * MIB, abs=8 * PAGE)}
    # Bound to core 0 with its pages in memory 1: nearly none are local.
    assert process["pages"]["local_bytes"] < 0.5 * sum(process["pages"]["by_memory"].values())
