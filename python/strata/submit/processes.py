"""The processes of a program, as /proc shows them: which, their open files, the cores of their threads."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from strata.pidfd import signal_process


def below(root: int) -> list[int]:
    """A process and all that descend from it."""
    found = [root]
    for pid in found:
        found += children(pid)
    return found


def children(pid: int) -> list[int]:
    """Of all threads of a process; none where it has ended."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def signal_below(root: int, number: signal.Signals) -> None:
    """Sends a signal to a child of this process and to all that descend from it; this process adopts those
    whose parents end meanwhile (system.adopt_orphans()).
    """
    for pid in below(root):
        signal_process(pid, number, lambda pid=pid: _descends(pid))


def _descends(pid: int) -> bool:
    """Whether a process descends from this one."""
    with contextlib.suppress(OSError):
        while pid > 0:
            pid = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
            if pid == os.getpid():
                return True
    return False


def name(pid: int) -> str:
    """As `ps` shows it; its number where it has ended."""
    try:
        return f"{Path(f'/proc/{pid}/comm').read_text(errors='replace').strip()} ({pid})"
    except OSError:
        return str(pid)


def written(pids: Iterable[int]) -> dict[str, int]:
    """Regular files that are open for writing, with their sizes in bytes; not those that were deleted."""
    found = {}
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                about, path = descriptor.stat(), str(descriptor.readlink())
                information = Path(f"/proc/{pid}/fdinfo/{descriptor.name}").read_text()
            except FileNotFoundError:
                continue  # closed meanwhile
            flags = int(information.split("flags:", 1)[1].split()[0], 8)
            if stat.S_ISREG(about.st_mode) and about.st_nlink and flags & os.O_ACCMODE:
                found[path] = about.st_size
    return found


def threads(pids: Iterable[int]) -> dict[str, list[int]]:
    """The CPUs that each thread may use."""
    return {
        thread.name: sorted(os.sched_getaffinity(int(thread.name)))
        for pid in pids
        for thread in Path(f"/proc/{pid}/task").iterdir()
    }


def bind(bound: Mapping[str, list[int]], then: list[int], now: list[int]) -> None:
    """Each thread to the CPUs of this job that stand where its own did among those of the job that was.

    CRIU does not restore this: all threads may use what CRIU itself may.
    """
    place = {cpu: now[index % len(now)] for index, cpu in enumerate(then)}
    for thread, cpus in bound.items():
        with contextlib.suppress(ProcessLookupError):  # a thread may have ended since
            os.sched_setaffinity(int(thread), {place[cpu] for cpu in cpus if cpu in place} or set(now))
