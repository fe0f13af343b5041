"""Slurm's configuration, and the command lines of its daemons."""

from __future__ import annotations

import pwd
import re
import secrets
from pathlib import Path

from strata.cluster.plan import LOGIN, Plan, all_cores

CONTROLLER_PORT, DATABASE_PORT = 6817, 6819  # as Slurm has them by default

# A node that is silent so long is down, and its jobs end. With 4 s, a step ended 9 s after its node's crash;
# with Slurm's own values it takes minutes.
_SILENCE_S = 4

# How long a job that was queued again waits before it starts again; with Slurm's own value two minutes.
# As long a step may take from its creation to its start on a busy machine.
_AGAIN_S = 20

# What must be there before a daemon starts: a file, or a port of the login node.
Needs = tuple[Path | int, ...]

_CONFIGURATION = """\
ClusterName={name}
SlurmctldHost={login}({address})
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={own}/munge.socket,cred_expire={again}
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
{topology}SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout={silence}
MessageTimeout={silence}
TreeWidth=65533
MpiDefault=none
KillWait=5
{nodes}
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 MaxTime=INFINITE State=UP
PartitionName=batch Nodes=ALL OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP
"""
_NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none"
_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={address}
AccountingStoragePass={own}/munge.socket
JobAcctGatherType=jobacct_gather/linux"""
_DATABASE = """\
DbdHost={login}
DbdAddr={address}
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={own}/munge.socket
{plugins}PidFile={own}/slurmdbd.pid
LogFile={own}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StorageUser=slurm
"""


def user(plan: Plan) -> str:
    return pwd.getpwuid(plan.uid).pw_name


def configure(plan: Plan) -> None:
    """Writes the files that all nodes read, and each node's part of the disk."""
    nodes = "\n".join(
        f"NodeName={name} NodeAddr={plan.address(name)} {_cores(plan, name)} RealMemory={memory >> 20}"
        for name, memory in zip(plan.names, plan.memory, strict=True)
    )
    about = {
        "login": LOGIN,
        "address": plan.address(LOGIN),
        "user": user(plan),
        "own": plan.own,
        "plugins": f"PluginDir={plan.programs.plugins}\n" if plan.programs.plugins else "",
    }
    accounting = _ACCOUNTING.format(**about) if plan.accounting else _NO_ACCOUNTING
    text = _CONFIGURATION.format(
        name=plan.name,
        port=CONTROLLER_PORT,
        silence=_SILENCE_S,
        again=_AGAIN_S,
        topology="TopologyPlugin=topology/tree\n" if plan.switches > 1 else "",
        nodes=nodes,
        accounting=accounting,
        **about,
    )
    (plan.disk / "slurm.conf").write_text(text)
    if plan.switches > 1:
        (plan.disk / "topology.conf").write_text(_switches(plan))
    if plan.accounting:
        database = plan.disk / "slurmdbd.conf"
        database.touch(mode=0o600)  # slurmdbd wants nobody else to read it
        database.write_text(_DATABASE.format(**about))
    # Left to its tree, Slurm's PMIx lets ranks out of MPI_Init too early (core/launch/mpi.hpp).
    (plan.disk / "mpi.conf").write_text("PMIxCollFence=ring\n")
    hosts = [f"{plan.address(name)} {name}" for name in plan.all_names]
    (plan.disk / "hosts").write_text("\n".join(["127.0.0.1 localhost", *hosts, ""]))
    key = plan.disk / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    plan.own.mkdir()
    for name in plan.all_names:
        for each in ("state", "spool", "database"):
            (plan.disk / "nodes" / name / each).mkdir(parents=True)


def _cores(plan: Plan, name: str) -> str:
    """Slurm numbers all of the machine, in the order of its topology; other nodes' cores are set aside."""
    machine, own = all_cores(), plan.cores(name)
    others = [str(i) for i, core in enumerate(machine) if core not in own]
    return f"CPUs={len(machine)}" + (f" CpuSpecList={','.join(others)}" if others else "")


def _switches(plan: Plan) -> str:
    """Equal runs of nodes below a switch each, and one switch above these."""
    shares = [i * plan.switches // plan.nodes for i in range(plan.nodes)]
    lines = [
        f"SwitchName=s{each + 1} Nodes="
        + ",".join(name for name, share in zip(plan.names, shares, strict=True) if share == each)
        for each in range(plan.switches)
    ]
    return "\n".join([*lines, f"SwitchName=top Switches=s[1-{plan.switches}]", ""])


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
    if node == LOGIN and plan.accounting:
        database = ([programs["slurmdbd"], "-D"], (socket, own / "mariadb.socket"))
        controller = ([programs["slurmctld"], "-D"], (socket, DATABASE_PORT))
        return [(munged, ()), (_mariadb(plan), ()), database, controller]
    if node == LOGIN:
        return [(munged, ()), ([programs["slurmctld"], "-D"], (socket,))]
    slurmd = [programs["slurmd"], "-D", "-N", node, "-d", programs["slurmstepd"]]
    return [(munged, ()), (slurmd, (socket, CONTROLLER_PORT))]


def _mariadb(plan: Plan) -> list[str]:
    """In memory and for the login node alone, so without users of its own, and with small files."""
    words = [
        plan.programs["mariadbd"],
        "--no-defaults",
        "--skip-grant-tables",
        f"--datadir={plan.own}/database",
        f"--socket={plan.own}/mariadb.socket",
        f"--pid-file={plan.own}/mariadb.pid",
        "--bind-address=127.0.0.1",
        "--innodb-log-file-size=4M",
        "--innodb-buffer-pool-size=32M",
        "--innodb-flush-log-at-trx-commit=0",
    ]
    if plan.uid == 0:
        words.append("--user=root")
    if plan.programs.unpacked:
        share = plan.programs.unpacked / "usr/share/mysql"
        words += [f"--lc-messages-dir={share}", f"--character-sets-dir={share}/charsets"]
    return words


def logs(plan: Plan) -> str:
    """The last errors that each daemon wrote; seen inside the box alone."""
    parts = []
    for path in sorted((plan.disk / "nodes").glob("*/*.log")):
        if path.name.endswith(".out.log") and path.with_suffix("").with_suffix(".log").exists():
            continue  # the same lines
        lines = path.read_text(errors="replace").splitlines()
        errors = [line for line in lines if re.search("error|fatal", line, re.IGNORECASE)]
        parts += [f"{path.parent.name}/{path.name}: {line}" for line in errors[-2:]]
    return "\n".join(parts) or "no daemon has logged an error"
