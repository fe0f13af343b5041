"""A Slurm of one's own on this machine: munged, slurmctld and one slurmd for each of its nodes, all in one
folder, with ports and a key of their own, beside whatever else runs here. As root or as a user.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("munged", "slurmctld", "slurmd", "slurmstepd", "srun", "sbatch", "scancel", "scontrol")


@dataclass(frozen=True)
class Programs:
    """Where Slurm's programs, its plugins and munged are."""

    found: dict[str, Path]
    unpacked: Path | None  # not installed: setup/test_pieces.sh has unpacked the packages there

    def __getitem__(self, name: str) -> str:
        return str(self.found[name])

    @property
    def plugins(self) -> Path | None:
        """Where they are not where these programs look by themselves."""
        return next(self.unpacked.glob("usr/lib/*/slurm-wlm"), None) if self.unpacked else None


def programs() -> Programs | str:
    """Slurm's, as installed, else as `./strata test` has unpacked it; or what is missing."""
    unpacked = Path(os.environ.get("STRATA_TEST_SLURM") or ROOT / "build" / "test-slurm")
    missing = ""
    for root in (None, unpacked):
        folders = [str(root / part) for part in ("usr/bin", "usr/sbin")] if root else []
        path = os.pathsep.join([*folders, os.environ["PATH"], "/usr/sbin", "/sbin"])
        found = {}
        for name in NEEDED:
            # Debian's daemons are reached through alternatives, which an unpacked package lacks.
            program = shutil.which(name, path=path) or shutil.which(f"{name}-wlm", path=path)
            if program:
                found[name] = Path(program)
        if len(found) == len(NEEDED):
            return Programs(found, root)
        missing = missing or ", ".join(name for name in NEEDED if name not in found)
    return f"no {missing} (Debian: slurm-wlm, munge), and nothing in {unpacked}"


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens at."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for each in sockets:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


# A node's own name and /dev/shm: an MPI names the files there by node and rank, so that ranks of two nodes on
# one machine would take each other's.
NODE = """\
hostname {node} && mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit
"""
# Everybody finds the nodes by their names.
HOSTS = """\
mount --bind {folder}/hosts /etc/hosts || exit
exec "$@"
"""


def may_have_namespaces() -> bool:
    """Whether processes may get a host name and mounts of their own here (root may, outside of most
    containers)."""
    unshare = shutil.which("unshare")
    return unshare is not None and (
        subprocess.run(
            [unshare, "--mount", "--uts", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm"],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )


CONFIGURATION = """\
ClusterName=strata
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
{plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
TmpFS={folder}/%n/tmp
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
TreeWidth=65533
MpiDefault=none
KillWait=5
{nodes}
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 MaxTime=INFINITE State=UP
"""


@dataclass
class PrivateSlurm:
    """Started by start(), ended by stop()."""

    programs: Programs
    folder: Path
    nodes: int = 2
    cpus: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    apart: bool = field(default_factory=may_have_namespaces)  # each node has a name and /dev/shm of its own
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    at_rest: set[int] = field(default_factory=set)  # processes when no job runs: daemons, and their own

    @property
    def environment(self) -> dict[str, str]:
        """For commands that are to meet this Slurm."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMI"))}
        kept["SLURM_CONF"] = str(self.folder / "slurm.conf")
        kept["SLURM_PMIX_FENCE"] = "ring"  # its tree does not hold ranks in MPI_Init (core/launch/mpi.hpp)
        # The nodes are one machine: Open MPI 5 finds no way from its address to the same address elsewhere.
        kept["OMPI_MCA_btl_tcp_if_include"] = "lo"
        kept["PATH"] = f"{Path(self.programs['srun']).parent}:{kept['PATH']}"
        if not self.apart:  # what is killed here leaves its messages where tests/conftest.py says
            kept |= {name: value for name, value in os.environ.items() if "backing_directory" in name}
        if self.programs.plugins:
            libraries = [str(self.programs.plugins), str(self.programs.plugins.parent)]
            kept["LD_LIBRARY_PATH"] = ":".join([*libraries, *filter(None, [kept.get("LD_LIBRARY_PATH")])])
        return kept

    def _configure(self) -> None:
        self.folder.chmod(0o755)  # munged wants it of its socket's folder
        ports = free_ports(self.nodes + 1)
        host = socket.gethostname().partition(".")[0]
        nodes = [
            f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[i]} CPUs={self.cpus}"
            for i in range(1, self.nodes + 1)
        ]
        # Its PMIx makes a folder for each step there: nodes on one machine need one each.
        for name in ("state", *(f"n{i}/tmp" for i in range(1, self.nodes + 1))):
            (self.folder / name).mkdir(parents=True)
        plugins = f"PluginDir={self.programs.plugins}" if self.programs.plugins else ""
        text = CONFIGURATION.format(
            host=host,
            ports=ports,
            user=getpass.getuser(),
            folder=self.folder,
            plugins=plugins,
            nodes="\n".join(nodes),
        )
        (self.folder / "slurm.conf").write_text(text)
        names = " ".join(["localhost", host, *(f"n{i}" for i in range(1, self.nodes + 1))])
        (self.folder / "hosts").write_text(f"127.0.0.1 {names}\n")
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)

    def _start(self, *words: str) -> None:
        log = (self.folder / f"{Path(words[0]).name}-{len(self.daemons)}.out").open("wb")
        with log:
            self.daemons.append(
                subprocess.Popen(
                    words,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                )
            )

    def start(self, seconds: float = 30) -> None:
        """Returns when all nodes are idle. Throws RuntimeError with the logs."""
        self._configure()
        at = self.folder
        # munged wants nobody else to write to a folder above its own, as /tmp is; so it is told to go on.
        self._start(
            self.programs["munged"],
            "--foreground",
            "--force",
            f"--socket={at}/munge.socket",
            f"--key-file={at}/munge.key",
            f"--log-file={at}/munged.log",
            f"--pid-file={at}/munged.pid",
            f"--seed-file={at}/munged.seed",
        )
        end = time.monotonic() + seconds
        while not (at / "munge.socket").exists():
            self._check(end)

        def inside(view: str, name: str) -> list[str]:
            words = ["unshare", "--mount", "--uts", "sh", "-c", view + HOSTS.format(folder=at), name]
            return words if self.apart else []

        self._start(*inside("", "slurmctld"), self.programs["slurmctld"], "-D", "-i")
        for i in range(1, self.nodes + 1):
            slurmd = [self.programs["slurmd"], "-D", "-N", f"n{i}", "-d", self.programs["slurmstepd"]]
            self._start(*inside(NODE.format(node=f"n{i}"), f"n{i}"), *slurmd)
        while self.run("sinfo", "--noheader", "-o", "%T %D").stdout.split() != ["idle", str(self.nodes)]:
            self._check(end)
        self.at_rest = set(self.processes())

    def _check(self, end: float) -> None:
        gone = [str(each.args) for each in self.daemons if each.poll() is not None]
        if gone or time.monotonic() > end:
            raise RuntimeError(f"this Slurm does not start: ended {gone}\n{self.logs()}")
        time.sleep(0.05)

    def logs(self) -> str:
        """What the daemons wrote, the end of each."""
        return "\n".join(
            f"== {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-20:])
            for pattern in ("*.log", "*.out")
            for path in sorted(self.folder.glob(pattern))
        )

    def run(self, *words: object, timeout: float = 120, **more: Any) -> subprocess.CompletedProcess[str]:
        """A command that meets this Slurm."""
        more.setdefault("env", self.environment)
        return subprocess.run(
            [str(word) for word in words],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            **more,
        )

    def processes(self) -> list[int]:
        """All that carry this Slurm's configuration: daemons, steps and what they run."""
        mark, found = f"SLURM_CONF={self.folder}/slurm.conf".encode(), []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def ended(self, seconds: float = 10) -> bool:
        """Waits until no job is left, nor any process of one."""
        end = time.monotonic() + seconds
        while self.run("squeue", "--noheader").stdout or set(self.processes()) - self.at_rest:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def stop(self) -> None:
        """Ends all jobs and daemons; returns when nothing of them runs."""
        if len(self.daemons) > 1:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.run("scancel", f"--user={getpass.getuser()}", timeout=10)
                self.ended()
        for each in self.daemons:
            each.terminate()
        for each in self.daemons:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
        self.daemons.clear()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
