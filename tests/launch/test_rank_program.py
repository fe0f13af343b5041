"""Ranks of srun's that nothing binds are started by strata-rank, as the launcher itself would start them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from launching import Launcher

# As srun: starts each rank with its variables, one after the other. Which is to be without the launcher's own
# words, or without the program before them, is told in START.
SRUN = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do [ "$1" = -n ] && shift; shift; done
case $START in
    launcher) shift ;;
    alone) first=$1; shift 2; set -- "$first" /nowhere/strata "$@" ;;
    planless) unset STRATA_RANK_PLAN ;;
esac
export SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=2
for rank in 0 1; do SLURM_PROCID=$rank SLURM_LOCALID=$rank "$@" || exit; done
"""


@pytest.fixture
def srun(tmp_path: Path) -> Path:
    made = tmp_path / "srun"
    made.write_text(SRUN)
    made.chmod(0o755)
    return made


def started(
    launcher: Launcher, srun: Path, how: str, *program: str, **more: str
) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMI", "MPI_"))}
    return launcher.run(
        *("--layout", "2x3", "--bind", "none"),
        program=[str(srun), "-n", "2", *program],
        env=kept | {"START": how, "GOMP_CPU_AFFINITY": "0", "OMP_NUM_THREADS": "7"} | more,
    )


def variables(text: str) -> list[str]:
    """Of both ranks, but for the marks of each launch and what the shell adds."""
    return sorted(
        line for line in text.splitlines() if not line.startswith(("STRATA_RUN=", "START=", "_=", "PWD="))
    )


def test_a_rank_has_the_environment_that_the_launcher_gives(launcher: Launcher, srun: Path) -> None:
    alone, whole = (started(launcher, srun, how, "env") for how in ("alone", "launcher"))
    assert alone.returncode == whole.returncode == 0, alone.stderr + whole.stderr
    assert variables(alone.stdout) == variables(whole.stdout)
    for line in ("STRATA_RANK=1", "STRATA_SIZE=2", "OMP_NUM_THREADS=3", "STRATA_BIND=none"):
        assert alone.stdout.count(line) >= 1, alone.stdout
    cpus = next(line for line in alone.stdout.splitlines() if line.startswith("STRATA_CPUS="))
    assert cpus.removeprefix("STRATA_CPUS=").startswith(str(min(os.sched_getaffinity(0))))
    assert "GOMP_CPU_AFFINITY" not in alone.stdout and "STRATA_RANK_PLAN" not in alone.stdout


@pytest.mark.parametrize("program", ["./here", "here"])
def test_a_program_is_found_by_its_path_and_on_path(
    launcher: Launcher, srun: Path, tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first" / "here").mkdir(parents=True)  # a folder of the same name is passed over
    (tmp_path / "here").write_text("#!/bin/sh\necho $STRATA_RANK:$0:$*\n")
    (tmp_path / "here").chmod(0o755)
    path = f"{tmp_path}/first::{os.environ['PATH']}"
    done = started(launcher, srun, "alone", program, "--", "a b", PATH=path)
    assert done.stdout.split("\n")[:2] == [f"{rank}:./here:-- a b" for rank in (0, 1)], done.stderr


def test_without_its_plan_it_is_the_launcher(launcher: Launcher, srun: Path) -> None:
    done = started(launcher, srun, "planless", "sh", "-c", "echo $STRATA_RANK $OMP_NUM_THREADS")
    assert done.stdout == "0 3\n1 3\n", done.stderr


def test_a_rank_that_an_mpis_launcher_counts_otherwise_is_the_launchers(
    launcher: Launcher, srun: Path
) -> None:
    other = {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "9", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
    inner = "env " + " ".join(f"{name}={value}" for name, value in other.items())
    text = srun.read_text().replace('SLURM_LOCALID=$rank "$@"', f'SLURM_LOCALID=$rank {inner} "$@"')
    srun.write_text(text)
    done = started(launcher, srun, "whole", "sh", "-c", "echo $STRATA_RANK of $STRATA_SIZE")
    assert done.stdout == "5 of 9\n" * 2, done.stderr
    assert started(launcher, srun, "alone", "true").returncode == 127  # and it was not by strata-rank


@pytest.mark.parametrize(("program", "status"), [("no-such-program", 127), ("./text", 126)])
def test_what_cannot_be_started_is_told_by_the_launcher(
    launcher: Launcher, srun: Path, tmp_path: Path, program: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("echo no interpreter\n")
    (tmp_path / "text").chmod(0o755)
    done = started(launcher, srun, "whole", program)
    assert done.returncode == status and "strata: error: " in done.stderr and program in done.stderr


def test_it_needs_no_loader(launcher: Launcher) -> None:
    beside = launcher.binary.parent
    found = [beside / "strata-rank", beside.parent / "libexec" / "strata" / "strata-rank"]
    file = next(path for path in found if path.exists()).read_bytes()
    assert b"ld-linux" not in file and len(file) < 1 << 16
