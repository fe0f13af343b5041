"""Watches and steers a run while it goes on, through the socket in its results folder.

    from strata.run.control import ask
    ask("results/run-1", {"get": "status"})["step"]

The requests and answers are described in docs/run-output.md.
"""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from strata import documents
from strata.errors import FAILED, StrataError, why
from strata.peer import process_and_user

_LONGEST_ANSWER = 1 << 24  # bytes


def ask(folder: str | Path, request: dict[str, Any], timeout_s: float = 30.0) -> dict[str, Any]:
    """The run's answer to one request: the members of its JSON object, without "ok".

    `folder` is the run's results folder. The run answers between two steps (or batches of short ones), so
    this may take as long as a step. Raises StrataError where no run listens there, where it does not answer
    in time, and where it refuses: then with what was given and what is allowed.
    """
    line = json.dumps(request).encode() + b"\n"
    until = time.monotonic() + timeout_s
    with _connected(Path(folder), timeout_s) as connection:
        try:
            connection.sendall(line)
            received = b""
            while not received.endswith(b"\n") and len(received) < _LONGEST_ANSWER:
                left = until - time.monotonic()  # for the whole answer
                if left <= 0:
                    raise TimeoutError
                connection.settimeout(left)
                part = connection.recv(1 << 16)
                if not part:
                    break
                received += part
        except TimeoutError:
            raise StrataError(
                f"the run has not answered within {timeout_s:g} s",
                at=str(folder),
                remedy="its steps may take longer: --timeout",
                code=FAILED,
            ) from None
        except OSError as error:
            raise _gone(folder, error) from None
    try:
        answer = documents.from_json(received)
        granted = bool(answer.pop("ok"))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise _gone(folder, None) from None
    if not granted:
        raise StrataError(
            str(answer.get("error", "refused")),
            at=str(folder),
            given=_text(answer.get("given")) or json.dumps(request),
            allowed=_text(answer.get("allowed")),
        )
    return answer


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _gone(folder: str | Path, error: OSError | None) -> StrataError:
    reason = f": {why(error)}" if error is not None and why(error) else ""
    return StrataError(
        f"the run ended before it answered{reason}",
        at=str(folder),
        remedy="its own output says how it ended",
        code=FAILED,
    )


def _connected(folder: Path, timeout_s: float) -> socket.socket:
    """A socket's path may have 107 characters; through an open folder it is short."""
    try:
        place = os.open(folder / "control", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        what = "no run is going on in this folder" if folder.is_dir() else "there is no such results folder"
        remedy = "give the folder that `strata run CASE --out FOLDER` writes, while it runs"
        raise StrataError(what, at=str(folder), remedy=remedy) from None
    except OSError as error:
        raise StrataError(f"the run cannot be reached: {why(error)}", at=str(folder)) from None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect(f"/proc/self/fd/{place}/control.sock")
        _need_trusted(connection, folder, os.fstat(place).st_uid)
    except (ConnectionRefusedError, FileNotFoundError):
        connection.close()
        raise StrataError(
            "no run is going on in this folder; the last one ended without tidying up",
            at=str(folder),
            remedy="`strata run CASE --restart FOLDER` goes on from its last checkpoint",
        ) from None
    except OSError as error:
        connection.close()
        raise StrataError(f"the run cannot be reached: {why(error)}", at=str(folder)) from None
    except StrataError:
        connection.close()
        raise
    finally:
        os.close(place)
    return connection


def _need_trusted(connection: socket.socket, folder: Path, owner: int) -> None:
    """Raises StrataError where another user would hear what is asked: in a folder of theirs it is theirs to
    answer what they like. Root, whom all runs hear, may ask; but a link in a stranger's folder may lead to a
    run of root's, which is not the one that is meant.
    """
    user = process_and_user(connection)[1]
    if user not in (0, os.geteuid()) and os.geteuid() != 0:
        raise StrataError(
            "this run is another user's",
            at=str(folder),
            given=f"user {user}",
            allowed="a run of yours",
            code=FAILED,
        )
    if user != owner:
        raise StrataError(
            "another user's run answers than the folder's",
            at=str(folder),
            given=f"a run of user {user} in a folder of user {owner}",
            allowed="the results of a run",
            code=FAILED,
        )
