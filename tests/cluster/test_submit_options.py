"""What `strata submit` asks of Slurm the job gets: nodes, switches, a large first node, an account."""

from __future__ import annotations

import getpass
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_box import Cluster
from tested_build import built, strata

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
WHERE = ["sh", "-c", "echo $(hostname) $SLURM_JOB_ACCOUNT $SLURM_JOB_QOS {task}"]


class Queue:
    """Jobs by `strata submit`, with their output in one folder."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        own = {"STRATA_BIN": strata(), "STRATA_ROOT": f"{folder}/no checkout", "STRATA_RESULTS": str(folder)}
        own["STRATA_PYTHON"] = os.environ.get("STRATA_PYTHON", sys.executable)
        self.environment = cluster.environment | own | {"SLURM_MPI_TYPE": "pmix"}

    def submit(self, *words: object) -> str:
        """The job's number."""
        done = self.cluster.run(strata(), "submit", "--time", "8m", *words, env=self.environment)
        assert done.returncode == 0, done.stderr
        return re.search(r"submitted job (\d+)", done.stdout)[1]

    def until_not(self, job: str, form: str, states: str) -> None:
        """Returns when squeue says something else of a job. One program asks."""
        wait = f'for i in $(seq 600); do case "$(squeue -h -j {job} -o "{form}")" in {states}) sleep 0.1;;'
        self.cluster.run("sh", "-c", f"{wait} *) exit;; esac; done; squeue; exit 1")

    def printed(self, job: str, tasks: int = 1) -> list[str]:
        """The output of a job that has ended, with a file for each task of an array."""
        self.until_not(job, "%T", "?*")
        files = sorted(self.folder.glob(f"*/slurm-{job}*.out"))
        assert len(files) == tasks, self.cluster.run("squeue").stdout + self.cluster.logs()
        return [file.read_text().strip() for file in files]

    def hold(self, *nodes: str) -> list[str]:
        """Jobs on these nodes alone, until they are cancelled."""
        job = "sbatch --parsable --partition=batch --time=8 --output=/dev/null --wrap='sleep 1000'"
        begun = "while squeue -h -t PENDING | grep -q .; do sleep 0.1; done"
        words = [*(f"{job} --nodelist={node}" for node in nodes), begun]
        return self.cluster.run("sh", "-c", "; ".join(words)).stdout.split()

    def administer(self, *lines: str) -> None:
        done = self.cluster.run("sh", "-ec", "; ".join(f"scontrol {line}" for line in lines))
        assert done.returncode == 0, done.stderr


def feature(node: str, name: str) -> str:
    """The administrator's line that gives a node one, or none. Other jobs get other nodes first."""
    weight = 100 if name else 1
    return f"update NodeName={node} AvailableFeatures='{name}' ActiveFeatures='{name}' Weight={weight}"


@pytest.fixture
def queue(cluster: Cluster, tmp_path: Path) -> Iterator[Queue]:
    yield Queue(cluster, tmp_path)
    cluster.run("sh", "-c", "scancel --me; while squeue --noheader | grep -q .; do sleep 0.1; done")


def test_jobs_get_the_nodes_that_were_reserved_or_have_a_feature_and_arrays_their_numbers(
    queue: Queue,
) -> None:
    """Others start on n1 or n4."""
    reservation = f"ReservationName=mine Nodes=n3 StartTime=now Duration=10 Users={getpass.getuser()}"
    queue.administer(f"create reservation {reservation}", feature("n2", "here"))
    try:
        there = queue.submit("--reservation", "mine", "--", *WHERE)
        here = queue.submit("--constraint", "here", "--", *WHERE)
        three = queue.submit("--array", "7-9", "--", *WHERE)
        assert queue.printed(there)[0].split()[0] == "n3"
        assert queue.printed(here)[0].split()[0] == "n2"
        assert [each.split()[-1] for each in queue.printed(three, 3)] == ["7", "8", "9"]
    finally:
        queue.administer("delete ReservationName=mine", feature("n2", ""))


def test_a_job_is_charged_to_its_account_with_its_quality_of_service(queue: Queue) -> None:
    if "accounting is off" in queue.cluster.do("status").stdout:
        pytest.skip("accounting is off")
    made = f"""sacctmgr --immediate add account physics && sacctmgr --immediate add qos long &&
        sacctmgr --immediate add user {getpass.getuser()} account=physics qos=normal,long"""
    done = queue.cluster.run("sh", "-c", made)
    assert done.returncode == 0, done.stdout + done.stderr
    job = queue.submit("--account", "physics", "--qos", "long", "--", *WHERE)
    assert queue.printed(job)[0].split()[1:] == ["physics", "long"]


def test_names_and_folders_of_any_characters_reach_slurm_whole(queue: Queue, tmp_path: Path) -> None:
    name = 'odd "na\'me" #1 \\ $(touch evil) `x` ;&'
    program = tmp_path / name
    program.write_text("#!/bin/sh\necho $SLURM_JOB_NAME\n")
    program.chmod(0o755)
    job = queue.submit("--", program, "a word\n#SBATCH --nodes=4\ntouch evil")
    assert queue.printed(job) == [f"strata-{name}"]
    assert not (tmp_path / "evil").exists()


def test_a_job_waits_for_nodes_below_one_switch(queue: Queue) -> None:
    """Without --switches it would start at once on n2 and n4."""
    held = queue.hold("n1", "n3")
    words = ["--partition", "batch", "--nodes", 2, "--switches", "1@60:00", "--", "hostname"]
    job = queue.submit(*words)
    queue.until_not(job, "%r", "None")  # Slurm has tried to start it
    assert queue.cluster.run("scancel", held[0]).returncode == 0
    assert sorted(queue.printed(job)[0].split()) == ["n1", "n2"]


def test_rank_0_lies_on_the_node_with_more_memory_and_ranks_are_read_on_all_nodes(
    queue: Queue, tmp_path: Path
) -> None:
    """n2, where others have rank 0 on the first node by its name. The ranks are one MPI world."""
    if "pmix" not in (listed := queue.cluster.run("srun", "--mpi=list")).stdout + listed.stderr:
        pytest.skip("this Slurm has no pmix")
    queue.administer(feature("n2", "bigmem"))
    try:
        most = max(int(row) for row in queue.cluster.run("sinfo", "-h", "-N", "-o", "%m").stdout.split())
        record, program = tmp_path / "record.json", built("tests", "team", "team_nodes")
        say = f"echo rank $STRATA_RANK on $(hostname); {program} hello; sleep 1"
        ask = ["--nodes", 2, "--first-node-memory", f"{most - 1}MiB", "--partition", "batch"]
        launch = ["launch", "--layout", "2x1", "--check", "--record", record, "--", "sh", "-c", say]
        said = queue.printed(queue.submit(*ask, "--", *launch))[0]
    finally:
        queue.administer(feature("n2", ""))
    first = re.search(r"rank 0 on (n\d)\n", said)
    assert first and first[1] == "n2", said
    assert re.search(r"rank 1 on n[134]\n", said), said
    for rank in range(2):
        assert f"member {rank} of 2 node {rank} of 2" in said
    read = json.loads(record.read_text())
    assert read["agrees"] is True and read["threads_agree"] is True, read
    assert {each["rank"] for node in read["nodes"] for each in node["threads"]} | {
        each["rank"] for each in read["threads"]
    } == {0, 1}
