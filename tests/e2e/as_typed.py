"""The commands as a user types them, on the real programs, in folders of the test's own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from shared_memory import SHARED_MEMORY, new_and_nobodys

from strata.measure.lock import HostLock

ROOT = Path(__file__).resolve().parents[2]
TINY = Path(__file__).with_name("tiny.toml")
MARK = "STRATA_E2E_MARK"


@dataclass
class Strata:
    """Starts strata with results and temporary files in one folder, and can tell everything that it left
    behind.
    """

    home: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        self.results = self.home / "results with space"
        self.temporary = self.home / "tmp"
        self.temporary.mkdir()
        self._shared = {path.name for path in SHARED_MEMORY.iterdir()}

    @property
    def command(self) -> list[str]:
        """The built program where `./strata test` says which; else the entry of the checkout."""
        prefix = os.environ.get("STRATA_PREFIX")
        return [str(Path(prefix, "bin", "strata"))] if prefix else [str(ROOT / "strata")]

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMIX_"))}
        return {
            **kept,
            "STRATA_PYTHON": os.environ.get("STRATA_PYTHON", sys.executable),
            "STRATA_RESULTS": str(self.results),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(ROOT / "python"),
            MARK: self.mark,
        }

    def run(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *words],
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.command, *words],
            env=self.environment,
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def characterize(self, *words: str, case: Path = TINY) -> list[str]:
        """The words of a tiny characterization; --here, because a test may itself run on a login node."""
        return ["characterize", "--here", "--case", str(case), *words]

    def folders(self) -> list[Path]:
        return sorted(p.parent for p in self.results.glob("*/plan.json"))

    def processes(self) -> list[int]:
        """All living processes that descend from what this test started, wherever they hang now."""
        wanted = f"{MARK}={self.mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if wanted in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def left_behind(self, patience_s: float = 5.0) -> dict[str, list[str]]:
        """Processes, shared memory and temporary files that are still there; the launcher gets a moment to
        clean up.
        """
        deadline = time.monotonic() + patience_s
        while True:
            left = {
                "processes": [described(p) for p in self.processes()],
                "shared memory": sorted(new_and_nobodys(self._shared)),
                "temporary files": [str(p.relative_to(self.temporary)) for p in self.temporary.rglob("*")],
            }
            if not any(left.values()) or time.monotonic() > deadline:
                return left
            time.sleep(0.05)


def described(pid: int) -> str:
    """A process for the message of a test that fails: its number, state, parent and command line."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
        return f"{pid} {state[0]} below {state[1]}: {' '.join(words)}"
    return str(pid)


NOTHING: dict[str, list[str]] = {"processes": [], "shared memory": [], "temporary files": []}


# For claims that are not about disturbance: whatever else the machine does, every launch counts.
TOLERANT = Path(__file__).with_name("tolerant.toml").read_text()


def wait_for_the_lock(patience_s: float = 600.0) -> None:
    """Waits until a measurement that somebody else started on this host has ended."""
    lock = HostLock()
    deadline = time.monotonic() + patience_s
    while not lock.try_acquire():
        if time.monotonic() > deadline:
            pytest.skip(f"another strata measures here: {lock.holder()}")
        time.sleep(0.5)
    lock.release()
