"""One measured program at a time on a host, across all Strata processes and users.

The lock is a bound abstract Unix socket: the kernel frees it when its last holder dies, whatever killed it;
it leaves no file behind, needs no permission shared between users, and SO_PEERCRED names the holder.
(Containers with a network of their own do not see each other's lock; what they do to each other is caught as
taint.)
"""

from __future__ import annotations

import errno
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HOST_LOCK = "strata-measure"
_POLL_S = 0.5
_ASK_EVERY = 40  # polls between two looks at who holds it
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

    def acquire(self, waiting: Callable[[str], None]) -> None:
        """Waits without end; waiting(text) is called once with who holds the lock, and again when the holder
        changes.
        """
        told = None
        polls = 0
        while not self.try_acquire():
            holder = self.holder() if polls % _ASK_EVERY == 0 else told
            polls += 1
            if holder != told:
                waiting(f"waiting: another strata measures here ({holder}); one at a time, Ctrl-C gives up")
                told = holder
            time.sleep(_POLL_S)

    def holder(self) -> str:
        """Who holds the lock, as far as this user may see it."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(0.2)
            try:
                probe.connect(self._address)
                pid, uid, _ = struct.unpack(
                    "3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
                )
            except OSError:
                return "process unknown"
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            command = b" ".join(words[:6]).decode(errors="replace").strip()
        except OSError:
            command = ""
        return f"pid {pid}, user {uid}" + (f": {command[:80]}" if command else "")

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
