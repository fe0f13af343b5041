"""What the kernel is asked for: namespaces and mounts. Python 3.11 has no names for these calls."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
NODE = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET  # what a node has of its own

_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def enter(descriptor: int, flags: int) -> None:
    """Joins namespaces of the process of a pidfd, and sees its root; a PID namespace is for children only.

    A namespace of mounts has a root of its own, which a process that lives in a chroot does not have.
    """
    root = os.open(f"/proc/{pid_of(descriptor)}/root", os.O_PATH | os.O_DIRECTORY)
    _check(_libc.setns(descriptor, flags), "setns")
    os.fchdir(root)
    os.chroot(".")
    os.close(root)


def pid_of(descriptor: int) -> int:
    """The number of a pidfd's process, as this process sees it."""
    about = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    return next(int(line[4:]) for line in about.splitlines() if line.startswith("Pid:"))


def sethostname(name: str) -> None:
    _check(_libc.sethostname(name.encode(), len(name)), "sethostname")


def mount(kind: str, at: str | Path, options: str = "") -> None:
    words = (kind.encode(), str(at).encode(), kind.encode())
    _check(_libc.mount(*words, ctypes.c_ulong(0), options.encode()), f"mount {kind} on {at}")


def bind(source: str | Path, at: str | Path) -> None:
    """The same files at another path."""
    words = (str(source).encode(), str(at).encode(), None)
    flags = ctypes.c_ulong(_MS_BIND | _MS_REC)
    _check(_libc.mount(*words, flags, None), f"mount --bind {source} {at}")


def unmount(at: str | Path) -> None:
    """At once, whoever uses it."""
    _libc.umount2(str(at).encode(), _MNT_DETACH)


def private_mounts() -> None:
    """What is mounted from here on is seen by nobody else."""
    flags = ctypes.c_ulong(_MS_REC | _MS_PRIVATE)
    _check(_libc.mount(None, b"/", None, flags, None), "mount --make-rprivate /")


def die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))


def adopt_orphans() -> None:
    """Descendants whose parents end become this process's children."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1))


def set_name(name: str) -> None:
    """As `ps` shows it."""
    _libc.prctl(_PR_SET_NAME, name.encode())


def map_user(inside_uid: int, inside_gid: int, uid: int, gid: int) -> None:
    """After unshare(NEWUSER): who this process is inside, and whom that is outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{inside_uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{inside_gid} {gid} 1")


def fork(child: Callable[[], object]) -> int:
    """A child that runs a function and ends; its exit status is 1 where that throws."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _end_with(child)
    return pid


def _end_with(child: Callable[[], object]) -> NoReturn:
    try:
        child()
    except BaseException as error:  # the parent's frames above are not this process's
        sys.stderr.write(f"strata cluster: {type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def start_time(pid: int) -> int:
    """In ticks since boot; tells a process from a later one of its number. 0: there is none, or it has ended
    and nobody has asked how.
    """
    try:
        about = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if about[0] == b"Z" else int(about[19])
