"""Claims about samples: a file that survives, what is looked at, and rates with known answers."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from use_logs import SACCT, sacct

from strata import cli
from strata.centre.sampling import loop, perf, rates, ring
from strata.centre.sampling.look import Looker
from strata.centre.sampling.ring import CPU, IO, JOB, MEMORY, NODE, OPERATIONS, Ring, Sample, read
from strata.errors import StrataError

CPUS = os.cpu_count() or 1

BEGIN = 1767225600.0  # 2026-01-01
ROOT = Path(__file__).parents[3]


def node(minute: float, cpu: float = 0.0, **more: Any) -> Sample:
    return Sample(BEGIN + 60 * minute, NODE, CPU | MEMORY | IO, cpu=cpu, **more)


# --- the file


def test_samples_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = Ring(tmp_path, "n1", 8192, 16)
    job = Sample(BEGIN, JOB, 31, "12_3", "sixteen letters!", 16, 5, 1.5, 1 << 40, 7, 8, 9e15, 1e16, 77)
    made.write([node(0, 1.0), job])
    found = read(tmp_path / "n1.ring")
    assert (found.host, found.cores, found.torn) == ("n1", 16, 0)
    assert found.samples == [node(0, 1.0), job]


def test_the_newest_replace_the_oldest_and_the_file_does_not_grow(tmp_path: Path) -> None:
    made = Ring(tmp_path, "n1", 8192, 1)
    size = made.path.stat().st_size
    assert made.records == 32
    for i in range(100):
        made.write([node(i, float(i))])
    made.close()
    again = Ring(tmp_path, "n1", 1 << 20, 1)  # its size was decided when it was made
    again.write([node(100, 100.0)])
    assert [s.cpu for s in read(made.path).samples] == list(range(69, 101))
    assert made.path.stat().st_size == size


def test_samplers_share_a_nodes_file(tmp_path: Path) -> None:
    both = [Ring(tmp_path, "n1", 16384, 1) for _ in range(2)]
    for i in range(20):
        both[i % 2].write([node(i, float(i))])
    assert [s.cpu for s in read(both[0].path).samples] == list(range(20))


@pytest.mark.parametrize("hint", [0, 3, 1 << 60])
def test_torn_records_and_a_wrong_hint(tmp_path: Path, hint: int) -> None:
    """What a power cut may leave: a record that is half old, and a header's hint of any age."""
    made = Ring(tmp_path, "n1", 8192, 1)
    for i in range(40):
        made.write([node(i, float(i))])
    with made.path.open("r+b") as file:
        file.seek(ring.FIRST + 39 % 32 * ring.RECORD + 100)
        file.write(b"\x55" * 20)
        file.seek(128)
        file.write(hint.to_bytes(8, "little"))
    assert (read(made.path).torn, read(made.path).samples[-1].cpu) == (1, 38.0)
    Ring(tmp_path, "n1", 8192, 1).write([node(40, 40.0)])
    assert read(made.path).samples[-1].cpu == 40.0
    assert len({s.cpu for s in read(made.path).samples}) >= 31


def test_a_disk_that_was_full_when_the_file_was_made_is_no_end_of_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of its room was there, and no head: once no sampler of the node began again, also with space."""

    def full(file: int, _at: int, size: int) -> None:
        os.ftruncate(file, size // 2)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as short:
        short.setattr(ring.os, "posix_fallocate", full)
        with pytest.raises(StrataError, match="cannot write samples"):
            Ring(tmp_path, "n1", 1 << 20, 1)
    made = Ring(tmp_path, "n1", 1 << 20, 1)
    made.write([node(0, 1.0)])
    made.close()
    assert [s.cpu for s in read(tmp_path / "n1.ring").samples] == [1.0]
    assert made.path.stat().st_size == made.records * ring.RECORD + ring.FIRST


def test_what_is_no_file_of_samples_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "n1.ring"
    path.write_bytes(b"hello" * 2000)
    with pytest.raises(StrataError, match="not a file of samples"):
        read(path)
    with pytest.raises(StrataError, match="not a file of samples"):
        Ring(tmp_path, "n1", 8192, 1)
    made = Ring(tmp_path, "n2", 8192, 1)
    with made.path.open("r+b") as file:
        file.seek(8)
        file.write(b"\x09")
    with pytest.raises(StrataError, match="not a file of samples") as refused:
        read(made.path)
    assert refused.value.given == "a damaged header"
    with pytest.raises(StrataError, match="cannot write samples"):
        Ring(path, "n1", 8192, 1)


def test_names_in_samples_move_no_cursor_and_make_no_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job's program is named by its user, and a file of samples may be anybody's."""
    made = Ring(tmp_path, "n1", 8192, 16)
    made.write([Sample(BEGIN, JOB, 31, "12\x1b]", "a\x1b[2J\nb\x9b", 16, 5, 1.5, 1, 7, 8, 9.0, 1.0, 77)])
    made.close()
    assert cli.main(["centre", "sample", "show", "--folder", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert r"job 12\x1b] a\x1b[2J\nb\x9b: " in said
    assert all(c.isprintable() or c == "\n" for c in said) and len(said.splitlines()) == 3


@pytest.mark.parametrize("when", [float("nan"), float("-inf"), 1e300])
def test_samples_of_no_time_are_shown_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], when: float
) -> None:
    made = Ring(tmp_path, "n1", 8192, 16)
    made.write([Sample(when, NODE, CPU, cpu=1.0)])
    made.close()
    assert cli.main(["centre", "sample", "show", "--folder", str(tmp_path)]) == 0
    assert "1 sample since a time that never was" in capsys.readouterr().out


# --- what is looked at


def process(
    root: Path, pid: int, job: str, ticks: tuple[int, int, int, int], name: str = "a b) c", **io: int
) -> None:
    folder = root / f"proc/{pid}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "environ").write_bytes(b"HOME=/\0" + job.encode() + b"\0PATH=/bin\0")
    cells = ["S"] + ["0"] * 10 + [str(t) for t in ticks] + ["0"] * 6 + ["3"] + ["0"] * 20
    (folder / "stat").write_text(f"{pid} ({name}) " + " ".join(cells) + "\n")
    (folder / "io").write_text("".join(f"{k}: {v}\n" for k, v in io.items()))


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A /proc with a job of two processes, another job, and processes of none."""
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "stat").write_text("cpu  100 0 50 9000 7 3 2 1 0 0\ncpu0 1 2 3\n")
    (proc / "meminfo").write_text("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  600 kB\n")
    (proc / "vmstat").write_text("nr 1\npgpgin 10\npgpgout 20\n")
    process(tmp_path, 100, "SLURM_JOB_ID=12", (100, 20, 30, 50), read_bytes=1000, write_bytes=10)
    process(tmp_path, 101, "SLURM_JOB_ID=12", (300, 0, 0, 0), "solver", read_bytes=5, write_bytes=6)
    process(tmp_path, 200, "PBS_JOBID=7.server", (10, 0, 0, 0), "other", read_bytes=0, write_bytes=0)
    process(tmp_path, 300, "LANG=C", (999, 0, 0, 0))
    process(tmp_path, 301, "SLURM_SCRIPT_CONTEXT=prolog_slurmd\0SLURM_JOB_ID=12", (999, 0, 0, 0))
    return tmp_path


def test_a_node_and_its_jobs_by_their_processes(machine: Path) -> None:
    found = {s.job: s for s in Looker(root=machine).look()}
    tick = os.sysconf("SC_CLK_TCK")
    assert set(found) == {"", "12", "7"}
    assert (found[""].cpu, found[""].memory, found[""].read) == (156 / tick, 400 << 10, 10 << 10)
    job = found["12"]
    assert (job.cpu, job.processes, job.program) == (500 / tick, 2, "solver")
    assert (job.read, job.written) == (1005, 16)
    assert job.memory == 6 * os.sysconf("SC_PAGE_SIZE")
    assert not job.columns & OPERATIONS and job.columns == CPU | MEMORY | IO


def test_a_job_that_is_new_had_used_nothing_at_the_last_look(machine: Path) -> None:
    looker = Looker(root=machine, only="13", node=False)
    assert looker.look() == []
    process(machine, 400, "SLURM_JOB_ID=13", (50, 0, 0, 0), read_bytes=9, write_bytes=9)
    first, second = looker.look()
    assert (first.cpu, first.read, first.memory) == (0, 0, 0) and first.time < second.time
    assert second.cpu > 0 and [s.job for s in looker.look()] == ["13"]


@pytest.mark.parametrize(("version", "at"), [(1, ""), (2, ""), (2, "unified")])
def test_control_groups_know_more_than_processes(machine: Path, version: int, at: str) -> None:
    """Version 2 lies in a folder of its own where version 1 is mounted beside it."""
    base = machine / "sys/fs/cgroup" / at
    if version == 2:
        (machine / "proc/100/cgroup").write_text(
            "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n"
        )
        group = base / "system.slice/slurmstepd.scope/job_12"
        group.mkdir(parents=True)
        (group / "cpu.stat").write_text("usage_usec 7500000\nuser_usec 1\n")
        (group / "memory.current").write_text("123456\n")
        (group / "io.stat").write_text("8:0 rbytes=100 wbytes=7 rios=1\n9:0 rbytes=11 wbytes=2 rios=1\n")
    else:
        lines = "5:cpu,cpuacct:/slurm/uid_0/job_12/step_0\n4:memory:/slurm/uid_0/job_12/step_0\n0::/\n"
        (machine / "proc/100/cgroup").write_text(lines)
        for name, file, text in (
            ("cpuacct", "cpuacct.usage", "7500000000\n"),
            ("memory", "memory.usage_in_bytes", "123456\n"),
        ):
            group = base / name / "slurm/uid_0/job_12"
            group.mkdir(parents=True)
            (group / file).write_text(text)
    (machine / "proc/101/cgroup").write_text((machine / "proc/100/cgroup").read_text())
    (job,) = (s for s in Looker(root=machine).look() if s.job == "12")
    assert (job.cpu, job.memory) == (7.5, 123456)
    assert (job.read, job.written) == ((111, 9) if version == 2 else (1005, 16))


V2 = "system.slice/slurmstepd.scope"


def grouped(machine: Path, pid: int, path: str, owner: int | None = None) -> None:
    """A process in a control group, of which the job's part is somebody's."""
    (machine / f"proc/{pid}/cgroup").write_text(f"0::/{path}\n")
    folder = machine / "sys/fs/cgroup" / path
    folder.mkdir(parents=True, exist_ok=True)
    while owner is not None and folder.name != "cgroup":
        os.chown(folder, owner, -1)
        folder = folder.parent


def jobs_of(looker: Looker) -> dict[str, int]:
    return {s.job: s.processes for s in looker.look() if s.job}


def test_where_jobs_have_control_groups_nobody_says_which_job_he_is_in(machine: Path) -> None:
    looker = Looker(root=machine)
    assert jobs_of(looker) == {"12": 2, "7": 1}
    process(machine, 400, "SLURM_JOB_ID=7", (50, 0, 0, 0))  # of job 13, whatever it says
    grouped(machine, 400, f"{V2}/job_13/step_0/user/task_0")
    process(machine, 401, "LANG=C", (50, 0, 0, 0))
    grouped(machine, 401, f"{V2}/job_13/step_0/user/job_7")
    process(machine, 402, "LANG=C", (50, 0, 0, 0), "slurmstepd")
    (machine / "proc/402/status").write_text("Name:\tslurmstepd\nUid:\t0\t0\t0\t0\n")
    grouped(machine, 402, f"{V2}/job_13/step_0/slurm")
    process(machine, 403, "LANG=C", (50, 0, 0, 0), "slurmstepd")
    (machine / "proc/403/status").write_text("Name:\tslurmstepd\nUid:\t1000\t0\t0\t0\n")
    grouped(machine, 403, f"{V2}/job_13/step_0/user/task_0")
    assert jobs_of(looker) == {"13": 3}
    assert jobs_of(Looker(root=machine, only="12", node=False)) == {}


@pytest.mark.parametrize("place", [V2, f"unified/{V2}", "cpuset/slurm"])
def test_nor_before_the_first_job(machine: Path, place: str) -> None:
    (machine / "sys/fs/cgroup" / place).mkdir(parents=True)
    assert jobs_of(Looker(root=machine)) == {}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_users_own_control_group_is_no_job(machine: Path) -> None:
    process(machine, 400, "SLURM_JOB_ID=12", (50, 0, 0, 0))
    grouped(machine, 400, "user.slice/user-1000.slice/job_12", owner=1000)
    (machine / "proc/400/status").write_text("Name:\ta\nUid:\t1000\t1000\t1000\t1000\n")
    assert jobs_of(Looker(root=machine)) == {"12": 3, "7": 1}
    grouped(machine, 100, f"{V2}/job_12/step_0")
    assert jobs_of(Looker(root=machine)) == {"12": 1}


def test_without_control_groups_only_the_jobs_user_is_believed(machine: Path) -> None:
    for pid, user in ((100, 1000), (101, 1001)):
        (machine / f"proc/{pid}/status").write_text(f"Name:\ta\nUid:\t{user}\t0\t0\t0\n")
    assert jobs_of(Looker(root=machine, only="12", user=1000, node=False)) == {"12": 1}


def test_jobs_that_somebody_makes_up_take_no_others_place(machine: Path) -> None:
    looker = Looker(root=machine)
    looker.cores = 2
    assert set(jobs_of(looker)) == {"12", "7"}
    for pid in range(1, 60):
        process(machine, pid, f"SLURM_JOB_ID={9000 + pid}", (50, 0, 0, 0))
    found = jobs_of(looker)
    assert len(found) == 8 and found.keys() > {"12", "7"}
    grouped(machine, 100, f"{V2}/job_12/step_0")
    assert set(jobs_of(looker)) == {"12"}


def test_a_job_hides_behind_no_long_environment(machine: Path) -> None:
    process(machine, 400, "A=" + "a" * (3 << 20) + "\0SLURM_JOB_ID=13", (50, 0, 0, 0))
    assert set(jobs_of(Looker(root=machine))) == {"12", "7", "13"}


def test_slurm_says_to_the_prolog_whose_the_job_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[loop.Sampling] = []
    monkeypatch.setattr(loop, "prolog", lambda wanted: asked.append(wanted) or 0)
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    monkeypatch.setenv("SLURM_JOB_UID", "1000")
    for more in ([], ["--job", "13"]):
        assert cli.main(["centre", "sample", "prolog", "--folder", str(tmp_path), *more]) == 0
    assert [(each.job, each.user) for each in asked] == [("12", 1000), ("13", None)]


def test_columns_that_cannot_be_counted_are_named_with_the_reason(machine: Path) -> None:
    (machine / "proc/cpuinfo").write_text("vendor_id : Someone\n")
    first, second = Looker(root=machine).empty()
    assert first.startswith("floating-point operations: ") and second.startswith("memory traffic: ")


def test_events_of_processors_that_have_them(machine: Path) -> None:
    (machine / "proc/cpuinfo").write_text("vendor_id : GenuineIntel\n")
    assert {(e.config, e.worth) for e in perf.operations(machine)} == {
        (0x3C7, 1),
        (0x4C7, 2),
        (0x18C7, 4),
        (0x60C7, 8),
        (0x80C7, 16),
    }
    (machine / "proc/cpuinfo").write_text("vendor_id : AuthenticAMD\n")
    assert [e.config for e in perf.operations(machine)] == [0xF03]
    device = machine / "sys/bus/event_source/devices/uncore_imc_0"
    (device / "events").mkdir(parents=True)
    (device / "type").write_text("14\n")
    (device / "cpumask").write_text("0,28\n")
    for name, umask in (("read", 3), ("write", 12)):
        (device / f"events/cas_count_{name}").write_text(f"event=0x04,umask=0x{umask:02x}\n")
        (device / f"events/cas_count_{name}.scale").write_text("6.103515625e-5\n")
    found = perf.traffic(machine)
    assert [(e.type, e.config, e.worth, e.cpus) for e in found] == [
        (14, 0x304, 64, (0, 28)),
        (14, 0xC04, 64, (0, 28)),
    ]
    (device / "cpumask").write_text("0-3,28\n")  # a controller of each of four processors side by side
    assert {e.cpus for e in perf.traffic(machine)} == {(0, 1, 2, 3, 28)}
    (device / "cpumask").write_text("3-0\n")
    assert perf.traffic(machine) == []


def test_counters_count(machine: Path) -> None:
    """By an event that each kernel has, the CPU clock in nanoseconds, in place of one of the hardware."""
    clock = [perf.Event(1, 0)]
    counters = perf.Counters(clock)
    if not counters:
        pytest.skip(f"perf_event_open: {counters.why}")
    outer = time.monotonic()
    before = counters.total()
    inner = time.monotonic()
    while counters.total() == before:
        pass
    inside = time.monotonic() - inner
    counted = counters.total() - before
    around = time.monotonic() - outer
    assert 0.5e9 * inside * CPUS <= counted <= 1.1e9 * around * CPUS, "on each CPU between the two looks"
    counters.close()
    sample = Looker(root=machine, count=(clock, clock)).look()[0]
    assert sample.columns & OPERATIONS and sample.traffic >= 0


# --- rates


def test_half_hours_and_the_mean_of_seven_days(tmp_path: Path) -> None:
    """Two nodes of 8 processors: n1 has 2 busy for a day and 6 for the next, n2 always 1."""
    for host, levels in (("n1", (2, 6)), ("n2", (1, 1))):
        made, used, samples = Ring(tmp_path, host, 1 << 20, 8), 0.0, [node(0)]
        for k, busy in enumerate(levels):
            for i in range(96):  # each quarter of an hour
                used += busy * 900
                samples.append(node(k * 1440 + 15 * (i + 1), used))
        made.write(samples)
    found = rates.sampled(tmp_path)
    cpu = found.series["cpu"]
    assert (found.nodes, found.cores, found.covered) == (2, 16, 1.0)
    assert len(cpu.rate) == 96 and list(cpu.rate[:48]) == [3.0] * 48 and list(cpu.rate[48:]) == [7.0] * 48
    assert cpu.week == pytest.approx([5.0] * 96)
    assert found.empty == ["Gflop/s", "memory traffic, GB/s"]


def test_a_gap_is_not_zero(tmp_path: Path) -> None:
    made = Ring(tmp_path, "n1", 1 << 20, 8)
    made.write([node(m, 60.0 * m) for m in range(31)] + [node(90 + m, 60.0 * (90 + m)) for m in range(31)])
    found = rates.sampled(tmp_path)
    assert list(np.isnan(found.series["cpu"].rate)) == [False, True, True, False]
    assert found.covered == pytest.approx(0.5) and found.series["cpu"].rate[0] == 1.0


def test_programs_and_jobs(tmp_path: Path) -> None:
    """Without samples of the node the machine's rate is that of its jobs; a sum that falls is no rate."""
    made = Ring(tmp_path, "n1", 1 << 20, 8)

    def job(minute: int, name: str, program: str, cpu: float, operations: float) -> Sample:
        return Sample(
            BEGIN + 60 * minute,
            JOB,
            CPU | MEMORY | OPERATIONS,
            name,
            program,
            8,
            1,
            cpu,
            1 << 30,
            0,
            0,
            operations,
        )

    made.write(
        [
            s
            for m in range(31)
            for s in (
                job(m, "1", "cfd", 240.0 * m, 6e10 * m),
                job(m, "2", "md", 60.0 * m if m != 20 else 0.0, 6e9 * m),
            )
        ]
    )
    found = rates.sampled(tmp_path)
    cfd, md = found.programs
    assert (cfd.name, cfd.jobs, cfd.hours, cfd.busy) == ("cfd", 1, pytest.approx(0.5), pytest.approx(4))
    assert cfd.rate == pytest.approx(1e9) and md.rate == pytest.approx(1e8) and cfd.memory == 1 << 30
    assert cfd.read is None  # its column is empty
    assert found.series["operations"].rate[0] == pytest.approx(1.1)  # Gflop/s of the machine
    assert md.cpu_hours == pytest.approx((29 + 20) / 60)  # a minute lost, and what was there before once more
    assert [name for name, *_ in found.by_program] == ["cfd", "md"]


def test_nodes_that_are_sampled_at_different_times_add_up(tmp_path: Path) -> None:
    """n1 in the first ten minutes of a half hour, n2 in the last: each with two processors busy."""
    for host, first in (("n1", 0), ("n2", 20)):
        made = Ring(tmp_path, host, 1 << 20, 8)
        made.write([node(first + m, 120.0 * m) for m in range(11)])
    found = rates.sampled(tmp_path)
    assert list(found.series["cpu"].rate) == [pytest.approx(4.0)] and found.covered == pytest.approx(1 / 3)


def test_copies_of_a_nodes_file_count_once(tmp_path: Path) -> None:
    made = Ring(tmp_path / "a", "n1", 1 << 20, 8)
    made.write([node(m, 60.0 * m) for m in range(16)])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "n1.ring").write_bytes(made.path.read_bytes())
    made.write([node(m, 60.0 * m) for m in range(16, 31)])
    found = rates.sampled(tmp_path)
    assert (found.nodes, found.cores, found.covered) == (1, 8, 1.0)
    assert list(found.series["cpu"].rate) == [pytest.approx(1.0)]


def test_nodes_that_begin_earlier_and_end_later_add_up(tmp_path: Path) -> None:
    for host, first, last in (("n1", 60, 120), ("n2", 0, 90), ("n3", 90, 180)):
        made = Ring(tmp_path, host, 1 << 20, 8)
        made.write([node(m, 60.0 * m) for m in range(first, last + 1)])
    assert list(rates.sampled(tmp_path).series["cpu"].rate) == pytest.approx([1, 1, 2, 2, 1, 1])


def test_sums_of_two_samplers_and_torn_records_make_no_rate(tmp_path: Path) -> None:
    """A sampler that was started again begins its sums anew; a record that was torn says nothing."""
    made = Ring(tmp_path, "n1", 1 << 20, 8)
    made.write([node(m, 60.0 * m, operations=1e12 * m, run=1) for m in range(11)])
    made.write([node(m, 60.0 * m, operations=1e15, run=2) for m in range(11, 31)])
    with made.path.open("r+b") as file:
        file.seek(ring.FIRST + 5 * ring.RECORD + 64)
        file.write(np.float64(1e9).tobytes())  # CPU time of the sixth record
    found = rates.sampled(tmp_path)
    assert found.said[0].startswith("1 record is damaged")
    assert list(found.series["cpu"].rate) == [pytest.approx(1.0)]
    assert found.covered == pytest.approx(29 / 30)  # not between the two samplers


COLLECTED = """\
time,seconds,node,job,program,cores,cpu,flops,traffic,memory
2026-01-01T00:30:00Z,1800,n1,,,64,32,1.5e11,2e9,1000
2026-01-01T00:30:00Z,1800,n2,,,64,16,0.5e11,,500
2026-01-01T00:30:00Z,900,n1,7,cfd,64,20,1e11,,300
"""


def test_samples_of_another_collector(tmp_path: Path) -> None:
    path = tmp_path / "ldms.csv"
    path.write_text(COLLECTED)
    found = rates.sampled(tmp_path)
    assert (found.nodes, found.cores, found.covered) == (2, 128, 1.0)
    assert {name: list(s.rate) for name, s in found.series.items()} == {
        "operations": [pytest.approx(200)],
        "traffic": [pytest.approx(2)],
        "cpu": [pytest.approx(48)],
    }
    (cfd,) = found.programs
    assert (cfd.name, cfd.hours, cfd.rate, cfd.read, cfd.memory) == (
        "cfd",
        0.25,
        pytest.approx(1e11),
        None,
        300,
    )
    assert list(found.by_program[0][2].rate) == [pytest.approx(50)]  # half of the half hour
    assert found.empty == ["read, MB/s", "written, MB/s"]


@pytest.mark.parametrize(
    ("old", "new", "message", "at"),
    [
        ("2026-01-01T00:30:00Z,900", "noon,900", "not a time", "row 4, column time"),
        (",1800,n2", ",0,n2", "not a stretch of time", "row 3, column seconds"),
        (",16,0.5e11", ",-16,0.5e11", "not a number of 0 or more", "row 3, column cpu"),
        ("time,seconds", "when,seconds", "not a table of samples", "row 1"),
    ],
)
def test_damaged_samples_of_another_collector(
    tmp_path: Path, old: str, new: str, message: str, at: str
) -> None:
    (tmp_path / "a.csv").write_text(COLLECTED.replace(old, new))
    with pytest.raises(StrataError, match=message) as refused:
        rates.sampled(tmp_path)
    assert str(refused.value.at).endswith(at)


def test_the_report_shows_samples_beside_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.txt").write_text(
        SACCT + sacct("1", "01-01T00:00:00", "01-01T00:00:00", "01-02T00:00:00", 8)
    )
    made = Ring(tmp_path / "samples", "n1", 1 << 20, 8)
    made.write([node(15 * i, 7200.0 * i) for i in range(97)])
    made.write([Sample(BEGIN + 900 * i, JOB, CPU, "1", "cfd", 8, 1, 3600.0 * i) for i in range(97)])
    assert cli.main(["centre", "use", "jobs.txt", "--samples", "samples"]) == 0
    assert "not in the samples: Gflop/s; memory traffic, GB/s" in capsys.readouterr().out
    page = (tmp_path / "jobs-use" / "report.html").read_text()
    assert (
        "Sustained over time: processors busy" in page and "cfd" in page and "Columns that are empty" in page
    )
    sampled = json.loads((tmp_path / "jobs-use" / "use.json").read_text())["sampled"]
    assert sampled["series"]["cpu"]["rate"][0] == 8.0 and sampled["programs"][0]["busy"] == 4.0
    (job,) = sampled["jobs"]  # of its 8 processors 4 were busy
    assert (job["processors"], job["busy_percent"]) == (8, pytest.approx(50))
    assert cli.main(["centre", "use", "jobs.txt", "--samples", "samples", "--anonymise", "--json"]) == 0
    hidden = capsys.readouterr().out
    assert "cfd" not in hidden and "more CPU time" not in hidden
    narrow = sacct("1", "01-01T00:00:00", "01-01T00:00:00", "01-02T00:00:00", 2)
    (tmp_path / "jobs.txt").write_text(SACCT + narrow)
    assert cli.main(["centre", "use", "jobs.txt", "--samples", "samples"]) == 0
    assert "note: 1 sampled job used more CPU time than the log's processors have (up to 200 %)" in (
        capsys.readouterr().out
    )


# --- the programs


def sample(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "SLURMD_NODENAME": "n1", **more}
    environment["SLURM_SCRIPT_CONTEXT"] = "prolog_slurmd"  # as Slurm tells its scripts
    return subprocess.run(
        [sys.executable, "-m", "strata", "centre", "sample", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """A command that took longer than a second says so, and that is none."""
    return [line for line in done.stderr.splitlines() if not line.startswith("in all ")]


def wait_for(what: Any, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def count(path: Path) -> int:
    """Samples of the node; other jobs of this machine may be sampled, too."""
    if not path.exists() or path.stat().st_size <= ring.FIRST or path.read_bytes()[:8] != ring.MAGIC:
        return 0
    return sum(s.kind == NODE for s in read(path).samples)


def test_samples_survive_sigkill(tmp_path: Path) -> None:
    path = tmp_path / f"{os.uname().nodename.partition('.')[0]}.ring"
    words = [sys.executable, "-m", "strata", "centre", "sample", "daemon", "--folder", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    environment.pop("SLURMD_NODENAME", None)
    with subprocess.Popen(
        [*words, "--interval", "0.1s", "--size", "64KiB"], env=environment, stdout=subprocess.DEVNULL
    ) as started:
        try:
            assert wait_for(lambda: count(path) >= 2)
        finally:
            started.kill()
    found = read(path)
    times = [s.time for s in found.samples if s.kind == NODE]
    assert found.torn == 0 and len(times) >= 2 and times == sorted(set(times))


def test_prolog_and_epilog(tmp_path: Path) -> None:
    """The prolog returns, its sampler sees the job's processes, and the epilog ends it."""
    job, path = str(os.getpid()), tmp_path / "n1.ring"
    started = sample("prolog", "--folder", str(tmp_path), "--interval", "0.2s", SLURM_JOB_ID=job)
    assert started.returncode == 0 and complaints(started) == []
    note = tmp_path / f".n1.{job}.sampler"
    assert wait_for(note.exists)
    pid = int(note.read_text().split()[0])
    work = [sys.executable, "-c", "import time\nwhile time.process_time() < 1: pass"]
    subprocess.run(work, env={**os.environ, "SLURM_JOB_ID": job}, check=True)
    done = sample("epilog", "--folder", str(tmp_path), SLURM_JOB_ID=job)
    assert done.returncode == 0 and complaints(done) == []
    assert not note.exists() and wait_for(lambda: not Path(f"/proc/{pid}").exists())
    found = read(path).samples
    assert {s.job for s in found} == {job} and {s.kind for s in found} == {JOB}
    assert found[0].cpu == 0 and max(s.cpu for s in found) > 0.2
    said = sample("show", str(tmp_path)).stdout
    assert f"job {job} python" in said and "not counted here:" in said


def test_prolog_and_epilog_never_fail_a_job(tmp_path: Path) -> None:
    """Slurm takes a node out of service whose prolog fails."""
    (tmp_path / "file").write_text("")
    for words in (
        ["prolog", "--folder", f"{tmp_path}/file"],
        ["epilog", "--folder", str(tmp_path)],
        ["prolog"],
    ):
        done = sample(*words, SLURM_JOB_ID="12")
        assert done.returncode == 0 and "strata: error" in done.stderr, words
    done = sample("daemon", "--folder", f"{tmp_path}/file")
    assert done.returncode == 1 and "cannot write samples" in done.stderr
    done = sample("daemon", "--folder", str(tmp_path), "--size", "12 apples")
    assert done.returncode == 2 and "not a size" in done.stderr


def test_an_epilog_ends_no_other_process_that_has_the_number(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        (tmp_path / ".n1.5.sampler").write_text(f"{other.pid} 1\n")
        assert sample("epilog", "--folder", str(tmp_path), "--job", "5").returncode == 0
        assert other.poll() is None
        other.send_signal(signal.SIGTERM)


def test_nor_one_that_gets_the_number_after_the_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sampler ends between look and signal: what has its number then is another process."""
    with subprocess.Popen(["sleep", "60"]) as sampler:
        born = loop._born(sampler.pid)
        (tmp_path / ".n1.5.sampler").write_text(f"{sampler.pid} {born}\n")

        def looked(pid: int) -> int:
            if sampler.poll() is None:
                sampler.kill()
                sampler.wait()
                monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a signal by the number"))
            return born

        monkeypatch.setattr(loop, "_born", looked)
        assert loop.epilog(loop.Sampling(tmp_path, job="5", host="n1")) == 0


def test_the_sampler_imports_no_library(tmp_path: Path) -> None:
    """It stays small and starts fast: none of pandas, NumPy, SciPy, Matplotlib."""
    code = (
        "import sys; sys.argv=['strata']; from strata.centre.sampling import command; "
        "print([m for m in ('numpy', 'pandas', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
