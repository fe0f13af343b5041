"""The box: the first process of a namespace of processes in which all nodes live, so that its end is the end
of all of them. It has the bridge and the links, makes nodes, and does what commands ask for at its socket.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strata.cluster import groups, network, node, slurm, state, system
from strata.cluster.plan import LOGIN, Plan
from strata.errors import FAILED, StrataError

_START_S = 30.0


@dataclass
class Node:
    """One that runs: its first process, in the box's numbers, and its control groups."""

    pid: int
    groups: list[Path]
    since: float = field(default_factory=time.time)
    cut: bool = False


class Box:
    """What commands can ask for."""

    def __init__(self, plan: Plan, owner: str) -> None:
        self.plan = plan
        self.owner = owner  # of control groups, by name
        self.nodes: dict[str, Node] = {}
        self.notes: list[str] = []  # what this cluster lacks, a line each
        if missing := plan.programs.missing_for_accounting:
            self.notes.append(f"accounting is off (sacct, sacctmgr): apt install {' '.join(missing)}")
        self.ending = False
        self.waiting = selectors.DefaultSelector()  # a function for each descriptor that can be read

    def turn(self, seconds: float | None = None) -> None:
        """Does what is asked for, at once or within some seconds."""
        for key, _ in self.waiting.select(seconds):
            key.data()
        self.collect()

    def boot(self) -> None:
        """Returns when all nodes are idle."""
        system.unshare(system.NEWNS | system.NEWNET | system.NEWIPC | system.NEWUTS)
        system.private_mounts()
        system.mount("proc", "/proc")
        self.plan.disk.mkdir()
        system.mount("tmpfs", self.plan.disk, "mode=0755")
        log = os.open(self.plan.disk / "box.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 2)
        os.close(log)
        slurm.configure(self.plan)
        system.bind(self.plan.disk / "hosts", "/etc/hosts")
        network.make_bridge(self.plan.programs)
        network.check(self.plan.programs, self.plan.link)
        for name in self.plan.all_names:
            self.start(name)
        self._wait()

    def start(self, name: str) -> None:
        """Makes a node; one that runs is left alone."""
        if name in self.nodes:
            return
        joined: list[Path] = []
        if name != LOGIN:
            memory = self.plan.memory[self.plan.names.index(name)]
            joined, reason = groups.make(f"{self.owner}-{name}", memory)
            if reason and not any("limit" in each for each in self.notes):
                self.notes.append(f"nodes have no limit of memory: {reason}")
        pid, connect = node.start(self.plan, name, joined)
        self.nodes[name] = Node(pid, joined)
        network.plug(self.plan.programs, name, pid, self.plan.link)
        os.write(connect, b"1")
        os.close(connect)

    def _wait(self) -> None:
        end = time.monotonic() + _START_S
        while self.slurms_nodes() != dict.fromkeys(self.plan.names, "idle"):
            self.turn(0.05)
            if self.ending:
                raise StrataError(
                    "the cluster was ended while it started",
                    at=self.plan.name,
                    remedy="start it again: strata cluster up",
                    code=FAILED,
                )
            if time.monotonic() > end or len(self.nodes) <= self.plan.nodes:
                raise StrataError(
                    f"Slurm does not start: not all nodes were idle within {_START_S:g} s",
                    given=slurm.logs(self.plan),
                    remedy="the last lines of its logs are above; with fewer --nodes it needs less time",
                    code=FAILED,
                )

    def slurms_nodes(self) -> dict[str, str]:
        """What Slurm says of each node."""
        said = self.inside(LOGIN, "sinfo", "--noheader", "--Node", "-o", "%N %T")
        return dict(line.split(maxsplit=1) for line in said.splitlines() if " " in line)

    def inside(self, name: str, program: str, *words: str) -> str:
        """What a program prints on a node."""
        descriptor = os.pidfd_open(self.nodes[name].pid)
        try:
            done = subprocess.run(
                [self.plan.programs[program], *words],
                preexec_fn=lambda: system.enter(descriptor, system.NODE & ~system.NEWPID),
                env=self.plan.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                check=False,
                timeout=20,
            )
        except (subprocess.SubprocessError, OSError):
            return ""
        finally:
            os.close(descriptor)
        return done.stdout

    def collect(self) -> None:
        """Ended processes; a node whose first process has ended is gone."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for name in [name for name, each in self.nodes.items() if each.pid == pid]:
                for group in self.nodes.pop(name).groups:
                    groups.remove(group)

    def kill(self, name: str) -> None:
        """The node's crash."""
        os.kill(self._running(name).pid, signal.SIGKILL)
        while name in self.nodes:
            self.collect()
            time.sleep(0.002)

    def cut(self, name: str, *, mend: bool) -> None:
        found = self._running(name)
        network.cut(self.plan.programs, name, mend=mend)
        found.cut = not mend

    def _running(self, name: str) -> Node:
        if name not in self.plan.all_names:
            allowed = ", ".join(self.plan.all_names)
            raise StrataError("this cluster has no such node", given=name, allowed=allowed)
        if name not in self.nodes:
            remedy = f"strata cluster start {name}"
            raise StrataError("this node is down", given=name, remedy=remedy, code=FAILED)
        return self.nodes[name]

    def status(self) -> dict[str, Any]:
        said = self.slurms_nodes() if LOGIN in self.nodes else {}
        rows = []
        for name in self.plan.all_names:
            found = self.nodes.get(name)
            rows.append(
                {
                    "node": name,
                    "address": self.plan.address(name),
                    "up": found is not None,
                    "link": "" if found is None else "cut" if found.cut else "up",
                    "slurm": "" if name == LOGIN else said.get(name, "unknown"),
                    "since": found.since if found else None,
                }
            )
        return {
            "name": self.plan.name,
            "nodes": rows,
            "cpus": self.plan.cpus,
            "own_cores": self.plan.own_cores,
            "memory": self.plan.memory,
            "rate": self.plan.link.rate,
            "latency": self.plan.link.latency,
            "accounting": self.plan.accounting,
            "disk": str(self.plan.disk),
            "notes": self.notes,
        }

    def answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        """What a command asked for: the answer, and descriptors that go with it."""
        verb, name = request["do"], request.get("node", "")
        if verb == "status":
            running = [each for each in self.plan.all_names if each in self.nodes]
            return self.status() | {"running": running}, [os.pidfd_open(self.nodes[n].pid) for n in running]
        if verb == "enter":
            descriptor = os.pidfd_open(self._running(name).pid)
            environment = self.plan.environment()
            about = {"environment": environment, "uid": self.plan.uid, "gid": self.plan.gid}
            return about | {"groups": [str(group) for group in self.nodes[name].groups]}, [descriptor]
        if verb == "start" and name in self.plan.all_names:
            self.start(name)
        elif verb == "kill":
            self.kill(name)
        elif verb in ("cut", "mend"):
            self.cut(name, mend=verb == "mend")
        elif verb == "down":
            self.ending = True
        else:
            self._running(name)
        return {}, []

    def end(self) -> None:
        """Ends all processes inside and removes what outlives them."""
        with contextlib.suppress(OSError):  # none is left
            os.kill(-1, signal.SIGKILL)
            while True:
                os.wait()
        groups.clean(self.owner)
        system.unmount(self.plan.disk)
        state.remove(self.plan.folder)
