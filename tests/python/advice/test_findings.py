"""Findings appear on the machines that have the trouble, and nowhere else."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from synthetic_machines import MACHINES
from synthetic_summaries import SUMMARIES

from strata.advice.finding import SEVERITIES, Finding
from strata.advice.findings import findings
from strata.advice.layouts import preferences
from strata.characterize.facts import print_findings
from strata.errors import StrataError
from strata.measure.disturbances import SHORT

EXPECTED = {
    "two-cores": {"shmem-huge-pages", "counters"},
    "eight-domains": {"smt", "page-cache", "numa-balancing"},
    "hybrid": {"governor", "hybrid", "smt", "no-undisturbed", "disturbed", "too-few"},
    "bad-module": {"slow-core", "slow-domain", "huge-pages", "counters", "turbo", "blas"},
    "container": {"quota", "memory-limit", "placement", "no-share", "no-mpi", "placement-broken", "failed"},
}


def codes(found: list[Finding]) -> set[str]:
    return {f.code for f in found}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_fixture_has_exactly_its_own_findings(name: str) -> None:
    summary = SUMMARIES[name]()
    assert codes(findings(summary["machine"], summary)) == EXPECTED[name]


def test_memory_without_cores_and_a_small_affinity_are_found() -> None:
    machine = MACHINES["high-bandwidth"]()
    found = findings(machine)
    assert codes(found) == {"affinity", "memory-without-cores"}
    far = [memory for memory in machine["memories"] if memory["domain"] is None]
    said = [f.evidence for f in found if f.code == "memory-without-cores"]
    assert said == [f"memory {m['os_index']}, nearest to domain {m['nearest_domain']}" for m in far]
    far[0].update(nearest_domain=None, os_index=252, kind="unknown")
    told = next(f for f in findings(machine) if f.code == "memory-without-cores")
    assert told.evidence == "memory 252"
    assert told.what == "16 GiB of memory have no cores of their own"
    assert "--preferred=252" in told.remedy and "--memory bind:252" in told.remedy


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_finding_says_all_four_things_and_the_costly_come_first(name: str) -> None:
    summary = SUMMARIES[name]()
    found = findings(summary["machine"], summary)
    for f in found:
        assert f.what and f.evidence and f.consequence and f.remedy
        assert f.severity in SEVERITIES
    assert [SEVERITIES.index(f.severity) for f in found] == sorted(
        SEVERITIES.index(f.severity) for f in found
    )


def test_pages_elsewhere_than_their_policy_says_are_told_apart_from_threads() -> None:
    summary = copy.deepcopy(SUMMARIES["container"]())
    said = "84 % of the pages of process 1 lie in memory P#3, promised was only in memory P#1"
    wrong = next(t for t in summary["tasks"] if t["readback"]["agrees"])
    wrong["readback"] = {"agrees": False, "threads_agree": True, "disagreement": said}
    found = {f.code: f for f in findings(summary["machine"], summary)}
    assert said in found["pages-broken"].evidence
    assert "two threads" in found["placement-broken"].evidence
    del wrong["readback"]["disagreement"]
    found = {f.code: f for f in findings(summary["machine"], summary)}
    assert found["pages-broken"].evidence.endswith("in 1 setting: pages were not where the policy promised")


def test_without_samples_nothing_measured_is_claimed() -> None:
    measured = {"slow-core", "slow-domain", "blas", "disturbed", "no-mpi", "no-undisturbed", "noise"}
    for make in MACHINES.values():
        assert not codes(findings(make())) & measured


def test_of_a_topology_from_a_file_nothing_is_said_that_only_a_system_can_tell() -> None:
    machine = MACHINES["container"]()
    del machine["synthetic"]
    assert not codes(findings(machine)) & {"counters", "placement", "no-share"}
    machine["source"] = "system"
    assert {"placement", "no-share"} <= codes(findings(machine))


def test_memory_of_unstated_kind_counts_as_a_domains_own() -> None:
    summary = SUMMARIES["bad-module"]()
    for memory in summary["machine"]["memories"]:
        memory["kind"] = "unknown"
    assert "slow-domain" in codes(findings(summary["machine"], summary))


def find(found: list[Finding], code: str) -> Finding:
    return next(f for f in found if f.code == code)


def test_the_slow_core_and_the_weak_domain_are_named_with_their_figures() -> None:
    summary = SUMMARIES["bad-module"]()
    found = findings(summary["machine"], summary)
    assert "37" in find(found, "slow-core").what
    assert "Domain 2" in find(found, "slow-domain").what
    assert "GB/s" in find(found, "slow-domain").evidence


def curve(summary: dict[str, Any], unit: str) -> dict[str, Any]:
    tasks = [t for t in summary["tasks"] if t["benchmark"] == "noise"]
    return next(c for t in tasks for c in t["curves"] if c["y"]["unit"] == unit)


def test_a_core_whose_interval_reaches_its_neighbours_is_not_called_slow() -> None:
    summary = SUMMARIES["bad-module"]()
    point = next(p for p in curve(summary, "us")["points"] if p[0] == 37)
    point[2] = 1000.0
    assert "slow-core" not in codes(findings(summary["machine"], summary))


def test_a_core_is_not_called_slow_beside_neighbours_whose_intervals_reach_it() -> None:
    summary = SUMMARIES["bad-module"]()
    for point in curve(summary, "us")["points"]:
        if point[0] != 37:
            point[3] = 1.45 * point[1]
    assert "slow-core" not in codes(findings(summary["machine"], summary))


def bandwidths(summary: dict[str, Any]) -> dict[str, Any]:
    tasks = [t for t in summary["tasks"] if t["benchmark"] == "domains"]
    return next(m for t in tasks for m in t["matrices"] if m["unit"] == "GB/s")


def test_a_domain_whose_interval_reaches_its_equals_is_not_called_weak() -> None:
    summary = SUMMARIES["bad-module"]()
    matrix = bandwidths(summary)
    matrix["high"][2][2] = matrix["values"][0][0]
    assert "slow-domain" not in codes(findings(summary["machine"], summary))


@pytest.mark.parametrize("ends", ["low", "high"])
def test_without_intervals_no_domain_is_called_weak(ends: str) -> None:
    summary = SUMMARIES["bad-module"]()
    matrix = bandwidths(summary)
    matrix[ends] = [[None] * 4 for _ in range(4)]
    assert "slow-domain" not in codes(findings(summary["machine"], summary))


def test_a_blas_is_not_called_slow_beside_a_peak_whose_interval_reaches_down_to_it() -> None:
    summary = SUMMARIES["bad-module"]()
    (peak,) = [t for t in summary["tasks"] if t["id"] == "peak/1x1/core/s1"]
    peak["figures"][0]["low"] = 0.7 * peak["figures"][0]["median"]
    assert "blas" not in codes(findings(summary["machine"], summary))
    peak["figures"][0]["low"] = None
    assert "blas" not in codes(findings(summary["machine"], summary))


def test_efficient_cores_are_compared_with_their_own_kind_only() -> None:
    summary = SUMMARIES["hybrid"]()
    machine = summary["machine"]
    slow = {pu for core in machine["cores"] for pu in core["pus"] if core["kind"] == 0}
    shape = curve(summary, "us")
    shape["points"] = [[core["pus"][0], 1000.0, 990.0, 1010.0] for core in machine["cores"]]
    for p in shape["points"]:
        if p[0] in slow:
            p[1:] = [2 * v for v in p[1:]]
    assert "slow-core" not in codes(findings(summary["machine"], summary))


def test_noise_is_a_finding_only_above_its_limit() -> None:
    summary = SUMMARIES["two-cores"]()
    assert "noise" not in codes(findings(summary["machine"], summary))
    point = curve(summary, "%")["points"][1]
    point[1:] = [4.0, 0.2, 6.0]  # one launch of them was quiet: its interval reaches below the limit
    assert "noise" not in codes(findings(summary["machine"], summary))
    point[1:] = [4.0, 3.0, 6.0]
    # The axis has the system's numbers of CPUs, and of two cores one can be left to the system; of one none.
    said = find(findings(summary["machine"], summary), "noise")
    assert said.what == "1 CPU loses more than 1 % of the time to other work"
    assert "CPU 1 loses 4.0 %" in said.evidence and "--layout 1x1 " in said.remedy
    machine = copy.deepcopy(summary["machine"])
    machine["cores"] = machine["cores"][:1]
    assert "--layout" not in find(findings(machine, summary), "noise").remedy


def test_failed_launches_are_named_all_or_counted_and_the_command_can_be_pasted() -> None:
    summary = copy.deepcopy(SUMMARIES["two-cores"]())
    for task in summary["tasks"][:6]:
        task.update(failed=2, launches=5, command=["strata", "bench", "stream", "--out", "a b"])
    said = find(findings(summary["machine"], summary), "failed")
    assert said.what == "Launches failed in 6 settings"
    assert said.evidence.count(": 2 of 5") == 4 and said.evidence.endswith(" and 2 more")
    assert "`strata bench stream --out 'a b'`" in said.remedy


def test_a_blas_near_the_peak_is_no_finding() -> None:
    summary = SUMMARIES["bad-module"]()
    for task in summary["tasks"]:
        if task["id"] == "dgemm/1x1/core/s1":
            task["bound"]["value"] = 45.0
    assert "blas" not in codes(findings(summary["machine"], summary))


def with_the_system_blas(rate: float, environment: dict[str, str]) -> dict:
    """The two-core fixture with a DGEMM beside it that takes the system's BLAS as it is found."""
    summary = SUMMARIES["two-cores"]()
    summary["provenance"]["environment"] = environment
    for task in [t for t in summary["tasks"] if t["id"].startswith("dgemm/")]:
        task["provenance"] = {"blas": {"version": "OpenBLAS 9", "core": "Fast"}}
        system = copy.deepcopy(task)
        system.update(id=task["id"].replace("dgemm/", "dgemm-system/"), command=["dgemm", "--own-choice"])
        system["provenance"] = {"blas": {"version": "OpenBLAS 1", "core": "Old"}}
        for figure in system["figures"]:
            for key in ("median", "low", "high", "min", "max"):
                figure[key] *= rate
        summary["tasks"].append(system)
    return summary


def test_a_faster_blas_is_named_only_when_intervals_are_apart() -> None:
    summary = with_the_system_blas(0.5, {})
    finding = find(findings(summary["machine"], summary), "other-blas")
    assert "OpenBLAS 1, Old kernels" in finding.evidence and "OPENBLAS_CORETYPE=Fast" in finding.remedy
    told = with_the_system_blas(0.5, {"OPENBLAS_CORETYPE": "Old"})
    assert "unset OPENBLAS_CORETYPE" in find(findings(told["machine"], told), "other-blas").remedy
    alike = with_the_system_blas(1.0, {})
    assert "other-blas" not in codes(findings(alike["machine"], alike))


def test_layouts_are_compared_within_one_way_of_running_a_benchmark() -> None:
    summary = with_the_system_blas(0.5, {})
    plain = SUMMARIES["two-cores"]()
    named = {p.question: p.better for p in preferences(plain)}
    assert {p.question: p.better for p in preferences(summary) if "system" not in p.question} == named


def test_page_cache_matters_only_where_there_is_another_domain_to_spill_to() -> None:
    machine = MACHINES["two-cores"]()
    machine["memories"][0].update(free_bytes=1 << 28, page_cache_bytes=20 << 30)
    assert "page-cache" not in codes(findings(machine))


def test_steal_is_told_apart_from_other_load() -> None:
    summary = SUMMARIES["two-cores"]()
    for task in summary["tasks"]:
        task.update(tainted=3, launches=9, reasons={"steal": 3})
    said = find(findings(summary["machine"], summary), "disturbed")
    assert "hypervisor" in said.consequence
    assert said.evidence.endswith(f"launches were disturbed ({SHORT['steal']} {3 * len(summary['tasks'])})")


def test_fractional_quotas_leave_at_least_one_thread() -> None:
    machine = MACHINES["container"]()
    machine["allowed"]["cgroup"]["cpu_quota"] = 0.5
    said = find(findings(machine), "quota")
    assert "--layout 1x1" in said.remedy
    machine["cores"] = machine["cores"][:1]
    machine["allowed"]["pus"] = ",".join(map(str, machine["cores"][0]["pus"]))
    said = find(findings(machine), "quota")
    assert said.what == "A CPU quota turns 1 visible CPU into 0.5"
    assert "starts 1 thread is stopped for 50 % of every" in said.consequence


def test_what_the_system_did_not_say_is_not_told_as_none() -> None:
    machine = MACHINES["container"]()
    machine["counters"] = {"hardware": False}
    assert find(findings(machine), "counters").evidence == "opening a hardware event failed"


@pytest.mark.parametrize(
    "threads, said",
    [([2] * 4, "start 2 threads"), ([4] * 4, "start 4 threads"), ([4, 4, 1, 1], "start up to 4 threads")],
)
def test_of_hardware_threads_as_many_are_named_as_a_core_has(threads: list[int], said: str) -> None:
    machine = MACHINES["two-cores"]()
    numbers = iter(range(100))
    machine["cores"] = [
        {**machine["cores"][0], "index": i, "pus": [next(numbers) for _ in range(n)]}
        for i, n in enumerate(threads)
    ]
    machine["allowed"]["pus"] = f"0-{sum(threads) - 1}"
    assert said in find(findings(machine), "smt").consequence


def test_the_kinds_of_cores_are_named_with_what_is_known_of_them() -> None:
    machine = MACHINES["hybrid"]()
    found = find(findings(machine), "hybrid")
    assert found.what == "2 kinds of core: 8 efficient, 6 fast"
    assert "`strata launch --core-kind performance --layout 1x6 -- ./a.out`" in found.remedy
    assert "capacities" not in found.consequence
    machine["core_kinds"][0]["info"] = {"LinuxCapacity": "707-718"}
    machine["core_kinds"][1]["info"] = {"LinuxCapacity": "1006-1024"}
    found = find(findings(machine), "hybrid")
    assert found.what == "2 kinds of core: 8 kind 0 (capacity 707-718), 6 kind 1 (capacity 1006-1024)"
    assert "70 % as fast as the fastest" in found.consequence
    for kind in machine["core_kinds"]:
        kind["efficiency"] = -1
    found = find(findings(machine), "hybrid")
    assert "which are faster is not known" in found.evidence
    assert "--core-kind 0 --layout 1x8" in found.remedy


@pytest.mark.parametrize("arch, named", [("x86_64", "Zen"), ("aarch64", "NeoverseV1"), ("ppc64le", "vendor")])
def test_another_blas_is_one_for_this_processor(arch: str, named: str) -> None:
    summary = SUMMARIES["bad-module"]()
    summary["machine"]["arch"] = arch
    remedy = find(findings(summary["machine"], summary), "blas").remedy
    assert named in remedy and ("Zen" in remedy) == (arch == "x86_64")


@pytest.mark.parametrize(
    "text, at, given, allowed, message",
    [
        ('{"schema":\n  nothing}', ":2", "nothing}", "JSON", "this is not JSON: a value was expected"),
        ("{}", "", 'no key "schema"', "strata.machine/1", "not a document of Strata's"),
        (
            '{"schema": "strata.result/1"}',
            "",
            "strata.result/1",
            "strata.machine/1",
            "another kind of document",
        ),
    ],
)
def test_what_is_no_machine_is_told_with_its_place_and_what_would_be_one(
    tmp_path: Path, text: str, at: str, given: str, allowed: str, message: str
) -> None:
    file = tmp_path / "machine.json"
    file.write_text(text)
    with pytest.raises(StrataError, match=message) as told:
        print_findings(str(file), None)
    error = told.value
    assert error.at == f"{file}{at}" and given in str(error.given)
    assert allowed in str(error.allowed) and "strata machine --json" in str(error.remedy)
