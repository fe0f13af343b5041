"""Teams and solvers under Slurm: on two nodes of a cluster in a box."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checkpoints import changed, checksums
from cluster_box import Cluster, cluster, until
from tested_build import built, strata

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "cases"
HEAT = {"cells": "[32, 32, 32]", "patch": "[16, 16, 8]"}
MELT = {"cells": "[8, 8, 8]", "seed": "87287\npatches = [2, 2, 2]"}

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")


__all__ = ["cluster"]


@pytest.fixture
def quiet(cluster: Cluster) -> Iterator[Cluster]:
    """A Slurm without jobs, before and after."""
    assert cluster.ended()
    yield cluster
    assert cluster.ended(), cluster.run("squeue").stdout + str(cluster.processes())
    left = cluster.run("srun", "-N", "4", "ls", "-A", "/dev/shm")
    assert left.returncode == 0, left.stderr
    assert left.stdout == ""


def solver(name: str) -> str:
    return built("solvers", f"strata-{name}")


@pytest.fixture(params=["pmix", "pmi2"])
def mpi(request: pytest.FixtureRequest, cluster: Cluster) -> tuple[str, str]:
    """--mpi=... for the program for several nodes of that MPI, and the program."""
    by = str(request.param)
    listed = cluster.run("srun", "--mpi=list")
    if by not in listed.stdout + listed.stderr:
        pytest.skip(f"this Slurm has no {by}")
    return f"--mpi={by}", built("tests", "team", "team_nodes" if by == "pmix" else "team_nodes_mpich")


@pytest.fixture
def srun(cluster: Cluster) -> list[str]:
    """For programs of the build's own MPI: two ranks on each of two nodes."""
    shown = subprocess.run(["ldd", solver("transport")], capture_output=True, text=True, check=True).stdout
    if "libmpi.so.40" not in shown and "libmpich" not in shown:
        pytest.skip("built with an MPI that is neither Open MPI nor MPICH")
    by = "pmix" if "libmpi.so.40" in shown else "pmi2"
    if by not in (listed := cluster.run("srun", "--mpi=list")).stdout + listed.stderr:
        pytest.skip(f"this Slurm has no {by}")
    return ["srun", f"--mpi={by}", "-N", "2", "-n", "4"]


def submitted(slurm: Cluster, script: str, folder: Path, *options: str, seconds: float = 60) -> str:
    """What a batch script printed; it must succeed."""
    path, out = folder / "job.sh", folder / "job.out"
    path.write_text(f"#!/bin/bash -e\n{script}\n")
    done = slurm.run("sbatch", "--parsable", f"--output={out}", *options, path)
    assert done.returncode == 0, done.stderr
    end = time.monotonic() + seconds
    while slurm.run("squeue", "--noheader", "-j", done.stdout.strip()).stdout and time.monotonic() < end:
        time.sleep(0.05)
    said = out.read_text() if out.exists() else ""
    shown = slurm.run("scontrol", "show", "job", done.stdout.strip()).stdout
    assert "JobState=COMPLETED" in shown, shown + said + slurm.logs()
    return said


def waiting(slurm: Cluster, command: list[str]) -> subprocess.Popen[str]:
    """A command whose two members wait for each other without end; returns when they do."""
    going = subprocess.Popen(
        slurm.command(*command),
        env=slurm.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert going.stdout is not None
    for _ in range(2):
        line = going.stdout.readline()
        assert "waits" in line, line + going.communicate(timeout=30)[1]
    return going


def test_the_ranks_of_a_step_are_one_team_over_its_nodes(quiet, mpi):
    by, program = mpi
    done = quiet.run("srun", by, "-N", "2", "-n", "2", program, "hello")
    assert done.returncode == 0, done.stderr
    for rank in range(2):
        assert f"member {rank} of 2 node {rank} of 2 local 0 of 1 same true" in done.stdout
    done = quiet.run("srun", by, "-N", "2", "-n", "4", program, "hello")
    assert done.returncode == 0, done.stderr
    for rank in range(4):
        assert f"member {rank} of 4 node {rank // 2} of 2 local {rank % 2} of 2 same true" in done.stdout
    done = quiet.run("srun", by, "-N", "4", program, "hello")
    assert done.returncode == 0, done.stderr
    for rank in range(4):
        assert f"member {rank} of 4 node {rank} of 4 local 0 of 1 same true" in done.stdout


@pytest.mark.soak
def test_no_rank_of_many_steps_hangs_as_it_ends(quiet, mpi):
    """MPICH 4.0 over UCX can, where ranks come to MPI_Finalize one after the other: docs/cluster.md."""
    by, program = mpi
    for _ in range(100):
        assert quiet.run("srun", by, "-N", "4", program, "hello", timeout=60).returncode == 0


def test_ranks_that_do_not_find_each_other_are_one_error(quiet, mpi):
    by, program = mpi
    done = quiet.run("srun", "--mpi=none", "-N", "2", program, "hello")
    assert done.returncode != 0
    assert "member 0 of 1" not in done.stdout
    assert done.stderr.count("try: srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH") == 1
    if by == "--mpi=pmi2":  # Open MPI ends by itself, with many words
        assert done.stderr.count("strata: error") == 1
        assert "MPI tells each that it is alone" in done.stderr


def test_a_member_killed_before_it_joined_is_told_how_slurm_holds_ranks(quiet, mpi):
    """Only where that may be the cause: a step of Slurm's PMIx, whose fences are not known to hold."""
    by, program = mpi
    loose = quiet.environment
    held = loose | {"SLURM_PMIX_FENCE": "ring"}
    for environment in (loose, held):
        done = quiet.run("srun", by, "-N", "2", "-n", "2", program, "die_early", env=environment)
        assert done.returncode == 137
        assert re.search(r"a member \(process \d+\) was killed by SIGKILL before it had joined", done.stderr)
        advised = by == "--mpi=pmix" and environment is loose
        assert ("try: SLURM_PMIX_FENCE=ring srun" in done.stderr) == advised


def test_strata_launch_has_srun_hold_ranks_until_all_are_there(quiet):
    environment = quiet.environment
    command = [strata(), "launch", "--layout", "2x1", "--bind", "none", "--", "srun", "-N", "2"]
    for said, then in ((None, "ring"), ("tree", "tree")):
        given = environment if said is None else environment | {"SLURM_PMIX_FENCE": said}
        done = quiet.run(*command, "printenv", "SLURM_PMIX_FENCE", env=given)
        assert (done.returncode, done.stdout.split()) == (0, [then] * 2), done.stderr


def recorded(slurm: Cluster, folder: Path, *program: str) -> tuple[int, str, dict[str, Any]]:
    """Exit status, words and record of a run of two ranks on one node whose placement is read back."""
    options = ["--layout", "2x1", "--memory", "local", "--check", "--explain", "--record", folder / "record"]
    # From a node, since the ranks of the own node are read.
    step = ["srun", "-w", "n1", "-n", "2", *program]
    done = slurm.on("n1", strata(), "launch", *options, "--", *step)
    return done.returncode, done.stderr, json.loads((folder / "record").read_text())


def test_ranks_that_srun_starts_are_read_back(quiet, tmp_path):
    """They are children of Slurm's daemons, and are known by a mark of the run."""
    busy = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; sleep 0.2"
    status, said, record = recorded(quiet, tmp_path, "sh", "-c", busy)
    assert (status, record["threads_agree"]) == (0, True), said
    promised = {one["rank"]: one["threads"][0] for one in record["promised"]}
    assert {t["rank"]: t["allowed"] for t in record["threads"]} == promised
    assert record["pages"]["processes"] == 2
    assert record["cpu"]["others_share"] is None  # whose time it was is not known
    # One that leaves its place is found out.
    status, said, record = recorded(quiet, tmp_path, "taskset", "-c", promised[0], "sh", "-c", busy)
    assert (status, record["agrees"]) == (1, False), said
    assert f"of process 1 may run on PU {promised[0]}, promised was PU {promised[1]}" in said


def test_a_layout_over_several_nodes_may_be_larger_than_one_of_them(quiet):
    """Each node lays out the ranks that it has; here both are this machine."""
    command = [strata(), "launch", "--layout", "4x1", "--bind", "core", "--", "srun", "-N", "2", "-n", "4"]
    done = quiet.run(*command, "grep", "Cpus_allowed_list", "/proc/self/status")
    assert done.returncode == 0, done.stderr
    seen = sorted(int(line.split()[1]) for line in done.stdout.splitlines())
    assert len(seen) == 4 and seen[0] == seen[1] and seen[2] == seen[3] and seen[0] != seen[2], seen
    planned = quiet.run(*command[:6], "--dry-run", *command[6:], "true").stdout
    assert "nodes: 2, which have about 2 of 4 processes each" in planned


def test_an_srun_around_the_launcher_that_binds_otherwise_is_one_message(quiet):
    one, other = sorted(os.sched_getaffinity(0))[:2]
    inner = [strata(), "launch", "--layout", "2x1", "--bind", f"os:{other},{one}", "--", "true"]
    step = ["srun", "-N", "1", "-n", "2"]
    done = quiet.run(*step, f"--cpu-bind=map_cpu:{one},{other}", *inner)
    assert done.returncode == 2
    assert done.stderr.count("strata: error: srun's binding contradicts the layout") == 1
    assert f"srun --cpu-bind=quiet,map_cpu:{one},{other} holds process" in done.stderr
    instead = f"srun --cpu-bind=none -n 2 strata launch --layout 2x1 --bind os:{other},{one} -- true"
    assert f"try: {instead}\n" in done.stderr
    # What it says to type, typed.
    assert quiet.run(*step, "--cpu-bind=none", *inner).returncode == 0


def test_a_member_that_is_killed_ends_the_step_with_its_name(quiet, mpi):
    by, program = mpi
    done = quiet.run("srun", by, "-N", "2", "-n", "2", program, "die", "kill", "1", "30000", timeout=30)
    assert done.returncode != 0
    assert done.stderr.count("strata: error") == 1
    assert re.search(r"strata: error: member 1 \(process \d+\) on \S+ was killed by SIGKILL", done.stderr)
    # With PMIx, Slurm 24 ends the step at once, with a status of its own; the others may not come to speak.
    version = re.search(r"\d+", quiet.run("srun", "--version").stdout)
    if version and int(version[0]) < 24:
        assert done.returncode == 137
        assert "member 0 saw: member 1 " in done.stdout


@pytest.mark.parametrize(("name", "steps"), [("heat-round", "20"), ("mixed", "5")])
def test_a_graph_over_the_nodes_of_a_step_gives_the_same_bits(quiet, srun, name, steps):
    program = built("tests", "graph", "graph_member")
    alone = quiet.run(program, name, steps, env=quiet.environment | {"STRATA_LAYOUT": "1x1"})
    assert alone.returncode == 0, alone.stderr
    done = quiet.run(*srun, program, name, steps)
    assert done.returncode == 0, done.stderr
    assert "patch 0 " in done.stdout
    assert sorted(done.stdout.splitlines()) == sorted(alone.stdout.splitlines())


@pytest.mark.parametrize("nodes", [2, 4])
@pytest.mark.parametrize(
    ("name", "case", "changes"),
    [("transport", "heat", HEAT), ("mpm", "axial", {}), ("md", "melt", MELT)],
)
def test_a_case_over_nodes_gives_the_bits_of_strata_run(quiet, srun, tmp_path, name, case, changes, nodes):
    path = changed(CASES / name / f"{case}.toml", tmp_path / "case.toml", **changes)
    words = ["--steps", "20", "--checkpoint", "20", "--quiet", "--out"]
    alone = quiet.run(strata(), "run", path, "--layout", "1x1", *words, tmp_path / "alone")
    assert alone.returncode == 0, alone.stderr
    step = [*srun[:2], "-N", nodes, "-n", 4]
    done = quiet.run(*step, solver(name), path, *words, tmp_path / "nodes")
    assert done.returncode == 0, done.stderr
    assert f"{name}: 4 processes" in done.stdout
    expected = checksums(tmp_path / "alone" / "checkpoint-000020")
    assert len(expected) > 8
    assert checksums(tmp_path / "nodes" / "checkpoint-000020") == expected


def test_a_case_and_a_program_over_nodes_need_no_srun_line(quiet, srun, tmp_path):
    """Outside a job srun asks for the nodes; inside it is a step of the job."""
    case = changed(CASES / "transport" / "heat.toml", tmp_path / "case.toml", **HEAT)
    words = ["--steps", "20", "--checkpoint", "20", "--quiet", "--bind", "none", "--out"]
    alone = quiet.run(strata(), "run", case, *words, tmp_path / "alone")
    assert alone.returncode == 0, alone.stderr
    over = [strata(), "run", case, "--nodes", "2", "--layout", "2x1", *words]
    done = quiet.run(*over, tmp_path / "nodes")
    assert done.returncode == 0, done.stderr
    assert "transport: 2 processes" in done.stdout
    submitted(quiet, f"{' '.join(map(str, over))} {tmp_path}/job", tmp_path, "-N", "2")
    expected = checksums(tmp_path / "alone" / "checkpoint-000020")
    assert len(expected) > 8
    for folder in ("nodes", "job"):
        assert checksums(tmp_path / folder / "checkpoint-000020") == expected
    launch = [strata(), "launch", "--nodes", "2", "--layout", "2x1", "--bind", "none", "--label", "--"]
    typed = quiet.run(*launch, "sh", "-c", "echo in:$(cat) of $STRATA_RANK", input="typed")
    assert typed.returncode == 0, typed.stderr
    assert sorted(typed.stdout.splitlines()) == ["0: in:typed of 0", "1: in: of 1"]


@pytest.fixture
def crowded(quiet: Cluster) -> Iterator[Cluster]:
    """n4 is busy for eight minutes, and then a large job has all nodes for an hour."""
    hold = "sbatch --parsable -p batch -o /dev/null --wrap 'sleep 1000'"
    wait = "until squeue -h -j $job -o '%T %r' | grep -q 'RUNNING\\|Resources'; do sleep 0.1; done"
    lines = [f"job=$({hold} {each}); {wait}; echo $job" for each in ("-w n4 -t 8", "-N 4 -t 60")]
    done = quiet.run("sh", "-c", "; ".join(lines))
    assert done.returncode == 0, done.stderr
    yield quiet
    assert quiet.run("scancel", *done.stdout.split()).returncode == 0


@pytest.mark.parametrize("by", ["scancel", pytest.param("Slurm", marks=pytest.mark.soak)])
def test_a_submitted_run_gets_the_time_there_is_and_goes_on_until_it_is_done(crowded, srun, tmp_path, by):
    """It starts before the large job, with less time than it asked for. Told that this is over it writes a
    checkpoint, and asks for all of its time again; the second start ends with the bits of a run that nobody
    stopped.
    """
    front = strata()
    environment = crowded.environment | {"STRATA_BIN": front, "STRATA_ROOT": str(tmp_path / "no checkout")}
    if "STRATA_PYTHON" not in environment:
        environment["STRATA_PYTHON"] = sys.executable
    # Slurm's own warning comes two minutes before the end, or up to a minute earlier.
    steps, least = 1000000, 5 if by == "scancel" else 3
    changes = {"cells": "[64, 64, 64]", "end": "1e9"}
    case = changed(CASES / "transport" / "heat.toml", tmp_path / "case.toml", **changes)
    if by == "scancel":  # about 8 s of it, however fast this machine is: it is to be stopped on its way
        began, some = time.monotonic(), ("--steps", 600, "--layout", "2x1", "--bind", "none", "--quiet")
        assert crowded.run(front, "run", case, *some, "--out", tmp_path / "some").returncode == 0
        steps = max(1300, int(600 * 8 / (time.monotonic() - began)))
    words = ["run", case, "--steps", steps, "--checkpoint", steps, "--bind", "none", "--out"]
    asked = ["submit", "--goes-on", "--nodes", "2", "-p", "batch", "--time", "30m", "--time-min", f"{least}m"]
    done = crowded.run(front, *asked, "--", *words, tmp_path / "job", "--layout", "2x1", env=environment)
    assert done.returncode == 0, done.stderr
    job = re.search(r"submitted job (\d+) to partition batch", done.stdout)[1]

    def said(form: str) -> str:
        return crowded.run("squeue", "--noheader", "-j", job, "-o", form).stdout.strip()

    assert until((tmp_path / "job" / "control" / "control.sock").exists, 60), said("%T %r") + crowded.logs()
    assert said("%l") == f"{least}:00"
    if by == "scancel":
        assert crowded.run("scancel", "--batch", "--signal=USR1", job).returncode == 0
    assert until(lambda: said("%T %l").split() == ["PENDING", "30:00"], 120), said("%T %l") + crowded.logs()
    if by == "Slurm":
        assert list((tmp_path / "job").glob("checkpoint-*"))
        assert crowded.run("scancel", job).returncode == 0
        return
    output, stops = tmp_path / "job" / f"slurm-{job}.out", []

    def over() -> bool:
        """Slurm lets a job that is queued again wait for a while. Here it gets two seconds: slurmd takes one
        that comes at once for the one that was ended.
        """
        if said("%T") == "PENDING":
            time.sleep(2)
            crowded.run("scontrol", "update", f"JobId={job}", "StartTime=now")
        stops[:] = re.findall(r"transport: 2 processes.*? (\d+) steps? to", output.read_text())
        return len(stops) == 2

    assert until(over, 120), output.read_text() + crowded.logs()
    alone = crowded.run(front, *words, tmp_path / "alone")
    assert 0 < int(stops[0]) < steps == int(stops[1])
    second = output.read_text().split("transport: 2 processes")[1]
    assert int(re.search(rf"step (\d+) of {steps}", second)[1]) > 0, second
    expected = checksums(tmp_path / "alone" / f"checkpoint-{steps:06}")
    assert alone.returncode == 0 and checksums(tmp_path / "job" / f"checkpoint-{steps:06}") == expected


def test_inside_a_batch_job_all_ways_to_start_lead_to_their_nodes(quiet, srun, tmp_path):
    """A batch script is no rank of a step, though Slurm numbers it as one."""
    program = built("tests", "team", "team_nodes")
    launch = [strata(), "launch", "--layout", "4x1", "--bind", "none", "--"]
    step = " ".join(srun)
    case = changed(CASES / "transport" / "heat.toml", tmp_path / "case.toml", **HEAT)
    lines = [
        f"echo '== plain'; STRATA_LAYOUT=2x1 {program} hello",
        f"echo '== run'; {strata()} run {case} --layout 2x1 --bind none --steps 2 --quiet",
        f"echo '== srun inside'; {' '.join(launch)} {step} {program} hello",
        f"echo '== srun outside'; {step} --cpu-bind=none {' '.join(launch)} {program} hello",
    ]
    mpirun = shutil.which("mpirun")
    if mpirun and "pmix" in step:
        around = f"{mpirun} -n 4 --oversubscribe --map-by ppr:2:node"
        lines.append(f"echo '== mpirun'; {' '.join(launch)} {around} {program} hello")
    said = submitted(quiet, "\n".join(lines), tmp_path, "-N", "2", "--ntasks-per-node=2")
    parts = dict(zip(*[iter(re.split(r"== (.*)\n", said)[1:])] * 2, strict=True))
    for member in range(2):
        assert f"member {member} of 2 node 0 of 1" in parts["plain"]
    assert "transport: 2 processes" in parts["run"]
    for way in [each for each in ("srun inside", "srun outside", "mpirun") if each in parts]:
        for member in range(4):
            assert f"member {member} of 4 node {member // 2} of 2" in parts[way], (way, said)
        # This node's folder is not named to the MPI of the other: Open MPI would complain, or make it.
        assert "shmem" not in parts[way]


def test_a_job_that_is_cancelled_leaves_nothing_behind(quiet, mpi):
    """scancel, and a time limit, send SIGTERM to all, and SIGKILL later."""
    by, program = mpi
    with waiting(quiet, ["srun", by, "-N", "2", "-n", "2", program, "wait"]) as going:
        assert len(set(quiet.processes()) - quiet.at_rest) >= 6
        assert quiet.run("scancel", "--name=" + Path(program).name).returncode == 0
        going.communicate(timeout=30)
    assert going.returncode != 0  # 143 as a rule; srun of Slurm 24 with PMIx was seen to end with 14
    assert quiet.ended()


@pytest.mark.parametrize("way", ["timeout", "lifeline", "SIGTERM", "SIGKILL"])
def test_a_launcher_that_ends_ends_its_step_on_all_nodes(quiet, srun, way):
    """srun that is killed by SIGKILL, with the process beside it, would leave its step running."""
    program = built("tests", "team", "team_nodes")
    limit = ["--timeout", "3"] if way == "timeout" else []
    command = [strata(), "launch", "--layout", "2x1", "--bind", "none", *limit, "--"]
    command += [*srun[:-1], "2", program, "wait"]
    reading, writing = os.pipe()
    slurms = quiet.environment
    try:
        with subprocess.Popen(
            quiet.command(*command),
            env=slurms | ({"STRATA_LIFELINE_FD": str(reading)} if way == "lifeline" else {}),
            pass_fds=[reading],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as going:
            assert going.stdout is not None
            assert all("waits" in going.stdout.readline() for _ in range(2))
            if way == "SIGTERM":
                going.terminate()
            if way == "SIGKILL":
                going.kill()
            if way == "lifeline":
                os.close(writing)
            _, said = going.communicate(timeout=30)
    finally:
        os.close(reading)
        if way != "lifeline":
            os.close(writing)
    assert going.returncode != 0
    assert ("the run was ended after 3 s (--timeout)" in said) == (way == "timeout")
    assert quiet.ended()


@pytest.mark.soak
def test_a_time_limit_leaves_checkpoints_and_nothing_else(quiet, srun, tmp_path):
    """Slurm knows whole minutes, and looks twice a minute or so."""
    case = changed(CASES / "transport" / "heat.toml", tmp_path / "case.toml", end="1e9", error="0.0", **HEAT)
    step = f"{' '.join(srun)} {solver('transport')} {case} --out {tmp_path}/out --checkpoint 200 --quiet"
    (tmp_path / "job.sh").write_text(f"#!/bin/bash\n{step}\n")
    options = ["--parsable", "--time=1", "-N", "2", "--ntasks-per-node=2", f"--output={tmp_path}/job.out"]
    job = quiet.run("sbatch", *options, tmp_path / "job.sh").stdout.strip()
    end = time.monotonic() + 180
    while quiet.run("squeue", "--noheader", "-j", job).stdout and time.monotonic() < end:
        time.sleep(0.5)
    assert "JobState=TIMEOUT" in quiet.run("scontrol", "show", "job", job).stdout
    assert "DUE TO TIME LIMIT" in (tmp_path / "job.out").read_text()
    assert quiet.ended()
    kept = sorted((tmp_path / "out").glob("checkpoint-*"))
    assert kept
    step = int(kept[-1].name[-6:])
    done = quiet.run(
        *srun, solver("transport"), case, "--out", tmp_path / "out", "--restart", tmp_path / "out",
        "--steps", str(step + 10), "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.soak
def test_whoever_is_killed_the_others_end(quiet, mpi):
    """At the next meeting: a slurmstepd, a keeper, or all of a node's."""
    by, program = mpi
    command = ["srun", by, "-N", "2", "-n", "2", program, "wait"]
    for victim in ("member", "keeper", "srun"):
        with waiting(quiet, command) as going:
            names = {}
            for pid in quiet.processes():
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                if words[0] == program.encode():
                    names[pid] = parent
            keeper = next(parent for parent in names.values() if parent in names)
            member = next(pid for pid, parent in names.items() if parent == keeper)
            os.kill({"member": member, "keeper": keeper, "srun": going.pid}[victim], 9)
            going.communicate(timeout=60)
        assert going.returncode != 0
        assert quiet.ended(30)


@pytest.mark.soak
def test_characterize_refuses_a_login_node_and_is_submitted_to_another(quiet, tmp_path):
    front = Path(os.environ.get("STRATA_PREFIX", "nowhere"), "bin", "strata")
    if not front.exists():
        pytest.skip("needs the installed programs: ./strata test sets STRATA_PREFIX")
    tiny, results = ROOT / "tests" / "e2e" / "tiny.toml", tmp_path / "results"
    words = ["characterize", "--quick", "--case", tiny, "--out", results]
    environment = quiet.environment | {"STRATA_PYTHON": os.environ.get("STRATA_PYTHON", sys.executable)}
    refused = quiet.run(front, *words, env=environment)
    assert refused.returncode == 3
    assert "strata submit -- characterize" in refused.stderr
    done = quiet.run(front, "submit", "--partition", "all", "--", *words, env=environment)
    assert done.returncode == 0, done.stderr
    job = re.search(r"submitted job (\d+) to partition all", done.stdout)[1]
    end = time.monotonic() + 300
    while quiet.run("squeue", "--noheader", "-j", job).stdout and time.monotonic() < end:
        time.sleep(0.5)
    # Measurements may have been disturbed; that they were made is what counts here.
    said = (results / f"slurm-{job}.out").read_text()
    assert re.search(r"^measured:   [1-9]\d* of \d+ settings?", said, re.M), said
    assert (results / "report" / "report.html").exists()
