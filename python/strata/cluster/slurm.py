"""Slurm's configuration, and the command lines of its daemons."""

from __future__ import annotations

import pwd
import secrets
from pathlib import Path

from strata.cluster.plan import LOGIN, Plan, all_cores

CONTROLLER_PORT = 6817

# What must be there before a daemon starts: a file, or a port of the login node.
Needs = tuple[Path | int, ...]

_CONFIGURATION = """\
ClusterName={name}
SlurmctldHost={login}({address})
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={own}/munge.socket
CredType=cred/munge
{plugins}StateSaveLocation={own}/state
SlurmdSpoolDir={own}/spool
TmpFS=/tmp
SlurmctldPidFile={own}/slurmctld.pid
SlurmdPidFile={own}/slurmd.pid
SlurmctldLogFile={own}/slurmctld.log
SlurmdLogFile={own}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
{accounting}
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
TreeWidth=65533
MpiDefault=none
KillWait=5
{nodes}
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 MaxTime=INFINITE State=UP
"""
_NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none"


def user(plan: Plan) -> str:
    return pwd.getpwuid(plan.uid).pw_name


def configure(plan: Plan) -> None:
    """Writes the files that all nodes read, and each node's part of the disk."""
    nodes = "\n".join(
        f"NodeName={name} NodeAddr={plan.address(name)} {_cores(plan, name)} RealMemory={plan.memory >> 20}"
        for name in plan.names
    )
    text = _CONFIGURATION.format(
        name=plan.name,
        login=LOGIN,
        address=plan.address(LOGIN),
        port=CONTROLLER_PORT,
        user=user(plan),
        own=plan.own,
        plugins=f"PluginDir={plan.programs.plugins}\n" if plan.programs.plugins else "",
        accounting=_NO_ACCOUNTING,
        nodes=nodes,
    )
    (plan.disk / "slurm.conf").write_text(text)
    # Left to its tree, Slurm's PMIx lets ranks out of MPI_Init too early (core/launch/mpi.hpp).
    (plan.disk / "mpi.conf").write_text("PMIxCollFence=ring\n")
    hosts = [f"{plan.address(name)} {name}" for name in plan.all_names]
    (plan.disk / "hosts").write_text("\n".join(["127.0.0.1 localhost", *hosts, ""]))
    key = plan.disk / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    plan.own.mkdir()
    for name in plan.all_names:
        for each in ("state", "spool"):
            (plan.disk / "nodes" / name / each).mkdir(parents=True)


def _cores(plan: Plan, name: str) -> str:
    """Slurm numbers all of the machine, in the order of its topology; other nodes' cores are set aside."""
    machine, own = all_cores(), plan.cores(name)
    others = [str(i) for i, core in enumerate(machine) if core not in own]
    return f"CPUs={len(machine)}" + (f" CpuSpecList={','.join(others)}" if others else "")


def daemons(plan: Plan, node: str) -> list[tuple[list[str], Needs]]:
    """What runs on a node."""
    own, programs = plan.own, plan.programs
    # munged wants nobody else to write to a folder above its own, as /tmp is; so it is told to go on.
    munged = [
        programs["munged"],
        "--foreground",
        "--force",
        f"--socket={own}/munge.socket",
        f"--key-file={plan.disk}/munge.key",
        f"--log-file={own}/munged.log",
        f"--pid-file={own}/munged.pid",
        f"--seed-file={own}/munged.seed",
    ]
    socket = own / "munge.socket"
    if node == LOGIN:
        return [(munged, ()), ([programs["slurmctld"], "-D"], (socket,))]
    slurmd = [programs["slurmd"], "-D", "-N", node, "-d", programs["slurmstepd"]]
    return [(munged, ()), (slurmd, (socket, CONTROLLER_PORT))]


def logs(plan: Plan) -> str:
    """What the daemons wrote, the end of each; seen inside the box alone."""
    parts = []
    for path in sorted((plan.disk / "nodes").glob("*/*.log")):
        lines = path.read_text(errors="replace").splitlines()[-8:]
        parts.append("\n".join([f"== {path.parent.name}/{path.name}", *lines]))
    return "\n".join(parts)
