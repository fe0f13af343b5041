"""Starts the programs of the suite and reads what they print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from built import mpirun, program

OPENMP, TEAM, RANKS = (program(name) for name in ("strata-npb", "strata-npb-team", "strata-npb-mpi"))

needs_suite = pytest.mark.skipif(OPENMP is None, reason="no strata-npb: STRATA_BIN does not say where it is")
needs_mpi = pytest.mark.skipif(
    RANKS is None or shutil.which("mpirun") is None, reason="strata-npb-mpi was not built: no MPI"
)


def run(model: str, processes: int, threads: int, *words: str) -> subprocess.CompletedProcess[str]:
    start = {
        "openmp": [str(OPENMP)],
        "team": [str(TEAM)],
        "mpi": [*(mpirun() if RANKS else []), "-n", str(processes), str(RANKS)],
    }[model]
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    if model == "team":
        env |= {"STRATA_LAYOUT": f"{processes}x{threads}", "STRATA_BIND": "none"}
    return subprocess.run([*start, *words], capture_output=True, text=True, timeout=170, env=env)


def verified(done: subprocess.CompletedProcess[str], name: str, size: str) -> float:
    """The rate, as scripts that read NPB's output find it."""
    assert done.returncode == 0, done.stdout + done.stderr
    found = dict(re.findall(r"^ (\S.*?) *= +(\S.*)$", done.stdout, flags=re.MULTILINE))
    assert f" {name.upper()} Benchmark Completed." in done.stdout
    assert found["Class"] == size
    assert found["Verification"] == "SUCCESSFUL"
    assert float(found["Time in seconds"]) >= 0
    return float(found["Mop/s total"])
