"""Asks a cluster that is up."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

from strata.cluster import state, system
from strata.errors import FAILED, StrataError, why
from strata.peer import process_and_user

_PATIENCE_S = 20.0


def ask(name: str, request: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """The answer of a cluster, and descriptors that came with it. Raises StrataError."""
    folder = state.folder(name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(_PATIENCE_S)
        try:
            connection.connect(str(folder / "control"))
            if process_and_user(connection)[1] != os.getuid():
                raise PermissionError("another user answers")
            connection.send(json.dumps(request).encode())
            said, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 100)
        except OSError as error:
            if name in state.living():
                raise StrataError(
                    "the cluster does not answer",
                    at=name,
                    given=why(error),
                    remedy=f"strata cluster down --name {name}, then up again",
                    code=FAILED,
                ) from None
            said = b""
    if not said:
        raise StrataError(
            "no such cluster is up",
            given=name,
            allowed=", ".join(state.living()) or None,
            remedy="strata cluster up --nodes 4",
            code=FAILED,
        )
    answer = json.loads(said)
    if "error" in answer:
        raise failed(answer["error"])
    return answer, descriptors


def failed(error: dict[str, Any]) -> StrataError:
    """An error of the box, as it was thrown there."""
    known = ("message", "at", "given", "allowed", "remedy", "code")
    given = {key: error[key] for key in known if error.get(key) is not None}
    return StrataError(given.pop("message"), **{"code": FAILED, **given})


def status(name: str) -> dict[str, Any]:
    """What a cluster is, with the number of each node's first process as this process sees it."""
    answer, descriptors = ask(name, {"do": "status"})
    numbers = {}
    for node, descriptor in zip(answer.pop("running"), descriptors, strict=True):
        numbers[node] = system.pid_of(descriptor)
        os.close(descriptor)
    for row in answer["nodes"]:
        row["pid"] = numbers.get(row["node"])
    return answer


def down(name: str) -> None:
    """Returns when nothing is left of it."""
    folder = state.folder(name)
    ask(name, {"do": "down"})
    end = time.monotonic() + _PATIENCE_S
    while folder.exists():
        if time.monotonic() > end:
            raise StrataError(
                "the cluster does not end",
                at=name,
                given=f"its folder {folder} is still there after {_PATIENCE_S:g} s",
                remedy="try again; processes that do not end may wait for a disk",
                code=FAILED,
            )
        time.sleep(0.01)
