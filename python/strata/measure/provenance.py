"""What was the case when the measuring began: enough for a colleague to judge the figures a year later."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata import __version__
from strata.measure.journal import utc_now

SCHEMA = "strata.provenance/1"
# Variables that change what programs do: threads, MPI, libraries, allocation. Values of others are nobody's
# business.
_PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "BLIS_"),
    *("OMPI_", "PMIX_", "MPICH_", "I_MPI_", "UCX_", "FI_", "SLURM_JOB_"),
    *("LD_LIBRARY_PATH", "MALLOC_", "GLIBC_TUNABLES"),
)


def collect(machine: Mapping[str, Any], root: Path | None, argv: list[str]) -> dict[str, Any]:
    """Facts known before the first launch; summary.loaded() adds those that only launches can tell."""
    governors = sorted({str(c["governor"]) for c in machine.get("cores") or [] if c.get("governor")})
    return {
        "schema": SCHEMA,
        "started": utc_now(),
        "command": argv,
        "strata": {"version": __version__, "revision": revision(root)},
        "python": platform.python_version(),
        "interpreter": sys.executable,
        "hostname": platform.node(),
        "kernel": platform.release(),
        "kernel_command_line": _read("/proc/cmdline"),
        "os": machine.get("os"),
        "cpu_model": machine.get("cpu_model"),
        "virtualisation": machine.get("virtualisation"),
        "container": machine.get("container"),
        "governors": governors,
        "turbo": machine.get("turbo"),
        "numa_balancing": machine.get("numa_balancing"),
        "transparent_huge_pages": (machine.get("huge_pages") or {}).get("transparent"),
        "load_at_start": list(os.getloadavg()),
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_PREFIXES)},
    }


def revision(root: Path | None) -> str | None:
    """The git revision of the checkout, '+changes' when the tree differs from it; None for an installed
    package.
    """
    if root is None or not (root / ".git").exists():
        return None
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+changes" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
