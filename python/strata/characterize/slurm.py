"""On a Slurm cluster: tell a login node from an allocation, and send the job where it belongs.

A login node is shared and is not the machine that jobs run on; figures measured there are of no use and
disturb everybody.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from strata.errors import FAILED, StrataError
from strata.measure.files import write_atomically

LOGIN_NODE = 3  # exit code: nothing was measured


def is_cluster(environment: Mapping[str, str] = os.environ) -> bool:
    """Slurm's commands or its configuration are here."""
    path = environment.get("PATH")
    return bool(
        shutil.which("sinfo", path=path)
        or shutil.which("sbatch", path=path)
        or environment.get("SLURM_CONF")
        or Path("/etc/slurm").is_dir()
    )


def is_login_node(environment: Mapping[str, str] = os.environ) -> bool:
    """A cluster's node outside any allocation."""
    return is_cluster(environment) and not environment.get("SLURM_JOB_ID")


def refusal(command: str, submits: bool = True) -> StrataError:
    """What a person on a login node gets to read; `submits` where the command has --submit."""
    submit = f"{command} --submit PARTITION (names: sinfo -s), or " if submits else ""
    return StrataError(
        "this looks like a login node of a Slurm cluster: nothing was measured",
        given="no allocation (SLURM_JOB_ID is not set)",
        allowed="a node of one's own",
        remedy=f"{submit}"
        f"inside `salloc --exclusive -N1`: srun {command}; --here measures this node all the same",
        code=LOGIN_NODE,
    )


@dataclass(frozen=True)
class Job:
    """A submitted job."""

    id: str
    script: Path


def script(command: list[str], partition: str, results: Path, minutes: int) -> str:
    """The job script: one whole node, all of its memory, the command that resumes by itself when the job is
    started again.
    """
    return "\n".join(
        [
            "#!/bin/bash",
            "#SBATCH --job-name=strata-characterize",
            f"#SBATCH --partition={partition}",
            "#SBATCH --nodes=1",
            "#SBATCH --exclusive",
            "#SBATCH --mem=0",
            f"#SBATCH --time={minutes}",
            f'#SBATCH --output="{results}/slurm-%j.out"',
            "# Resubmit this file to continue after a time limit: what was measured is kept.",
            f"exec {shlex.join(command)}",
            "",
        ]
    )


def submit(command: list[str], partition: str, results: Path, minutes: int) -> Job:
    """Writes the job script into the results folder and gives it to sbatch."""
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise StrataError(
            "no sbatch on PATH",
            given=f"--submit {partition}",
            remedy="load the cluster's Slurm module, or leave --submit out to measure here",
        )
    results.mkdir(parents=True, exist_ok=True)
    path = results / "job.sh"
    write_atomically(path, script(command, partition, results, minutes))
    asked = [
        sbatch,
        "--parsable",
        "--exclusive",
        "--nodes=1",
        f"--partition={partition}",
        f"--output={results}/slurm-%j.out",
        str(path),
    ]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode != 0:
        raise StrataError(
            "sbatch refused the job",
            at=str(path),
            given=done.stderr.strip() or f"exit {done.returncode}",
            remedy="partitions: sinfo -s",
            code=FAILED,
        )
    # --parsable prints "ID" or "ID;cluster"
    return Job(done.stdout.strip().split("\n")[-1].split(";")[0], path)
