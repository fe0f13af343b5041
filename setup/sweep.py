"""sweep.py PID FOLDER: waits for the end of `./strata test`, the process PID, however it ended, and ends what
it left: processes that carry STRATA_TEST_RUN=FOLDER in their environment (a cluster, a virtual machine,
programs under test), segments that an MPI that was killed left in /dev/shm, there or in a folder of
tests/conftest.py, and FOLDER itself. It runs in a session of its own, so that what kills a test run, its
whole process group included, leaves it to do this.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import time
from pathlib import Path

SEGMENTS = ("sm_segment*", "vader_segment*")
FOLDERS = "strata_tests.*"  # ends with the number of the process that made it
PATIENCE_S = 20.0


def wait_for_end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        end = os.pidfd_open(pid)
        select.select([end], [], [])
        os.close(end)


def marked(mark: bytes) -> list[int]:
    """All processes that descend from the test run, wherever they hang now."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def end_processes(mark: bytes) -> int:
    """How many there were. Again and again, as one of them may start another meanwhile."""
    ended: set[int] = set()
    deadline = time.monotonic() + PATIENCE_S
    while (left := marked(mark)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended.update(left)
        time.sleep(0.05)
    return len(ended)


def in_use() -> set[str]:
    """Paths in /dev/shm that some process has mapped."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for line in (entry / "maps").read_text(errors="replace").splitlines():
                if "/dev/shm/" in line:
                    found.add(line[line.index("/dev/shm/") :])
    return found


def remove_segments(since: float) -> None:
    """Of ours, made during the run, and mapped by nobody."""
    there = [path for pattern in SEGMENTS for path in Path("/dev/shm").glob(pattern)]
    # Asked afterwards: what another program makes meanwhile is not among those.
    used = in_use()
    for path in there:
        with contextlib.suppress(OSError):
            about = path.lstat()
            if about.st_uid == os.getuid() and about.st_mtime >= since and str(path) not in used:
                path.unlink()
    for path in Path("/dev/shm").glob(FOLDERS):
        with contextlib.suppress(OSError):
            ours = path.lstat().st_uid == os.getuid()  # of another user's tests nothing is removed
            if ours and not Path("/proc", path.suffix.removeprefix(".")).exists():
                shutil.rmtree(path, ignore_errors=True)


def main(pid: int, folder: Path) -> None:
    since = folder.stat().st_mtime  # when it was made, before anything was started
    wait_for_end(pid)
    ended = end_processes(f"STRATA_TEST_RUN={folder}".encode())
    remove_segments(since)
    if ended:
        print(f"strata: the tests left {ended} processes, which were ended", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
