"""Running the launcher, and looking for what it may leave behind."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
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

    def command(self, *options: str, program: list[str]) -> list[str]:
        return [str(self.binary), "launch", *options, "--", *program]

    def run(self, *options: str, program: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        more.setdefault("timeout", 60)
        return subprocess.run(
            self.command(*options, program=program), capture_output=True, text=True, check=False, **more
        )

    def start(self, *options: str, program: list[str], **more: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command(*options, program=program), text=True, **more)

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


def wait_until(condition: Callable[[], bool], seconds: float = 15) -> bool:
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


def leftovers() -> set[str]:
    """What dead runs left: scratch folders, cgroups, an MPI's segments that nobody has mapped."""
    return at_second_look(_left)


def _left() -> set[str]:
    found = {str(path) for path in traces() if not owner_lives(path)}
    for pattern in ("mpich_sh*_*", "vader_segment.*", "sm_segment.*"):
        for path in SHARED_MEMORY.glob(pattern):
            with contextlib.suppress(OSError):
                if path.stat().st_uid == os.getuid() and not in_use(path):
                    found.add(str(path))
    return found
