"""Pages are where the policy says: counted by move_pages(2), by numa_maps and by `strata where`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from machine import CPUS_PER_DOMAIN, DOMAINS, MIB_PER_DOMAIN, Machine

PAGES_A_MIB = 256
MPOL_DEFAULT, MPOL_BIND, MPOL_INTERLEAVE = 0, 2, 3


def evenly(domains: list[int], mib: int) -> dict[str, int]:
    return {str(domain): mib * PAGES_A_MIB // len(domains) for domain in domains}


@pytest.mark.parametrize(
    ("options", "policy", "expected"),
    [
        ("--layout 1x8 --memory first-touch", MPOL_DEFAULT, {"0": 8 * PAGES_A_MIB}),
        ("--layout 1x8 --memory interleave", MPOL_INTERLEAVE, evenly([0, 1, 2, 3], 8)),
        ("--layout 1x2 --bind 4,6 --memory interleave", MPOL_INTERLEAVE, evenly([2, 3], 8)),
        ("--layout 1x8 --memory interleave:0,3", MPOL_INTERLEAVE, evenly([0, 3], 8)),
        ("--layout 1x8 --memory bind:2", MPOL_BIND, evenly([2], 8)),
        ("--layout 1x8 --memory bind:os:1", MPOL_BIND, evenly([1], 8)),
        ("--layout 1x2 --bind 5,6 --memory local", MPOL_BIND, evenly([2], 8)),
    ],
)
def test_pages_that_one_thread_touches_lie_where_the_policy_says(
    vm: Machine, tidy: None, options: str, policy: int, expected: dict[str, int]
) -> None:
    report = vm.run(f"strata launch {options} -- pages --mib 8 --touch main").report()
    assert report["pages"] == expected
    assert report["policy"] == policy


def test_each_rank_has_its_pages_in_its_own_domain(vm: Machine, tidy: None) -> None:
    reports = vm.run("strata launch --layout 4x2 --memory local -- pages --mib 8").reports()
    assert [report["pages"] for report in reports] == [evenly([rank], 8) for rank in range(DOMAINS)]


def test_first_touch_overflows_to_the_nearest_domain_and_a_bound_program_does_not(
    vm: Machine, tidy: None
) -> None:
    more_than_one_domain = MIB_PER_DOMAIN + 100
    spilt = vm.run(f"strata launch --bind 6 -- pages --mib {more_than_one_domain}").report()["pages"]
    # By distance: domain 3 is full, 2 is next to it, 0 and 1 are further.
    assert set(spilt) == {"3", "2"}
    assert sum(spilt.values()) == more_than_one_domain * PAGES_A_MIB
    bound = vm.run(f"strata launch --memory bind:3 -- pages --mib {more_than_one_domain}")
    assert bound.status == 128 + 9
    assert bound.out == ""


def held(vm: Machine, options: str, then: str) -> tuple[dict[str, Any], str]:
    """The report of a program that still runs, and what a script said of it; PID is its number."""
    script = f"""
strata launch {options} --hold 60 >/tmp/report &
until [ -s /tmp/report ]; do sleep 0.1; done
cat /tmp/report
PID=$(sed 's/.*"pid": \\([0-9]*\\).*/\\1/' /tmp/report)
{then}
kill $PID
wait
rm /tmp/report
"""
    done = vm.run(script)
    first, _, rest = done.out.partition("\n")
    assert first, done.err
    return json.loads(first), rest


@pytest.mark.parametrize("memory", ["bind:1", "interleave:0,2", "first-touch"])
def test_numa_maps_and_where_agree_with_the_program_itself(vm: Machine, tidy: None, memory: str) -> None:
    options = f"--layout 1x4 --stride 2 --memory {memory} -- pages --mib 16 --touch threads"
    report, said = held(
        vm,
        options,
        "cat /proc/$PID/numa_maps; echo ===; strata where $PID --json; echo ===;"
        "strata where $PID --json --method move_pages",
    )
    maps, where, moved = said.split("===\n")
    (line,) = [line for line in maps.splitlines() if line.startswith(report["memory"])]
    counts = {word[1:].split("=")[0]: int(word.split("=")[1]) for word in line.split() if word[0] == "N"}
    assert counts == report["pages"]
    policy = line.split()[1]
    assert policy == ("default" if memory == "first-touch" else memory)
    for text in (where, moved):
        (process,) = json.loads(text)["processes"]
        (region,) = [r for r in process["pages"]["regions"] if r["begin"] == report["memory"]]
        assert {node: size // 4096 for node, size in region["by_memory"].items()} == report["pages"]
        threads = process["threads"]
        assert [(t["cpu"], t["allowed"], t["domain"]) for t in threads] == [
            (cpu, str(cpu), cpu // CPUS_PER_DOMAIN) for cpu in (0, 2, 4, 6)
        ]


def test_where_shows_pages_that_are_far_from_their_threads(vm: Machine, tidy: None) -> None:
    _, said = held(vm, "--bind 0 --memory bind:3 -- pages --mib 64", "strata where $PID --json")
    (process,) = json.loads(said)["processes"]
    assert process["pages"]["by_memory"]["3"] >= 64 << 20
    assert process["domains"] == "0"
    assert process["pages"]["local_bytes"] < 16 << 20


def judged(vm: Machine, options: str, program: str) -> tuple[int, str, dict[str, Any]]:
    """Exit status and words of --check, and the record, of a program that stays long enough to be read.

    Readings have a share of the time: those of several threads of an emulated machine may take seconds.
    """
    launch = f"strata launch {options} --check --explain --record /tmp/record"
    done = vm.run(f"{launch} -- pages {program} --hold 4 >/dev/null; echo $?; cat /tmp/record")
    status, _, record = done.out.partition("\n")
    return int(status), done.err, json.loads(record)


@pytest.mark.parametrize("options", ["--layout 4x2 --memory local", "--layout 1x8 --memory interleave"])
def test_pages_of_all_processes_that_keep_the_policy_agree(vm: Machine, tidy: None, options: str) -> None:
    processes = int(options.split()[1][0])
    status, said, record = judged(vm, options, "--mib 32 --touch threads")
    assert (status, record["agrees"]) == (0, True), said
    assert record["pages"]["processes"] == processes
    assert f"pages: as promised ({processes} of {processes} processes read)" in said


@pytest.mark.parametrize(
    ("options", "program", "words"),
    [
        ("--memory bind:1", "--memory 3", "lie in memory P#3, promised was only in memory P#1"),
        ("--bind 2 --memory first-touch", "--memory 0", "lie in memory P#0, promised was memory P#1, near"),
        ("--layout 1x8 --memory interleave", "--memory 2", "promised was page by page over memories P#0-3"),
    ],
)
def test_a_program_that_places_its_pages_elsewhere_is_told_so(
    vm: Machine, tidy: None, options: str, program: str, words: str
) -> None:
    status, said, record = judged(vm, options, f"--mib 32 {program}")
    assert (status, record["agrees"], record["threads_agree"]) == (1, False, True)
    assert record["pages"]["verdict"] == "not as promised"
    assert words in record["disagreement"]
    assert "pages of process 0 (" in record["disagreement"]
    assert record["disagreement"] in said
    assert "the program did not keep the placement" in said
    assert "allowed: pages in the memories that --explain shows" in said


def test_a_policy_set_around_the_launcher_is_kept_and_another_one_is_a_contradiction(
    vm: Machine, tidy: None
) -> None:
    kept = vm.run("strata launch --memory bind:1 -- strata launch -- pages").report()
    assert kept["pages"] == evenly([1], 4)
    done = vm.run("strata launch --memory bind:1 -- strata launch --memory interleave -- pages")
    assert (done.status, done.out) == (2, "")
    for words in ("contradicts", "--memory interleave", "--membind=1"):
        assert words in done.err


def test_a_memory_that_is_not_there_is_refused(vm: Machine) -> None:
    for option in ("bind:4", "interleave:0-4", "bind:os:9"):
        done = vm.run(f"strata launch --memory {option} -- pages")
        assert (done.status, done.out) == (2, "")
        assert "there is no such memory" in done.err
        assert "0-3" in done.err


def text_domains(report: dict[str, Any]) -> set[str]:
    return {domain for file in report["text"].values() for domain in file}


def test_text_is_brought_to_the_domain_that_runs_it_with_all_libraries(vm: Machine, tidy: None) -> None:
    # Written by CPU 6: the file's pages are in domain 3 until somebody moves them.
    vm.run("taskset -c 6 cp /bin/pages /tmp/program")
    as_is = vm.run("strata launch --bind 0 -- /tmp/program --text").report()
    assert set(as_is["text"]["/tmp/program"]) == {"3"}
    assert {"libc.so.6", "libgomp.so.1"} <= {path.rpartition("/")[2] for path in as_is["text"]}
    for cpu in (0, 5):
        moved = vm.run(f"strata launch --bind {cpu} --text local -- /tmp/program --text")
        assert text_domains(moved.report()) == {str(cpu // CPUS_PER_DOMAIN)}
        assert moved.err == ""
    dealt = vm.run("strata launch --layout 1x4 --stride 2 --text interleave -- /tmp/program --text").report()
    for path, counts in dealt["text"].items():
        assert set(counts) == {"0", "1", "2", "3"}, path
        assert max(counts.values()) - min(counts.values()) <= 1, path
    vm.run("rm /tmp/program")


def test_text_in_use_by_others_is_moved_by_root_alone_and_a_user_is_told(vm: Machine, tidy: None) -> None:
    launch = "strata launch --bind 0 --text local -- /tmp/program --text"
    done = vm.run(
        f"""
taskset -c 6 cp /bin/pages /tmp/program
/tmp/program --hold 60 >/dev/null &
sleep 1
su user -c '{launch}'
echo "$?" >&2
{launch}
kill $!
rm /tmp/program
"""
    )
    users, roots = (json.loads(line) for line in done.out.splitlines())
    assert set(users["text"]["/tmp/program"]) == {"3"}
    assert "text pages stayed where they were" in done.err
    assert "CAP_SYS_NICE" in done.err
    assert text_domains(roots) == {"0"}
