"""Starts the programs of the suite and reads what they print."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from built import front, mpirun, program

OPENMP, TEAM, RANKS, GRAPH = (
    program(name) for name in ("strata-npb", "strata-npb-team", "strata-npb-mpi", "strata-npb-graph")
)

needs_suite = pytest.mark.skipif(OPENMP is None, reason="no strata-npb: STRATA_BIN does not say where it is")
needs_mpi = pytest.mark.skipif(
    RANKS is None or shutil.which("mpirun") is None, reason="strata-npb-mpi was not built: no MPI"
)

MODELS = ["openmp", "team", pytest.param("mpi", marks=needs_mpi)]


def run(model: str, processes: int, threads: int, *words: str) -> subprocess.CompletedProcess[str]:
    start = {
        "openmp": [str(OPENMP)],
        "team": [str(TEAM)],
        "graph": [str(GRAPH)],
        "mpi": [*(mpirun() if RANKS else []), "-n", str(processes), str(RANKS)],
    }[model]
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    if model in ("team", "graph"):
        env |= {"STRATA_LAYOUT": f"{processes}x{threads}", "STRATA_BIND": "none"}
    return subprocess.run([*start, *words], capture_output=True, text=True, timeout=170, env=env)


def run_on_nodes(nodes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """A task graph's processes, of which each plays a node of its own with one thread."""
    env = {**os.environ, "STRATA_RANKS_PER_NODE": "1", "STRATA_LAYOUT": "1x1", "STRATA_BIND": "none"}
    start = [*mpirun(), "-n", str(nodes), str(GRAPH)]
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


def refused(done: subprocess.CompletedProcess[str]) -> None:
    """Once for all processes, with need and supply."""
    assert done.returncode == 1
    assert done.stderr.count("needs more memory than there is") == 1
    assert re.search(r"given: \S+ TiB", done.stderr) and "allowed: " in done.stderr


def has_no_rate(done: subprocess.CompletedProcess[str], document: Path) -> None:
    """A result that is not the official one has neither a time nor a rate, nor figures in its document."""
    assert done.returncode == 1
    assert re.search(r"Verification +=\s+UNSUCCESSFUL", done.stdout)
    assert "Mop/s" not in done.stdout and "Time in seconds" not in done.stdout
    result = json.loads(document.read_text())
    assert result["verified"] is False and result["figures"] == []


def by_front(model: str, suite: str, name: str) -> subprocess.CompletedProcess[str]:
    """Class S on two cores by `strata bench`, which starts the program of the model."""
    layout = "1x2" if model == "openmp" else "2x1"
    words = ["bench", suite, name, "--class", "S", "--model", model, "--layout", layout, "--bind", "none"]
    done = subprocess.run([str(front()), *words], capture_output=True, text=True, timeout=60)
    assert re.search(rf"Model +=\s+{model}$", done.stdout, flags=re.MULTILINE), done.stderr
    assert re.search(r"Total threads +=\s+2$", done.stdout, flags=re.MULTILINE)
    return done
