"""What a cluster is made of, as it was asked for: names, addresses, cores, memory, folders."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from strata.cluster.network import Link
from strata.cluster.programs import Programs

LOGIN = "login"
_HIDDEN = (Path("/tmp"), Path("/dev/shm"))  # what nodes have of their own, instead of the machine's


@dataclass(frozen=True)
class Plan:
    """All that the box, its nodes and Slurm's configuration are made from."""

    name: str
    folder: Path  # the state folder, which nothing but this cluster uses
    programs: Programs
    nodes: int
    link: Link
    cpus: int  # a node's
    memory: tuple[int, ...]  # each node's limit, in bytes
    switches: int  # of the network as Slurm knows it; 1: it is flat
    shared: tuple[Path, ...]  # below /tmp or /dev/shm, and yet the same on all nodes
    accounting: bool
    uid: int = field(default_factory=os.getuid)
    gid: int = field(default_factory=os.getgid)

    @property
    def disk(self) -> Path:
        """Files of Slurm, in memory: mounted inside the box alone, so that they go with its processes."""
        return self.folder / "disk"

    @property
    def own(self) -> Path:
        """Where each node sees its own part of the disk."""
        return self.disk / "own"

    @property
    def names(self) -> list[str]:
        return [f"n{i}" for i in range(1, self.nodes + 1)]

    @property
    def all_names(self) -> list[str]:
        return [LOGIN, *self.names]

    def address(self, name: str) -> str:
        number = self.all_names.index(name)
        return f"10.77.{number >> 8}.{(number & 255) + 1}"

    def cores(self, name: str) -> list[int]:
        """The node's, in the system's numbers: dealt in turn, from the first again when all are dealt."""
        usable = [core for core in all_cores() if core in os.sched_getaffinity(0)]
        if name == LOGIN:
            return usable
        first = self.names.index(name) * self.cpus
        return [usable[(first + i) % len(usable)] for i in range(self.cpus)]

    @property
    def own_cores(self) -> bool:
        return self.nodes * self.cpus <= len(os.sched_getaffinity(0))

    @property
    def seen(self) -> list[Path]:
        """Folders that a node's own /tmp and /dev/shm would hide."""
        return [path for path in (self.folder, *self.shared) if is_hidden(path)]

    def environment(self) -> dict[str, str]:
        """Of all that runs on the nodes."""
        dropped = ("SLURM_", "OMPI_", "PMI", "PMIX_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        if not Path(kept.get("TMPDIR", "/")).exists() or is_hidden(Path(kept.get("TMPDIR", "/"))):
            kept.pop("TMPDIR", None)
        return kept | self.programs.environment() | {"SLURM_CONF": str(self.disk / "slurm.conf")}


def all_cores() -> list[int]:
    """PUs of the machine in the order of its topology: threads of one core are neighbours."""

    def place(cpu: int) -> tuple[int, int, int]:
        about = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            package = int((about / "physical_package_id").read_text())
            siblings = (about / "thread_siblings_list").read_text()
            return package, int(re.split("[-,]", siblings)[0]), cpu
        except (OSError, ValueError):
            return 0, cpu, cpu

    return sorted(range(os.cpu_count() or 1), key=place)


def is_hidden(path: Path) -> bool:
    return any(path.is_relative_to(each) and path != each for each in _HIDDEN)
