"""Limits that the kernel enforces, with both versions of control groups: said clearly, then gone."""

from __future__ import annotations

import json
import re

import pytest
from machine import Machine

PAGES_A_MIB = 256


def wait_for_report(file: str) -> str:
    return f"until [ -s {file} ]; do sleep 0.1; done"


def allowed_of(pid: str) -> str:
    """Shell words that print the CPUs and memories of a process, a line each."""
    return f"sed -n 's/^[CM][pe][um]s_allowed_list:.//p' /proc/{pid}/status"


def test_a_program_beyond_its_limit_is_ended_and_told_which_limit(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run("strata launch --memory-limit 64MiB -- pages --mib 200")
    assert (done.status, done.out) == (128 + 9, "")
    for words in ("needed more memory than its limit", "--memory-limit 64 MiB", "in use at most"):
        assert words in done.err
    assert re.search(r"/sys/fs/cgroup/\S*strata-0-\d+-\d+", done.err)


def test_a_program_within_its_limit_runs(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run("strata launch --memory-limit 64MiB -- pages --mib 32")
    assert done.report()["pages"] == {"0": 32 * PAGES_A_MIB}
    assert done.err == ""


def test_a_limit_holds_for_all_processes_together_and_for_nobody_else(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run(
        f"""
pages --mib 200 --hold 60 >/tmp/other &
{wait_for_report("/tmp/other")}
strata launch --layout 4x1 --stride 2 --memory-limit 64MiB -- pages --mib 24 --hold 5
echo "status $?"
kill $! && echo "the other still ran"
rm /tmp/other
"""
    )
    assert "status 137" in done.out
    assert "the other still ran" in done.out
    assert "needed more memory than its limit" in done.err


def test_a_limit_below_what_any_program_needs_is_said_too(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run("strata launch --memory-limit 100KiB -- pages")
    assert (done.status, done.out) == (128 + 9, "")
    assert "--memory-limit 100 KiB" in done.err


def test_a_run_held_to_one_memory_is_told_when_that_is_full(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run("strata launch --exclusive --bind 2 --memory bind:1 -- pages --mib 500")
    assert (done.status, done.out) == (128 + 9, "")
    for words in ("memories that the program was held to were full", "memory P#1", "bind:LIST"):
        assert words in done.err


def test_an_exclusive_run_has_its_cores_and_memories(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run(
        f"""
strata launch --exclusive --layout 1x2 --bind 2-3 --memory bind:1 -- pages --hold 60 >/tmp/report &
{wait_for_report("/tmp/report")}
cat /tmp/report
PID=$(sed 's/.*"pid": \\([0-9]*\\).*/\\1/' /tmp/report)
{allowed_of("$PID")}
{allowed_of("self")}
echo /sys/fs/cgroup/strata-* /sys/fs/cgroup/cpuset/strata-* | tr ' ' '\\n' | grep -v '\\*'
strata launch --exclusive --bind os:3-4 --layout 1x2 -- true
echo "status $?"
kill $PID; wait; rm /tmp/report
{allowed_of("self")}
"""
    )
    report, cpus, mems, other_cpus, other_mems, group, second, *after = done.out.splitlines()
    assert json.loads(report)["pages"] == {"1": 4 * PAGES_A_MIB}
    assert (cpus, mems) == ("2", "1")
    # Version 2 takes the cores away from everybody else; version 1 keeps only other cpusets off them.
    assert other_cpus == ("0-1,4-7" if "/cpuset/" not in group else "0-7")
    assert other_mems == "0-3"
    assert second != "status 0"
    assert re.search("another cpuset holds some of these|may not use that PU", done.err)
    assert after == ["0-7", "0-3"]


def test_two_exclusive_runs_stand_beside_each_other(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run(
        f"""
strata launch --exclusive --memory-limit 64MiB --bind 0-1 --layout 1x2 -- pages --hold 60 >/tmp/report &
{wait_for_report("/tmp/report")}
taskset -p $$ >/dev/null
strata launch --exclusive --memory-limit 64MiB --bind os:6-7 --layout 2x1 --memory local -- pages
kill $(sed 's/.*"pid": \\([0-9]*\\).*/\\1/' /tmp/report); wait; rm /tmp/report
"""
    )
    assert [json.loads(line)["pages"] for line in done.out.splitlines()] == [{"3": 4 * PAGES_A_MIB}] * 2


@pytest.mark.parametrize("option", ["--memory-limit 64MiB", "--exclusive"])
def test_a_user_without_the_right_is_told_how_to_get_it(any_vm: Machine, tidy: None, option: str) -> None:
    done = any_vm.run(f"su user -c 'strata launch {option} -- pages'")
    assert (done.status, done.out) == (1, "")
    for words in ("not permitted here", "Permission denied", "systemd-run --user"):
        assert words in done.err


def test_a_user_with_a_group_of_his_own_may_set_limits_in_it(vm: Machine, tidy: None) -> None:
    done = vm.run(
        """
G=/sys/fs/cgroup/user
mkdir $G && echo '+memory +cpuset' >$G/cgroup.subtree_control && mkdir $G/shell
chown user $G $G/cgroup.procs $G/cgroup.subtree_control $G/shell $G/shell/cgroup.procs
sh -c "echo 0 >$G/shell/cgroup.procs
su user -c 'strata launch --memory-limit 32MiB -- pages --mib 64'"
echo "status $?"
ls -d $G/strata-* 2>/dev/null
rmdir $G/shell $G
"""
    )
    assert done.out == "status 137\n"
    assert "--memory-limit 32 MiB" in done.err


def test_what_a_killed_launcher_leaves_is_removed_at_once(any_vm: Machine, tidy: None) -> None:
    done = any_vm.run(
        f"""
strata launch --memory-limit 64MiB --exclusive --layout 2x1 -- pages --hold 60 >/tmp/report &
{wait_for_report("/tmp/report")}
ls -d /sys/fs/cgroup/strata-* /sys/fs/cgroup/*/strata-* 2>/dev/null | wc -l
kill -9 $!
wait
rm /tmp/report
"""
    )
    assert int(done.out) >= 1


def test_what_is_left_when_the_guardian_dies_too_is_removed_by_the_next_run(
    any_vm: Machine, tidy: None
) -> None:
    done = any_vm.run(
        f"""
strata launch --memory-limit 64MiB --exclusive -- pages --hold 60 >/tmp/report &
{wait_for_report("/tmp/report")}
guardian() {{ ps | sed -n 's/^ *\\([0-9]*\\) .*[s]trata: guardian.*/\\1/p'; }}
until [ -n "$(guardian)" ]; do sleep 0.1; done
kill -9 $(guardian) $!
wait
rm /tmp/report
count() {{ ls -d /sys/fs/cgroup/strata-* /sys/fs/cgroup/*/strata-* /dev/shm/strata-* 2>/dev/null | wc -l; }}
count
strata launch --memory-limit 64MiB -- true
count
"""
    )
    before, after = map(int, done.out.split())
    assert before >= 2
    assert after == 0
