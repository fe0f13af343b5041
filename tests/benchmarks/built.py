"""Where the benchmarks under test are, and how several processes of one are started."""

from __future__ import annotations

import ctypes.util
import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

# The one that comes with Strata's environment, else the system's.
OPENBLAS = os.environ.get("STRATA_BLAS_CANDIDATES", "").split(":")[0] or ctypes.util.find_library("openblas")


def front() -> str | None:
    """The native front: STRATA_BIN, else the one on PATH (`./strata test` puts it there)."""
    return os.environ.get("STRATA_BIN") or shutil.which("strata")


def program(name: str) -> Path | None:
    """The strata-bench(-mpi) that STRATA_BENCH(_MPI) names, else the front's own."""
    if named := os.environ.get(name.upper().replace("-", "_")):
        return Path(named)
    found = front()
    if found is None:
        return None
    here = Path(found).resolve().parent
    near = (here.parent / "libexec" / "strata", here, here.parent / "benchmarks")
    return next((p for folder in near if (p := folder / name).is_file()), None)


@functools.cache
def needs_solvers(name: str) -> None:
    """Skips the tests of a benchmark that is built where toml++ is, as the solvers are."""
    if name != "transport-update":
        return
    listed = subprocess.run([str(program("strata-bench-graph")), "--list"], capture_output=True, text=True)
    if name not in listed.stdout:
        pytest.skip("the solvers are not built (toml++)")


@functools.cache
def mpirun() -> list[str]:
    """The words that start more processes than there are cores."""
    found = str(shutil.which("mpirun"))
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    return [found, *(["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else [])]
