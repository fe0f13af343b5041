"""Starts a cluster: what was asked for and what this machine has, made into a plan; then the box."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.cluster import groups, guard, network, quantities, state, system
from strata.cluster.ask import failed
from strata.cluster.plan import Plan, is_hidden
from strata.cluster.programs import programs
from strata.errors import FAILED, StrataError
from strata.paths import root

_RESERVE = 0.9  # of the machine's memory, shared out to the nodes


@dataclass
class Starting:
    """A cluster that was started by this process: what it said when it was up, and what ends it."""

    about: dict[str, Any]
    guard: int  # process
    lifeline: int  # closing it ends a cluster that stays with its starter

    def wait(self) -> None:
        os.waitpid(self.guard, 0)

    def end(self) -> None:
        """Returns when nothing is left."""
        os.close(self.lifeline)
        self.wait()


def up(
    name: str,
    nodes: int,
    *,
    link: str | None = None,
    latency: str | None = None,
    cpus: int | None = None,
    memory: str | None = None,
    switches: int = 1,
    share: Sequence[Path] = (),
    accounting: bool = True,
    stay: bool = False,
) -> Starting:
    """Starts a cluster; returns when all nodes are idle. With `stay` it ends with this process.

    Raises StrataError, and KeyboardInterrupt when nothing is left of what was begun.
    """
    if not 1 <= nodes <= 64:
        raise StrataError(
            "not a number of nodes that a cluster can have", at="--nodes", given=str(nodes), allowed="1 to 64"
        )
    cores = len(os.sched_getaffinity(0))
    if cpus is not None and not 1 <= cpus <= cores:
        raise StrataError(
            "nodes cannot have so many cores",
            at="--cpus",
            given=str(cpus),
            allowed=f"1 to {cores}, as this machine has",
        )
    links = network.Link(
        quantities.rate(link) if link else None, quantities.latency(latency) if latency else None
    )
    if not 1 <= switches <= nodes:
        raise StrataError(
            "each switch has a node",
            given=f"--switches {switches}",
            allowed=f"1 to {nodes} with {nodes} nodes",
        )
    limits = _limits(memory, nodes)
    found = programs()
    shared = _shared(share, found.unpacked)
    need_namespaces()
    groups.sweep()
    folder, lock = state.make(name)
    plan = Plan(
        name=name,
        folder=folder,
        programs=found,
        nodes=nodes,
        link=links,
        cpus=cpus or max(1, cores // nodes),
        memory=limits,
        switches=switches,
        shared=shared,
        accounting=accounting and not found.missing_for_accounting,
    )
    return _started(plan, lock, stay=stay)


def _started(plan: Plan, lock: int, *, stay: bool) -> Starting:
    lifeline, line = os.pipe()
    report, say = os.pipe()
    number = guard.up(plan, lock, lifeline, say, stay=stay)
    for each in (lock, lifeline, say):
        os.close(each)
    said = b""
    try:
        with os.fdopen(report, "rb") as reading:
            said = reading.readline()
    except BaseException:
        Starting({}, number, line).end()
        raise
    about = json.loads(said) if said else {"error": {"message": "the cluster was killed as it started"}}
    made = Starting(about, number, line)
    if "error" in about:
        made.end()
        raise failed(about["error"])
    return made


def _shared(said: Sequence[Path], unpacked: Path | None) -> tuple[Path, ...]:
    """What --share names, and what would be missed: Slurm, the checkout, and where this was typed."""
    found = [path.resolve() for path in said]
    for path in found:
        if not path.is_dir():
            raise StrataError(
                "there is no such folder to share", at="--share", given=str(path), allowed="a folder"
            )
    needed = (unpacked, root(), Path.cwd())
    found += [path for path in needed if path is not None and is_hidden(path)]
    return tuple(path for path in dict.fromkeys(found) if not any(each in path.parents for each in found))


def _limits(said: str | None, nodes: int) -> tuple[int, ...]:
    """Each node's memory in bytes: a size for each, the last one for all further nodes; else a share."""
    if said is None:
        return (int(_memory() * _RESERVE / nodes),) * nodes
    sizes = [quantities.size(each) for each in said.split(",")]
    if len(sizes) > nodes:
        raise StrataError(
            "there are more sizes than nodes", given=f"--memory {said}", allowed=f"up to {nodes}"
        )
    return (*sizes, *sizes[-1:] * (nodes - len(sizes)))


def _memory() -> int:
    """Of the machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def need_namespaces() -> None:
    """Raises StrataError where nodes cannot be made here."""
    uid, gid = os.getuid(), os.getgid()
    saying, say = os.pipe()

    def attempt() -> None:
        step = "user namespaces"
        try:
            if uid != 0:
                system.unshare(system.NEWUSER)
                system.map_user(0, 0, uid, gid)
            step = "namespaces of mounts, networks and processes"
            system.unshare(system.NODE)
            step = "mounts"
            system.private_mounts()
            system.mount("tmpfs", "/tmp")
        except OSError as error:
            os.write(say, f"{step}: {error}".encode())

    child = system.fork(attempt)
    os.close(say)
    with os.fdopen(saying) as reading:
        refused = reading.read()
    os.waitpid(child, 0)
    if not refused:
        return
    remedy = "as root: sysctl -w user.max_user_namespaces=15000"
    for name in ("unprivileged_userns_clone=1", "apparmor_restrict_unprivileged_userns=0"):
        if Path("/proc/sys/kernel", name.partition("=")[0]).exists():
            remedy = f"as root: sysctl -w kernel.{name}"
    if uid == 0:
        remedy = "a container with the right to make them: docker run --privileged"
    raise StrataError("a cluster needs root or user namespaces", given=refused, remedy=remedy, code=FAILED)
