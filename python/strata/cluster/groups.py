"""The nodes' control groups: a limit of memory for each node, and cores of its own where these suffice.

Groups outlive processes. Their names say who made them (strata-cluster-UID-NAMESPACE-PID-STARTTIME-NODE), and
the next start in that namespace of processes removes those whose maker has gone: another container has other
processes of these numbers.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from strata.cluster.system import start_time

PREFIX = "strata-cluster"
_NAMESPACE = Path("/proc/self/ns/pid").stat().st_ino
_NAME = re.compile(rf"{PREFIX}-{os.getuid()}-{_NAMESPACE}-(\d+)-(\d+)-")


@dataclass(frozen=True)
class Place:
    """A folder in which groups can be made, of version 1 or 2."""

    folder: Path
    version: int


def _candidates(controller: str) -> list[Place]:
    """This process's own group first (version 1), its parents after it, the hierarchy's root last."""
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            mounted, version = Path("/sys/fs/cgroup", controllers), 1
            if not controllers:
                mounted, version = Path("/sys/fs/cgroup"), 2
            elif controller not in controllers.split(","):
                continue
            own = mounted / path.lstrip("/")
            above = [own, *own.parents]
            within = [each for each in above if each.is_relative_to(mounted)]
            found += [Place(folder, version) for folder in within]
    return found


def _offers(place: Place, controller: str) -> bool:
    """Whether groups in it have this controller; version 2 says so in a file."""
    if place.version == 1:
        return (place.folder / "cgroup.procs").exists()
    with contextlib.suppress(OSError):
        return controller in (place.folder / "cgroup.subtree_control").read_text().split()
    return False


def make(name: str, memory: int) -> tuple[list[Path], str]:
    """A group that limits memory [bytes], in the first place that lets us. Returns the groups that a node
    joins, and what was in the way where there is none.
    """
    reason = "no memory controller is mounted for this process"
    for place in _candidates("memory"):
        if not _offers(place, "memory"):
            continue
        group = place.folder / name
        try:
            group.mkdir()
            limit = "memory.limit_in_bytes" if place.version == 1 else "memory.max"
            (group / limit).write_text(str(memory))
            return [group], ""
        except OSError as error:
            reason = f"{group}: {error.strerror}"
            with contextlib.suppress(OSError):
                group.rmdir()
    return [], reason


def join(group: Path) -> None:
    """This process and all that it starts from here on."""
    (group / "cgroup.procs").write_text("0")


def remove(group: Path, seconds: float = 2.0) -> bool:
    """With the groups in it, as a launch inside makes them; waits for the last processes to have gone."""
    end = time.monotonic() + seconds
    while group.exists():
        try:
            for folder, inner, _ in os.walk(group, topdown=False):
                for each in inner:
                    (Path(folder) / each).rmdir()
            group.rmdir()
        except OSError:
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
    return True


def of(owner: str) -> list[Path]:
    """All groups whose names begin so."""
    folders = {place.folder for place in _candidates("memory")}
    return [group for folder in folders for group in folder.glob(f"{owner}-*")]


def clean(owner: str) -> None:
    """Removes all groups of one cluster."""
    for group in of(owner):
        remove(group)


def made_by_this_process(uid: int) -> str:
    """The beginning of the names of groups that this process makes for a user."""
    return f"{PREFIX}-{uid}-{_NAMESPACE}-{os.getpid()}-{start_time(os.getpid())}"


def owner(group: Path) -> int | None:
    """The process that made a group, dead or alive; None where it is somebody else's, or of another
    namespace."""
    found = _NAME.match(group.name)
    return int(found[1]) if found else None


def sweep() -> None:
    """Removes the groups of clusters whose maker has gone."""
    for group in of(PREFIX):
        found = _NAME.match(group.name)
        if found and start_time(int(found[1])) != int(found[2]):
            remove(group, 0)
