"""A node: the first process of its namespaces. It mounts what the node has of its own, starts the daemons,
starts one again that has died, and collects ended processes. When it is killed, so is all of the node.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

from strata.cluster import groups, network, slurm, system
from strata.cluster.plan import LOGIN, Plan

_AGAIN_S = 1.0  # until a daemon that died is started again
_PATIENCE_S = 30.0


def start(plan: Plan, name: str, joined: list[Path]) -> tuple[int, int]:
    """Called in the box. Returns the number of the node's first process, and a pipe: a byte in it says that
    the node is connected.
    """
    connected, connect = os.pipe()
    number, say_number = os.pipe()

    def outside() -> None:
        """Makes the namespaces; the first process in them is its child, and becomes the box's."""
        for group in joined:
            groups.join(group)
        system.unshare(system.NODE)
        child = system.fork(lambda: _first_process(plan, name, connected))
        os.write(say_number, str(child).encode())

    maker = system.fork(outside)
    os.close(connected)
    os.close(say_number)
    said = os.read(number, 32)
    os.close(number)
    os.waitpid(maker, 0)
    if not said:
        os.close(connect)
        raise OSError(f"node {name} could not be made: see {plan.disk}/box.log")
    return int(said), connect


def _first_process(plan: Plan, name: str, connected: int) -> None:
    # Nothing else that the box has open: its lock is to end with it.
    connected = os.dup2(connected, 3)
    os.closerange(4, 4096)
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(each, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    system.set_name(f"node {name}")
    os.sched_setaffinity(0, plan.cores(name))
    system.sethostname(name)
    _mount(plan, name)
    if not os.read(connected, 1):
        return  # the box has ended
    os.close(connected)
    network.address(plan.programs, plan.address(name), plan.link)
    running = {_start(plan, words, needs): (words, needs) for words, needs in slurm.daemons(plan, name)}
    while True:
        pid, _ = os.wait()
        if pid in running:
            words, needs = running.pop(pid)
            running[_start(plan, words, needs, _AGAIN_S)] = (words, needs)


def _mount(plan: Plan, name: str) -> None:
    seen = {path: os.open(path, os.O_PATH) for path in plan.seen}
    system.mount("proc", "/proc")
    system.mount("tmpfs", "/tmp", "mode=1777")
    system.mount("tmpfs", "/dev/shm", "mode=1777")
    for path, descriptor in seen.items():  # what is below the mounts is still there for those who hold it
        path.mkdir(parents=True, exist_ok=True)
        system.bind(f"/proc/self/fd/{descriptor}", path)
        os.close(descriptor)
    system.bind(plan.disk / "nodes" / name, plan.own)


def _start(plan: Plan, words: list[str], needs: slurm.Needs, delay: float = 0) -> int:
    """A daemon, when what it needs is there."""

    def daemon() -> None:
        path = plan.own / f"{Path(words[0]).name}.out.log"
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        time.sleep(delay)
        for need in needs:
            _wait_for(plan, need)
        os.chdir("/")
        as_user(plan)
        os.execve(words[0], words, plan.environment())

    return system.fork(daemon)


def _wait_for(plan: Plan, need: Path | int) -> None:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        try:
            if isinstance(need, Path):
                need.lstat()
            else:
                socket.create_connection((plan.address(LOGIN), need), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)


def as_user(plan: Plan) -> None:
    """Who made the cluster without being root is root in the box, to mount and to connect, and himself in
    what runs on its nodes.
    """
    if plan.uid != 0:
        system.unshare(system.NEWUSER)
        system.map_user(plan.uid, plan.gid, 0, 0)
