"""Running the launcher, and looking for what it may leave behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from shared_memory import SHARED_MEMORY, at_second_look, in_use, owner_lives


def allowed_cores() -> int:
    """Cores (not SMT siblings) that this process may use."""
    siblings: set[str] = set()
    for cpu in os.sched_getaffinity(0):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        siblings.add(topology.read_text() if topology.exists() else str(cpu))
    return len(siblings)


needs_two_cores = pytest.mark.skipif(allowed_cores() < 2, reason="needs two cores")


@dataclass
class Launcher:
    """`strata launch`, with the record of the last run and a word by which its processes are known."""

    binary: Path
    folder: Path
    token: str
    started: set[int] = field(default_factory=set)  # launchers, whether they live or not
    segments: set[Path] = field(default_factory=set)  # of the MPIs of what they launched (note_segments)

    def command(self, *options: str, program: list[str]) -> list[str]:
        return [str(self.binary), "launch", *options, "--", *program]

    def run(self, *options: str, program: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        seconds, told = more.pop("timeout", 60), more.pop("input", None)
        if told is not None:
            more["stdin"] = subprocess.PIPE
        process = self.start(
            *options, program=program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
        )
        with process:
            try:
                said, complained = process.communicate(told, timeout=seconds)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, said, complained)

    def start(self, *options: str, program: list[str], **more: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(self.command(*options, program=program), text=True, **more)
        self.started.add(process.pid)
        return process

    @property
    def record_file(self) -> Path:
        return self.folder / "record.json"

    def record(self) -> dict[str, Any]:
        return dict(json.loads(self.record_file.read_text()))

    def recorded(self, *options: str, program: list[str]) -> dict[str, Any]:
        done = self.run("--record", str(self.record_file), *options, program=program)
        assert self.record_file.exists(), done.stderr
        return self.record()

    def alive(self) -> list[int]:
        """Processes that carry this test's word among their arguments."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if self.token.encode() in words and int(entry.name) != os.getpid():
                found.append(int(entry.name))
        return found

    def running(self, program: str) -> list[int]:
        """Those of them that have become this program: a process that was just forked still has its parent's
        arguments.
        """
        found = []
        for pid in self.alive():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() == program:
                    found.append(pid)
        return found

    def note_segments(self) -> None:
        """Keeps which files in shared memory their MPIs have now; which of them are left is asked later."""
        for pid in self.alive():
            with contextlib.suppress(OSError):
                self.segments |= set(map(Path, SEGMENT.findall(Path(f"/proc/{pid}/maps").read_text())))

    def leftovers(self) -> set[str]:
        """What dead runs of this test left: scratch folders, cgroups, an MPI's segments that nobody has
        mapped. Others that run beside this test leave theirs for a moment, and those are no matter of it.
        """
        return at_second_look(
            lambda: (
                {str(path) for path in traces() if owner(path) in self.started and not owner_lives(path)}
                | {str(path) for path in self.segments if path.exists() and not in_use(path)}
            )
        )


# In the maps of a process.
SEGMENT = re.compile(r"/dev/shm/(?:mpich_sh|vader_segment\.|sm_segment\.)\S+")


def owner(path: Path) -> int:
    """The launcher whose trace this is: strata-UID-PID-STARTTIME[-LETTERS]."""
    return int(path.name.split("-")[2])


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether the condition came true in time; asked often, since tests wait for it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def traces() -> set[Path]:
    """Scratch folders and cgroups of runs, whether they live or not."""
    found = set(Path("/tmp").glob(f"strata-{os.getuid()}-*"))
    found |= set(SHARED_MEMORY.glob(f"strata-{os.getuid()}-*"))
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(",") if controllers else ["", "unified"]:
            group = Path(f"/sys/fs/cgroup/{name}{path}")
            for parent in (group, group.parent):
                found |= set(parent.glob(f"strata-{os.getuid()}-*"))
    return found
