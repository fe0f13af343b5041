"""Who is at the other end of a Unix socket, as the kernel says (SO_PEERCRED, unix(7)), and what it runs."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

_UCRED = "3i"
_COMMAND = 1 << 16  # bytes of a command line


def process_and_user(connection: socket.socket) -> tuple[int, int]:
    """Numbers of the process and its user: of who called, or at a caller's end of who began to listen.

    Both as this process sees them. Raises OSError.
    """
    said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(_UCRED))
    pid, uid, _ = struct.unpack(_UCRED, said)
    return pid, uid


def command_line(process: Path) -> list[str]:
    """The first words of a process, /proc/PID: it may have the kernel tell any part of its memory as such
    (PR_SET_MM, prctl(2)), gigabytes that cost it nothing. Raises OSError.
    """
    with (process / "cmdline").open("rb", buffering=0) as file:
        return file.read(_COMMAND).decode(errors="replace").split("\0")
