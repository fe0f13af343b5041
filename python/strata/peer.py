"""Who is at the other end of a Unix socket, as the kernel says (SO_PEERCRED, unix(7))."""

from __future__ import annotations

import socket
import struct

_UCRED = "3i"


def process_and_user(connection: socket.socket) -> tuple[int, int]:
    """Numbers of the process and its user: of who called, or at a caller's end of who began to listen.

    Both as this process sees them. Raises OSError.
    """
    said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(_UCRED))
    pid, uid, _ = struct.unpack(_UCRED, said)
    return pid, uid
