"""Where the programs of a cluster are: installed, or unpacked in a folder; else what to install."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from strata.errors import FAILED, StrataError
from strata.paths import root

# The program, and the package that has it: Debian's names.
NEEDED = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "slurmstepd": "slurmd",
    "srun": "slurm-client",
    "sbatch": "slurm-client",
    "sinfo": "slurm-client",
    "scontrol": "slurm-client",
    "ip": "iproute2",
    "tc": "iproute2",
}
ACCOUNTING = {"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server-core", "sacctmgr": "slurm-client"}


@dataclass(frozen=True)
class Programs:
    """All programs that a cluster starts; those for accounting may be missing."""

    found: Mapping[str, Path]
    unpacked: Path | None  # not installed: packages were unpacked there (STRATA_TEST_SLURM)

    def __getitem__(self, name: str) -> str:
        return str(self.found[name])

    @property
    def plugins(self) -> Path | None:
        """Slurm's, where its programs do not find them by themselves."""
        return next(self.unpacked.glob("usr/lib/*/slurm-wlm"), None) if self.unpacked else None

    @property
    def missing_for_accounting(self) -> list[str]:
        """Packages."""
        return _packages(ACCOUNTING, self.found)

    def environment(self) -> dict[str, str]:
        """What commands need to find unpacked programs and their libraries."""
        folders = list(dict.fromkeys(str(path.parent) for path in self.found.values()))
        added = {"PATH": ":".join([*folders, os.environ.get("PATH", "/usr/bin:/bin")])}
        if self.plugins:
            libraries = [str(self.plugins), str(self.plugins.parent), os.environ.get("LD_LIBRARY_PATH", "")]
            added["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
        return added


def programs() -> Programs:
    """As installed, else as unpacked. Raises StrataError with the packages that are missing."""
    installed = _found(None)
    unpacked = _unpacked()
    if _packages(NEEDED, installed) and unpacked:
        found = _found(unpacked)
        if not _packages(NEEDED, found):
            return Programs(found, unpacked)
    missing = _packages(NEEDED, installed)
    if missing:
        raise StrataError(
            "a cluster needs Slurm, which is not installed here",
            given=f"missing: {', '.join(name for name in NEEDED if name not in installed)}",
            remedy=f"apt install {' '.join(missing)}",
            code=FAILED,
        )
    return Programs(installed, None)


def _unpacked() -> Path | None:
    said, checkout = os.environ.get("STRATA_TEST_SLURM"), root()
    if said:
        return Path(said)
    return checkout / "build" / "test-slurm" if checkout else None


def _found(unpacked: Path | None) -> dict[str, Path]:
    folders = [str(unpacked / part) for part in ("usr/bin", "usr/sbin")] if unpacked else []
    path = os.pathsep.join([*folders, os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    found = {}
    for name in (*NEEDED, *ACCOUNTING):
        # Debian's daemons are reached through alternatives, which an unpacked package lacks.
        program = shutil.which(name, path=path) or shutil.which(f"{name}-wlm", path=path)
        if program:
            found[name] = Path(program)
    return found


def _packages(needed: Mapping[str, str], found: Mapping[str, Path]) -> list[str]:
    return list(dict.fromkeys(package for name, package in needed.items() if name not in found))
