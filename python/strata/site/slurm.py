"""Slurm as a site has it: a login node or an allocation, and what partitions there are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from strata.errors import FAILED, StrataError

LOGIN_NODE = 3  # exit code: nothing was measured


def is_cluster(environment: Mapping[str, str] = os.environ) -> bool:
    """Slurm's commands or its configuration are here."""
    path = environment.get("PATH")
    return bool(
        shutil.which("sinfo", path=path)
        or shutil.which("sbatch", path=path)
        or environment.get("SLURM_CONF")
        or Path("/etc/slurm").is_dir()
    )


def is_login_node(environment: Mapping[str, str] = os.environ) -> bool:
    """A cluster's node outside any allocation.

    A login node is shared and is not the machine that jobs run on; figures measured there are of no use and
    disturb everybody.
    """
    return is_cluster(environment) and not environment.get("SLURM_JOB_ID")


def refusal(command: str) -> StrataError:
    """What a person on a login node gets to read; `command` as typed, `strata characterize`."""
    own = command.removeprefix("strata ")
    return StrataError(
        "this looks like a login node of a Slurm cluster: nothing was measured",
        given="no allocation (SLURM_JOB_ID is not set)",
        allowed="a node of one's own",
        remedy=f"strata submit -- {own}, or inside `salloc --exclusive -N1`: srun {command}; "
        "--here measures this node all the same",
        code=LOGIN_NODE,
    )


def need_nodes(nodes: int, command: str, environment: Mapping[str, str] = os.environ) -> None:
    """Raises StrataError outside a job of at least so many nodes; `command` as typed."""
    own = int(environment.get("SLURM_JOB_NUM_NODES") or 0)
    if own >= nodes:
        return
    raise StrataError(
        "this is not a job of so many nodes",
        at="--nodes",
        given=f"{nodes} nodes, in {f'a job of {own}' if own else 'no job'}",
        allowed=f"up to {own}" if own else "a job of Slurm's",
        remedy=f"strata submit --nodes {nodes} -- {command.removeprefix('strata ')}",
        code=LOGIN_NODE,
    )


@dataclass(frozen=True)
class Partition:
    """A partition as `sinfo` describes it; of nodes of several kinds the smallest counts."""

    name: str
    default: bool
    nodes: int
    sockets: int  # of a node
    cores: int  # of a socket
    threads: int  # of a core
    longest_s: float | None  # time limit of a job; None: unlimited
    usual_s: float | None  # time of a job that asks for none; None: the limit

    @property
    def cores_of_node(self) -> int:
        return self.sockets * self.cores

    @property
    def machine(self) -> str:
        """A node for `--machine`. Slurm knows no memory domains: there is one for each socket."""
        return f"synthetic:pack:{self.sockets} numa:1 core:{self.cores} pu:{self.threads}"


@dataclass(frozen=True)
class Node:
    """A node as `sinfo` describes it."""

    name: str
    memory: int  # bytes
    features: frozenset[str]


def partitions() -> list[Partition]:
    """All partitions that this user may see. Raises StrataError where Slurm does not answer."""
    found: dict[str, Partition] = {}
    for line in _asked("--format=%P|%D|%X|%Y|%Z|%l|%L"):
        one = _partition(line)
        found[one.name] = _together(found[one.name], one) if one.name in found else one
    return list(found.values())


def nodes(partition: str) -> list[Node]:
    """All nodes of a partition. Raises StrataError where Slurm does not answer."""
    return [_node(line) for line in _asked("--Node", f"--partition={partition}", "--format=%N|%m|%f")]


def _node(line: str) -> Node:
    name, mib, features = _cells(line, 3)
    if not re.fullmatch(r"[0-9]{1,12}\+?", mib):
        raise _not_asked_for(line, "a node's memory in MiB")
    # Without features sinfo says (null).
    return Node(name, int(mib.rstrip("+")) << 20, frozenset(features.split(",")) - {"(null)"})


def _asked(*options: str) -> list[str]:
    """What sinfo says, a line each."""
    sinfo = shutil.which("sinfo")
    if sinfo is None:
        raise StrataError(
            "no Slurm cluster was found: there is no sinfo on PATH",
            remedy="load the cluster's Slurm module, or leave out `strata submit` to run here",
        )
    try:
        done = subprocess.run([sinfo, "--noheader", *options], capture_output=True, text=True, timeout=60)
        said, status = done.stderr.strip(), done.returncode
    except subprocess.TimeoutExpired:
        said, status = "no answer within 60 s", 1
    if status != 0:
        raise StrataError(
            "Slurm does not say which nodes it has", given=said, remedy="scontrol ping", code=FAILED
        )
    return done.stdout.splitlines()


def _cells(line: str, count: int) -> list[str]:
    cells = line.split("|")
    if len(cells) != count:
        raise _not_asked_for(line, f"{count} words with | between them")
    return cells


def _not_asked_for(line: str, allowed: str) -> StrataError:
    return StrataError(
        "sinfo says something else than was asked", at="sinfo", given=line[:100], allowed=allowed, code=FAILED
    )


def _partition(line: str) -> Partition:
    name, nodes, sockets, cores, threads, longest, usual = _cells(line, 7)
    number = [int(re.sub(r"\D", "", word)[:9] or "1") for word in (nodes, sockets, cores, threads)]
    return Partition(name.rstrip("*"), name.endswith("*"), *number, seconds_of(longest), seconds_of(usual))


def _together(one: Partition, other: Partition) -> Partition:
    """A partition with nodes of several states or kinds has several lines."""
    smaller = min(one, other, key=lambda each: each.cores_of_node)
    return Partition(
        one.name,
        one.default,
        one.nodes + other.nodes,
        smaller.sockets,
        smaller.cores,
        smaller.threads,
        one.longest_s,
        one.usual_s,
    )


def seconds_of(text: str) -> float | None:
    """'2-03:00:00', '30:00' or '5' (minutes), as Slurm writes times; None for infinite and n/a."""
    match = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?", text.strip())
    if match is None:
        return None
    days, *parts = match.groups()
    given = [int(part) for part in parts if part is not None]
    if days is not None:  # days-hours[:minutes[:seconds]]
        hours, minutes, seconds = [*given, 0, 0][:3]
    elif len(given) == 3:
        hours, minutes, seconds = given
    else:  # minutes[:seconds]
        hours, (minutes, seconds) = 0, [*given, 0][:2]
    return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)


def time_of(seconds: float) -> str:
    """'1-02:00:00' or '0:30:00': whole minutes, rounded up, as Slurm reads them."""
    minutes = -(-int(seconds) // 60)
    days, rest = divmod(minutes, 24 * 60)
    return (f"{days}-{rest // 60:02}" if days else f"{rest // 60}") + f":{rest % 60:02}:00"
