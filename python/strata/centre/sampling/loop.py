"""The sampler: a process that wakes, looks, writes and sleeps again, until it is told to end."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strata import own_folders
from strata.centre.sampling.look import Looker
from strata.centre.sampling.ring import Ring
from strata.errors import FAILED, StrataError
from strata.pidfd import signal_process

EVERY = 30.0
SIZE = 32 << 20
_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_GIVES_UP = 20  # looks at a job without a process, after which its sampler ends by itself


@dataclass(frozen=True)
class Sampling:
    """What the command line asked for."""

    folder: Path
    every: float = EVERY
    size: int = SIZE
    job: str | None = None
    host: str = ""
    user: int | None = None  # whose the job is, where Slurm has said it

    @property
    def node(self) -> str:
        return self.host or os.uname().nodename.partition(".")[0]


def steady(asked: Sampling, ended: Callable[[float], bool] | None = None) -> None:
    """Samples until it is told to end, and once more then. Of one job the first looks come after 1, 2, 4 ...
    seconds, so that short ones are seen too. `ended` waits for so many seconds or for the end.
    """
    ring = Ring(asked.folder, asked.node, asked.size, os.cpu_count() or 1)
    looker = Looker(only=asked.job, user=asked.user, node=asked.job is None)
    over = ended or _told
    pause = asked.every if asked.job is None else min(1.0, asked.every)
    missed = 0
    try:
        while True:
            samples = looker.look()
            if samples:
                ring.write(samples)
            missed = 0 if samples else missed + 1
            if over(pause) or missed > _GIVES_UP:
                break
            pause = min(2 * pause, asked.every)
        if last := looker.look():
            ring.write(last)
    finally:
        ring.close()


def _told(pause: float) -> bool:
    return signal.sigtimedwait(_ENDS, pause) is not None


def daemon(asked: Sampling) -> int:
    """Samples this node in the foreground, as service managers want it."""
    for line in Looker().empty():
        print(f"not counted here: {line}", file=sys.stderr)
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    print(f"samples every {asked.every:g} s: {asked.folder / asked.node}.ring", flush=True)
    steady(asked)
    return 0


# --- before and after a job


def _note(asked: Sampling) -> Path:
    return asked.folder / f".{asked.node}.{asked.job}.sampler"


def prolog(asked: Sampling) -> int:
    """Starts a sampler of one job, which outlives this process."""
    Ring(asked.folder, asked.node, asked.size, os.cpu_count() or 1).close()  # its errors are told here
    if os.fork():
        os.wait()
        return 0
    os.setsid()
    if os.fork():
        os._exit(0)
    try:
        _alone()
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
        note = own_folders.opened(_note(asked), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(note, f"{os.getpid()} {_born(os.getpid())}\n".encode())
        os.close(note)
        steady(asked)
    finally:
        _note(asked).unlink(missing_ok=True)
        os._exit(0)
    return 0


def _alone() -> None:
    """Nothing of the starter's is kept open: Slurm waits for whoever has its pipes."""
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.closerange(3, 256)


def epilog(asked: Sampling) -> int:
    """Ends the sampler of a job, after a last look."""
    note = _note(asked)
    try:
        own_folders.need(asked.folder, "notes of samplers", "--folder names a folder of your own")
        with open(own_folders.opened(note, os.O_RDONLY)) as file:  # noqa: PTH123 (a descriptor)
            pid, born = (int(word) for word in file.read().split())
    except (OSError, ValueError):
        raise StrataError(
            "no sampler of this job runs here",
            at=str(note),
            given=f"job {asked.job}",
            allowed="after `strata centre sample prolog` on this node",
            code=FAILED,
        ) from None
    if signal_process(pid, signal.SIGTERM, lambda: _born(pid) == born):
        end = time.monotonic() + 5
        while _born(pid) == born and time.monotonic() < end:
            time.sleep(0.02)
    note.unlink(missing_ok=True)
    return 0


def _born(pid: int) -> int:
    """When a process began, in ticks since the machine did; 0 where there is none, or only its remains."""
    try:
        cells = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if cells[0] in b"ZX" else int(cells[19])
