"""--bcast: ranks run from a copy on their node, with its libraries, and nothing of it is left."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_box import Cluster, Done, until
from tested_build import strata

NODES = ["n1", "n2", "n3", "n4"]
JOB = ["salloc", "-Q", "-N", 2, "--exclusive"]
LAUNCH = [strata(), "launch", "--nodes", 2, "--layout", "2x1"]


def copies(cluster: Cluster) -> list[str]:
    """On all nodes, asked without Slurm."""
    listed = [cluster.on(node, "ls", "-A", "/tmp", "/dev/shm").stdout.split() for node in NODES]
    return [name for names in listed for name in names if "bcast" in name]


def pids(cluster: Cluster, name: str) -> list[int]:
    return [pid for pid, called in cluster.processes().items() if called == name]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[str]:
    """A shell under another name."""
    yield shutil.copy(os.path.realpath("/bin/sh"), tmp_path / "a program")


def launched(cluster: Cluster, program: str, script: str, bcast: str = "--bcast") -> Done:
    return cluster.run(*JOB, *LAUNCH, "--label", bcast, "--", program, "-c", script)


@pytest.mark.parametrize("how", ["core", "none"])
def test_ranks_run_from_copies_that_are_gone_afterwards(cluster: Cluster, program: str, how: str) -> None:
    where = "readlink /proc/$$/exe; echo $STRATA_RANK/$STRATA_SIZE $(hostname)"
    options = ["--bind", how, "--bcast=/dev/shm"]
    done = cluster.run(*JOB, *LAUNCH, *options, "--", program, "-c", where)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 4, done.stderr
    assert sum(line.startswith("/dev/shm/bcast-strata-") for line in lines) == 2, lines
    assert sum(line.endswith("-a program") for line in lines) == 2, lines
    assert {line for line in lines if not line.startswith("/")} == {"0/2 n1", "1/2 n2"}
    assert copies(cluster) == []


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_libraries_come_along(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "library.c").write_text("int seven(void) { return 7; }\n")
    main = "#include <stdio.h>\n#include <string.h>\nint seven(void);\nint main(void) {\n"
    main += '    char line[4096];\n    FILE* maps = fopen("/proc/self/maps", "r");\n'
    main += "    while (fgets(line, sizeof line, maps))\n"
    main += '        if (strstr(line, "libseven")) { fputs(strchr(line, 47), stdout); break; }\n'
    main += "    return seven() - 7;\n}\n"
    (tmp_path / "main.c").write_text(main)
    library, built = tmp_path / "libseven.so", tmp_path / "seven"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "library.c"], check=True)
    subprocess.run(["cc", "-o", built, tmp_path / "main.c", f"-L{tmp_path}", "-lseven"], check=True)
    path = f"LD_LIBRARY_PATH={tmp_path}:{cluster.run('printenv', 'LD_LIBRARY_PATH').stdout.strip()}"
    done = cluster.run(*JOB, "env", path, *LAUNCH, "--bcast", "--", built)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all(line.startswith("/tmp/bcast-strata-") for line in lines), lines
    assert all(line.endswith("-seven_libs/libseven.so") for line in lines)
    assert copies(cluster) == []


def test_no_command_line_says_the_name_of_a_copy_that_is_to_come(cluster: Cluster, program: str) -> None:
    """Whoever reads it there makes that file first. What waits for the copy on a node is there before it."""
    lines = "for each in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$each; echo; done 2>/dev/null"
    done = launched(cluster, program, lines)
    holders = [line for line in done.stdout.splitlines() if "later=" in line]
    assert done.returncode == 0 and holders, done.stderr
    assert not [line for line in holders if re.search(r"bcast-strata-\d", line)]


def test_a_rank_that_fails_leaves_no_copy(cluster: Cluster, program: str) -> None:
    done = launched(cluster, program, "exit 7")
    # The status of the other, where srun ended it first.
    assert done.returncode in (7, 128 + signal.SIGTERM) and copies(cluster) == []


def test_a_folder_that_is_not_there_is_told_and_nothing_left(cluster: Cluster, program: str) -> None:
    done = launched(cluster, program, "true", "--bcast=/no/folder")
    assert done.returncode == 1 and "could not be sent to the nodes" in done.stderr
    assert "/no/folder" in done.stderr and copies(cluster) == [] and cluster.ended()


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("goes_on", [True, False], ids=["the job goes on", "the job ends"])
def test_a_launcher_that_is_killed_leaves_no_copy(
    cluster: Cluster, program: str, by: signal.Signals, goes_on: bool
) -> None:
    script = '"$@"; sleep 5' if goes_on else 'exec "$@"'
    words = [*LAUNCH, "--bcast", "--", program, "-c", "sleep 1000; true"]
    with cluster.going("login", *JOB, "sh", "-c", script, "sh", *words) as starter:
        assert until(lambda: len(copies(cluster)) == 4), copies(cluster)  # the folders of libraries too
        assert until(lambda: len(pids(cluster, "a program")) >= 2 or len(pids(cluster, "sleep")) >= 4)
        os.kill(min(pids(cluster, "strata")), by)
        assert until(lambda: copies(cluster) == [], 30), copies(cluster)
        starter.wait(30)
    assert cluster.ended(30)


def test_a_job_that_is_cancelled_leaves_no_copy(cluster: Cluster, program: str) -> None:
    words = [*LAUNCH, "--bcast", "--", program, "-c", "sleep 1000; true"]
    with cluster.going("login", *JOB, *words) as starter:
        assert until(lambda: len(copies(cluster)) >= 2)
        job = cluster.run("squeue", "--noheader", "--format=%A").stdout.split()
        cluster.run("scancel", *job)
        assert until(lambda: copies(cluster) == [], 30), copies(cluster)
        starter.wait(30)
    assert cluster.ended(30)


def test_copies_from_before_a_nodes_start_are_removed_by_the_next(
    cluster: Cluster, program: str, tmp_path: Path
) -> None:
    started_later = tmp_path / "stat"
    started_later.write_text(f"btime {int(time.time()) + 3600}\n")
    for node in NODES[:2]:
        cluster.on(node, "mkdir", "/tmp/bcast-strata-1-old_libs")
        cluster.on(node, "touch", "/tmp/bcast-strata-1-old", "/tmp/bcast-of-another-program")
    cluster.on("n1", "mount", "--bind", str(started_later), "/proc/stat")
    try:
        done = launched(cluster, program, "true")
    finally:
        cluster.on("n1", "umount", "/proc/stat")
    listed = {node: cluster.on(node, "ls", "/tmp").stdout.split() for node in NODES[:2]}
    for node in NODES[:2]:
        cluster.on(node, "rm", "-rf", *(f"/tmp/{name}" for name in listed[node] if "bcast" in name))
    assert done.returncode == 0, done.stderr
    assert [name for name in listed["n1"] if "bcast" in name] == ["bcast-of-another-program"]
    assert len([name for name in listed["n2"] if "bcast" in name]) == 3, listed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes", "2", "--bcast"], "a program is sent to the nodes of a job"),
        (["--nodes", "2", "--bcast=here"], "a path that begins with '/'"),
        (["--bcast"], "--bcast with --nodes N"),
    ],
)
def test_what_cannot_be_sent_is_refused(cluster: Cluster, words: list[str], said: str) -> None:
    done = cluster.run(strata(), "launch", *words, "--layout", "2x1", "--", "true")
    assert done.returncode != 0 and said in done.stderr and done.stderr.count("strata: error") == 1
