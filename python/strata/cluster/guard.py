"""The processes that a cluster consists of outside of its nodes: the guard, and its child, the box.

Each removes what outlives processes (control groups, the state folder) when the other has died, so that a
SIGKILL of either leaves nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import traceback
from pathlib import Path
from typing import Any

from strata.cluster import groups, state, system
from strata.cluster.box import Box
from strata.cluster.plan import Plan
from strata.errors import FAILED, StrataError
from strata.peer import process_and_user

_SILENCE_S = 1.0  # of a caller that asks nothing


def up(plan: Plan, lock: int, lifeline: int, report: int, *, stay: bool) -> int:
    """Starts the guard, and by it the box; returns the guard's number. The box writes one line of JSON to
    `report` when all nodes are idle, or the error. Until then, with `stay` for good, it ends when `lifeline`,
    a pipe's reading end, is closed at the other side.
    """
    return system.fork(lambda: _guard(plan, lock, lifeline, report, stay=stay))


def _guard(plan: Plan, lock: int, lifeline: int, report: int, *, stay: bool) -> None:
    os.setsid()
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    _keep([lock, lifeline, report])
    system.set_name("cluster guard")
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    owner = groups.made_by_this_process(plan.uid)
    if plan.uid != 0:
        system.unshare(system.NEWUSER)
        system.map_user(0, 0, plan.uid, plan.gid)
    system.unshare(system.NEWPID)
    guards, guard = os.pipe()
    box = system.fork(lambda: _box(plan, owner, guards, guard, lifeline, report, stay=stay))
    for each in (guards, lifeline, report):
        os.close(each)
    os.waitpid(box, 0)  # all processes inside have ended
    groups.clean(owner)
    state.remove(plan.folder)


def _keep(kept: list[int]) -> None:
    """Closes all other files than these and the standard ones."""
    for descriptor in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if descriptor > 2 and descriptor not in kept:
            with contextlib.suppress(OSError):  # it was the folder's own
                os.close(descriptor)


def _box(plan: Plan, owner: str, guards: int, guard: int, lifeline: int, report: int, *, stay: bool) -> None:
    os.close(guard)
    system.set_name("cluster box")
    made = Box(plan, owner)
    waiting = made.waiting
    asleep, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)

    def down(*_: object) -> None:
        made.ending = True

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, down)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(plan.folder / "control"))
    listening.listen(16)
    waiting.register(asleep, selectors.EVENT_READ, lambda: os.read(asleep, 4096))
    waiting.register(guards, selectors.EVENT_READ, down)
    waiting.register(lifeline, selectors.EVENT_READ, down)
    waiting.register(listening, selectors.EVENT_READ, lambda: _serve(made, listening))
    try:
        made.boot()
        made.ending |= not _say(report, made.status())
        if not stay:
            waiting.unregister(lifeline)
        while not made.ending:
            made.turn()
    except StrataError as error:
        _say(report, {"error": vars(error)})
    except Exception as error:
        traceback.print_exc()
        _say(report, {"error": {"message": f"the cluster does not start: {error}", "code": FAILED}})
    made.end()


def _say(report: int, what: dict[str, Any]) -> bool:
    """Whether who asked for the cluster is still there to read it."""
    try:
        os.write(report, json.dumps(what).encode() + b"\n")
    except BrokenPipeError:
        return False
    finally:
        os.close(report)
    return True


def _serve(made: Box, listening: socket.socket) -> None:
    """One request of this user; a command sends one and reads the answer."""
    connection, _ = listening.accept()
    if process_and_user(connection)[1] != os.getuid():
        connection.close()
        return
    connection.settimeout(_SILENCE_S)
    descriptors: list[int] = []
    try:
        answer, descriptors = made.answer(json.loads(connection.recv(1 << 16)))
    except StrataError as error:
        answer = {"error": vars(error)}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:  # what is no request, too
        traceback.print_exc()
        answer = {"error": {"message": str(error), "code": FAILED}}
    with contextlib.suppress(OSError):  # who asked has gone
        socket.send_fds(connection, [json.dumps(answer).encode()], descriptors)
    for each in descriptors:
        os.close(each)
    connection.close()
