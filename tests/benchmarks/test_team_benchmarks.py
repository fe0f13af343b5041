"""The team layer's benchmarks: each kind verifies, sees who is let through early, and leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from built import needs_solvers, program

ALONE = program("strata-bench-graph")
CORES = len(os.sched_getaffinity(0))
KINDS = ["team", "central", "pthread", "std", "openmp", "openmp-passive"]

pytestmark = pytest.mark.skipif(
    ALONE is None, reason="no strata-bench-graph: STRATA_BIN does not say where it is"
)


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ALONE), *words], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("members", [2, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_barrier_verifies_with_few_members_and_with_many(
    kind: str, members: int, tmp_path: Path
) -> None:
    file = tmp_path / "result.json"
    words = ["--kind", kind, "--members", str(members), "--quick", "--json", str(file)]
    done = bench("team-barrier", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(file.read_text())
    assert result["parameters"]["kind"] == kind and result["parameters"]["members"] == members
    assert [f["name"] for f in result["figures"]] == ["barrier"] and result["figures"][0]["value"] > 0


@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_barrier_that_lets_a_member_through_early_is_seen(kind: str, fault: str) -> None:
    done = bench("team-barrier", "--kind", kind, "--members", "3", "--quick", "--break", fault)
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout and "let through" in done.stdout


@pytest.mark.skipif(CORES < 2, reason="one core")
@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize(
    ("name", "kind"), [("team-flag", "arena"), ("team-flag", "line"), ("team-read", "copy")]
)
def test_what_comes_too_early_or_wrong_is_seen(name: str, kind: str, fault: str) -> None:
    done = bench(name, "--kind", kind, "--quick", "--break", fault)
    assert done.returncode == 1 and "NOT VERIFIED" in done.stdout


@pytest.mark.skipif(CORES < 2, reason="one core")
@pytest.mark.parametrize("fault", ["skip", "perturb"])
def test_a_core_that_does_not_go_where_it_is_sent_is_seen(fault: str) -> None:
    done = bench("team-switch", "--changes", "20", "--break", fault)
    assert done.returncode == 1 and "NOT VERIFIED" in done.stdout


@pytest.mark.parametrize("fault", ["skip", "perturb"])
@pytest.mark.parametrize(
    "command",
    [
        "graph-tasks",
        "graph-compile",
        "graph-sweep",
        "graph-balance",
        "graph-overset",
        "graph-overset --scalar",
        "transport-update",
        "transport-update --equation advection",
    ],
)
def test_a_task_that_is_left_out_or_wrong_is_seen(command: str, fault: str) -> None:
    needs_solvers(command.split()[0])
    done = bench(*command.split(), "--quick", "--break", fault)
    assert done.returncode == 1 and "NOT VERIFIED" in done.stdout


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_advection_is_that_of_one_loop_over_all_cells() -> None:
    needs_solvers("transport-update")
    done = bench("transport-update", "--equation", "advection", "--quick")
    assert done.returncode == 0 and "88 bytes a cell and step" in done.stdout


def test_members_end_with_the_process_that_started_them() -> None:
    # A barrier of as many as these takes long enough to be found at work.
    first = subprocess.Popen([str(ALONE), "team-barrier", "--members", "64"], stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    members: list[int] = []
    while len(members) < 63 and time.monotonic() < until and first.poll() is None:
        members = _children(first.pid)
    assert len(members) == 63
    first.send_signal(signal.SIGKILL)
    first.wait()
    while any(_alive(m) for m in members) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(_alive(m) for m in members)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
