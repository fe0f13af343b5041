"""sweep.py PID FOLDER: waits for the end of `./strata test`, the process PID, however it ended, and ends what
it left: processes that carry STRATA_TEST_RUN=FOLDER in their environment (a cluster, a virtual machine,
programs under test), segments that an MPI that was killed left in /dev/shm, there or in a folder of
tests/conftest.py, and FOLDER itself. It runs in a session of its own, so that what kills a test run, its
whole process group included, leaves it to do this.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import stat
import sys
import time
from pathlib import Path

SEGMENTS = ("sm_segment*", "vader_segment*")
FOLDERS = "strata_segments.*"
PATIENCE_S = 20.0


def wait_for_end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        end = os.pidfd_open(pid)
        select.select([end], [], [])
        os.close(end)


def carries(pid: int, mark: bytes) -> bool:
    with contextlib.suppress(OSError):
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False


def marked(mark: bytes) -> list[int]:
    """All processes that descend from the test run, wherever they hang now."""
    return [pid for pid in (int(entry.name) for entry in Path("/proc").glob("[0-9]*")) if carries(pid, mark)]


def end(pid: int, mark: bytes) -> None:
    """The process that has this number and the mark: by its pidfd, as the number may be another's by now."""
    process = os.pidfd_open(pid)
    try:
        if carries(pid, mark):
            signal.pidfd_send_signal(process, signal.SIGKILL)
    finally:
        os.close(process)


def end_processes(mark: bytes) -> int:
    """How many there were. Again and again, as one of them may start another meanwhile."""
    ended: set[int] = set()
    deadline = time.monotonic() + PATIENCE_S
    while (left := marked(mark)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(pid, mark)
        ended.update(left)
        time.sleep(0.05)
    return len(ended)


def remove_unused(path: Path, since: float) -> None:
    """A file of ours that was made during the run, where nobody has it open or mapped. That is asked of the
    file, by a lease, which the kernel grants only to its one opener: /proc does not show the processes of
    other containers, which may share /dev/shm.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid() or about.st_mtime < since:
            return
        fcntl.fcntl(
            file, fcntl.F_SETSIG, signal.SIGURG
        )  # whoever opens it now sends this; SIGIO would end us
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        path.unlink()
    finally:
        os.close(file)


def remove_dead(path: Path) -> None:
    """A folder of tests/conftest.py that nobody holds the lock of, as its test run does."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(folder).st_uid == os.getuid():  # of another user's tests nothing is removed
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(folder)


def remove_segments(since: float) -> None:
    for pattern in SEGMENTS:
        for path in Path("/dev/shm").glob(pattern):
            with contextlib.suppress(OSError):
                remove_unused(path, since)
    for path in Path("/dev/shm").glob(FOLDERS):
        with contextlib.suppress(OSError):
            remove_dead(path)


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
