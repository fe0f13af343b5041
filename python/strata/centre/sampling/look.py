"""What a node and the jobs on it have used: /proc, control groups, counters. Standard library only.

A process belongs to the job in whose control group it is (.../job_12): root has made that group, and nobody
leaves it. On a machine whose jobs have such groups, a process in none of them is in no job. Elsewhere it is
in the job whose number its environment has (SLURM_JOB_ID, PBS_JOBID), which any user can set; where it is
known whose the job is, other users' processes are not believed.

Of a job's processes the CPU time and I/O of children that have ended is counted by their parent when it waits
for them. So the sum over those that live is what the job used, but for orphans and for what ended between two
looks. Where the job has a control group, CPU, memory and, in version 2, I/O come from there, and nothing is
missed.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from strata.centre.sampling import perf
from strata.centre.sampling.ring import CPU, IO, JOB, MEMORY, NODE, OPERATIONS, TRAFFIC, Sample

_JOB = re.compile(rb"(?:^|\0)(?:SLURM_JOB_ID|PBS_JOBID)=([^\0.]{1,24})")
_SCRIPT = b"SLURM_SCRIPT_CONTEXT="  # a prolog or an epilog has the job's number, too
_GROUP = re.compile(r"^\d+:([^:]*):(/(?:.*?/)?job_(\d+))(?:/|$)", re.M)  # the outermost
_GROUPS = ("system.slice/*slurmstepd.scope", "unified/system.slice/*slurmstepd.scope", "*/slurm*")
# Jobs that an environment may name: anybody can make up thousands, whose records would take the place of all
# others. Those that were there at the last look come first.
_JOBS_PER_CORE = 4
_NOTHING: dict[str, Any] = {"cpu": 0.0, "read": 0, "written": 0, "operations": 0.0}
_PIECE, _ENVIRONMENT = 1 << 16, 16 << 20  # bytes that are read at a time, and of an environment
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_USER, _CHILD_SYSTEM, _RSS = 11, 14, 21  # places in /proc/PID/stat behind the name


@dataclass
class _Job:
    """What is known of a job between two looks."""

    groups: dict[str, Path] = field(default_factory=dict)  # cpu, memory, io: its control groups
    operations: perf.Counters | None = None


@dataclass
class Looker:
    """Looks at a node. `only`: one job alone, of `user` if that is known. `count`: the events of operations
    and of memory traffic, as the processor has them if None."""

    root: Path = Path("/")
    only: str | None = None
    user: int | None = None
    node: bool = True
    count: tuple[list[perf.Event], list[perf.Event]] | None = None

    def __post_init__(self) -> None:
        self.run = int(time.time())
        self.cores = os.cpu_count() or 1
        self._proc = str(self.root / "proc")
        self._control = self.root / "sys/fs/cgroup"
        self._known: dict[int, str | None] = {}
        self._count = 0
        self._grouped = False
        self._self = os.getpid()
        self._last: float | None = None
        self._jobs: dict[str, _Job] = {}
        operations, traffic = self.count or (perf.operations(self.root), perf.traffic(self.root))
        self._events = operations
        self.operations = perf.Counters(operations)
        self.traffic = perf.Counters(traffic)

    def empty(self) -> list[str]:
        """Which columns stay empty, and why."""
        found = []
        if not self.operations:
            found.append(f"floating-point operations: {self.operations.why}")
        if not self.traffic:
            found.append(f"memory traffic: {self.traffic.why}")
        return found

    def look(self) -> list[Sample]:
        """A sample of the node, and one of each job that has a process."""
        now = time.time()
        found = [self._node(now)] if self.node else []
        members = self._members()
        for gone in self._jobs.keys() - members.keys():
            if (counters := self._jobs.pop(gone).operations) is not None:
                counters.close()
        for job, pids in members.items():
            new = job not in self._jobs and self._last is not None
            sample = self._job(now, job, pids)
            if sample is None:
                continue
            if new:  # at the last look it had used nothing
                found.append(replace(sample, time=self._last, memory=0, **_NOTHING))
            found.append(sample)
        self._last = now
        return found

    def _members(self) -> dict[str, list[int]]:
        """The processes of each job. An environment is read once; a process may come into a group later."""
        pids = {int(name) for name in os.listdir(self._proc) if name.isdecimal()}  # noqa: PTH208
        self._count = len(pids)
        for gone in self._known.keys() - pids:
            del self._known[gone]
        groups = {pid: next((job for job, *_ in self._groups(pid)), None) for pid in pids - {self._self}}
        self._grouped = self._grouped or any(groups.values()) or self._has_groups()
        members: dict[str, list[int]] = {}
        for pid, job in groups.items():
            if not self._grouped:
                if pid not in self._known:
                    self._known[pid] = self._job_said(pid)
                job = self._known[pid]
            elif job is not None and self._is_slurms(pid):
                continue
            if job is not None and (self.only is None or job == self.only):
                members.setdefault(job, []).append(pid)
        if self._grouped or len(members) <= (most := _JOBS_PER_CORE * self.cores):
            return members
        kept = sorted(members, key=lambda job: (job not in self._jobs, min(members[job])))[:most]
        return {job: members[job] for job in kept}

    def _groups(self, pid: int) -> Iterator[tuple[str, str, Path]]:
        """The control groups of jobs in which a process is: job, controller, folder. Users may have groups of
        any name, too."""
        said, base = _bytes(f"{self._proc}/{pid}/cgroup"), self._control
        if b"/job_" not in said:  # as of most processes of a node, each of which is asked at each look
            return
        for line, path, job in _GROUP.findall(said.decode(errors="replace")):
            for kind in line.split(",") if line else ("",):
                folder = base / kind / path[1:] if kind else base / path[1:]
                if not kind and not folder.is_dir():
                    folder = base / "unified" / path[1:]
                if _of_root(folder):
                    yield job, kind, folder

    def _has_groups(self) -> bool:
        """Whether Slurm gives jobs control groups here, also while there is no job."""
        return any(_of_root(found) for pattern in _GROUPS for found in self._control.glob(pattern))

    def _user_of(self, pid: int) -> int | None:
        found = re.search(rb"^Uid:\s+(\d+)", _bytes(f"{self._proc}/{pid}/status"), re.M)
        return int(found.group(1)) if found else None

    def _is_slurms(self, pid: int) -> bool:
        """Slurm's own process in a step's group: not of the job."""
        name = _bytes(f"{self._proc}/{pid}/stat").partition(b" ")[2]
        return name.startswith(b"(slurmstepd)") and self._user_of(pid) == 0

    def _job_said(self, pid: int) -> str | None:
        words = _bytes(f"{self._proc}/{pid}/environ", _ENVIRONMENT)
        found = _JOB.search(words)
        if not found or _SCRIPT in words or (self.user is not None and self._user_of(pid) != self.user):
            return None
        return found.group(1).decode(errors="replace")

    def _job(self, now: float, job: str, pids: list[int]) -> Sample | None:
        cpu = memory = 0.0
        most, program = -1.0, ""
        count = 0
        for pid in pids:
            name, behind, stat = _bytes(f"{self._proc}/{pid}/stat").rpartition(b")")
            if not behind:
                continue
            cells = stat.split()
            own = sum(int(c) for c in cells[_USER : _CHILD_SYSTEM + 1])
            cpu += own
            memory += int(cells[_RSS])
            count += 1
            if own > most:
                most, program = own, name.partition(b"(")[2].decode(errors="replace")
        if not count:
            return None
        state = self._jobs.get(job)
        if state is None:
            state = self._jobs[job] = self._new(job, pids[0])
        groups, columns = state.groups, CPU | MEMORY
        used = _cpu_of(groups["cpu"]) if "cpu" in groups else None
        held = _memory_of(groups["memory"]) if "memory" in groups else None
        moved = _io_of(groups["io"]) if "io" in groups else None
        moved = moved if moved is not None else self._io(pids)
        operations = 0.0
        if state.operations:
            operations, columns = state.operations.total(), columns | OPERATIONS
        return Sample(
            now,
            JOB,
            columns | (IO if moved is not None else 0),
            job,
            program,
            self.cores,
            count,
            cpu / _TICK if used is None else used,
            int(memory * _PAGE) if held is None else held,
            *(moved or (0, 0)),
            operations,
            0.0,
            self.run,
        )

    def _new(self, job: str, pid: int) -> _Job:
        """Control groups and counters of a job that was not there before."""
        state = _Job()
        names = {"": ("cpu", "memory", "io", "perf"), "cpuacct": ("cpu",), "memory": ("memory",)}
        names["perf_event"] = ("perf",)
        for whose, kind, folder in self._groups(pid):
            if whose == job:
                state.groups.update(dict.fromkeys(names.get(kind, ()), folder))
        if self.operations and "perf" in state.groups:
            with contextlib.suppress(OSError):
                state.operations = perf.Counters(self._events, state.groups["perf"])
        return state

    def _io(self, pids: list[int]) -> tuple[int, int] | None:
        """Bytes that were read from and written to storage; None where /proc does not say it."""
        read = written = 0
        known = False
        for pid in pids:
            text = _bytes(f"{self._proc}/{pid}/io")
            if text:
                cells = dict(line.split(b": ") for line in text.splitlines())
                read += int(cells.get(b"read_bytes", 0))
                written += int(cells.get(b"write_bytes", 0))
                known = True
        return (read, written) if known else None

    def _node(self, now: float) -> Sample:
        first = _bytes(self.root / "proc/stat").partition(b"\n")[0].split()
        busy = sum(int(c) for k, c in enumerate(first[1:9]) if k not in (3, 4))  # less idle and iowait
        memory = dict(
            line.split(b":", 1) for line in _bytes(self.root / "proc/meminfo").splitlines() if b":" in line
        )
        kib = [int(memory.get(key, b"0").split()[0]) for key in (b"MemTotal", b"MemAvailable")]
        pages = dict(line.split(b" ", 1) for line in _bytes(self.root / "proc/vmstat").splitlines())
        columns = CPU | MEMORY | IO
        columns |= OPERATIONS if self.operations else 0
        columns |= TRAFFIC if self.traffic else 0
        return Sample(
            now,
            NODE,
            columns,
            "",
            "",
            self.cores,
            self._count,
            busy / _TICK,
            (kib[0] - kib[1]) << 10,
            int(pages.get(b"pgpgin", b"0")) << 10,
            int(pages.get(b"pgpgout", b"0")) << 10,
            self.operations.total() if self.operations else 0.0,
            self.traffic.total() if self.traffic else 0.0,
            self.run,
        )


def _bytes(path: str | Path, most: int = _PIECE) -> bytes:
    """A file of the kernel; nothing where it is gone or closed to this user."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = [os.read(file, _PIECE)]
        while len(parts[-1]) == _PIECE and len(parts) * _PIECE < most:
            parts.append(os.read(file, _PIECE))
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(file)


def _of_root(folder: Path) -> bool:
    """Whether it is there, and root's or this user's."""
    with contextlib.suppress(OSError):
        return folder.stat().st_uid in (0, os.getuid())
    return False


def _cpu_of(group: Path) -> float | None:
    text = _bytes(group / "cpuacct.usage")
    if text.strip().isdigit():
        return int(text) / 1e9
    found = re.search(rb"^usage_usec (\d+)", _bytes(group / "cpu.stat"), re.M)
    return int(found.group(1)) / 1e6 if found else None


def _memory_of(group: Path) -> int | None:
    for name in ("memory.current", "memory.usage_in_bytes"):
        text = _bytes(group / name).strip()
        if text.isdigit():
            return int(text)
    return None


def _io_of(group: Path) -> tuple[int, int] | None:
    text = _bytes(group / "io.stat")
    if not (group / "io.stat").exists():
        return None
    return tuple(  # type: ignore[return-value]
        sum(int(n) for n in re.findall(rb"\b" + key + rb"=(\d+)", text)) for key in (b"rbytes", b"wbytes")
    )
