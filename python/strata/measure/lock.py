"""One measured program at a time on a host, across all Strata processes and users.

The lock is a bound abstract Unix socket: the kernel frees it when its last holder dies, whatever killed it;
it leaves no file behind, needs no permission shared between users, and SO_PEERCRED names the holder.
(Containers with a network of their own do not see each other's lock; what they do to each other is caught as
taint.)
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from strata.peer import command_line, process_and_user
from strata.scripts import visible

HOST_LOCK = "strata-measure"
_POLL_S = 0.5
_ASK_EVERY = 40  # polls between two looks at who holds it
_PATIENCE_S = 600.0  # with a holder of another user, whom this one cannot end
_BACKLOG = 1024  # nobody accepts: each look stays in the queue, and a full queue only costs the name


class HostLock:
    """Held while measuring.

    fileno() is passed on to the launcher, so that the lock outlives a killed Python until its programs are
    gone.
    """

    def __init__(self, name: str = HOST_LOCK) -> None:
        self._address = "\0" + name
        self._socket: socket.socket | None = None

    def try_acquire(self) -> bool:
        candidate = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            candidate.bind(self._address)
        except OSError as error:
            candidate.close()
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        candidate.listen(_BACKLOG)
        self._socket = candidate
        return True

    def acquire(self, waiting: Callable[[str], None], patience_s: float = _PATIENCE_S) -> None:
        """Waits without end for this user's own measurements, and `patience_s` for those of others: then this
        one goes on beside them, and what they do to it is caught as taint. waiting(text) is called once with
        who holds the lock, when the holder changes, and when this one goes on without the lock.
        """
        told: tuple[int, int] | None = None
        since = time.monotonic()
        polls = 0
        while not self.try_acquire():
            if polls % _ASK_EVERY == 0 and (holder := self._holder()) != told:
                text = self._described(holder)
                waiting(f"waiting: another strata measures here ({text}); one at a time, Ctrl-C gives up")
                told = holder
            polls += 1
            if time.monotonic() - since > patience_s and (told is None or told[1] != os.getuid()):
                text = self._described(told)
                waiting(
                    f"going on beside another measurement ({text}), which has lasted {patience_s / 60:g} min:"
                    " what it disturbs is marked"
                )
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                return
            time.sleep(_POLL_S)

    def holder(self) -> str:
        """Who holds the lock, as far as this user may see it."""
        return self._described(self._holder())

    def _holder(self) -> tuple[int, int] | None:
        """Numbers of its process and its user."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(0.2)
            try:
                probe.connect(self._address)
                return process_and_user(probe)
            except OSError:
                return None

    @staticmethod
    def _described(holder: tuple[int, int] | None) -> str:
        if holder is None:
            return "process unknown"
        pid, uid = holder
        try:
            words = command_line(Path("/proc", str(pid)))
            command = " ".join(words[:6]).strip()
        except OSError:
            command = ""
        return f"pid {pid}, user {uid}" + (f": {visible(command[:80])}" if command else "")

    def fileno(self) -> int:
        assert self._socket is not None
        return self._socket.fileno()

    @contextmanager
    def held(self, waiting: Callable[[str], None]) -> Iterator[HostLock]:
        """The lock, held; see acquire()."""
        self.acquire(waiting)
        try:
            yield self
        finally:
            self.release()

    def release(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
