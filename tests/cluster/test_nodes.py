"""What a node is, and what it has of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from cluster_box import Cluster, until

NODES = ["n1", "n2", "n3", "n4"]


def test_all_nodes_are_idle_and_a_step_runs_on_each(cluster: Cluster) -> None:
    rows = cluster.status()
    assert list(rows) == ["login", *NODES]
    assert {rows[name]["slurm"] for name in NODES} == {"idle"}
    assert len({row["address"] for row in rows.values()}) == 5
    done = cluster.on("login", "srun", "-N", 4, "hostname")
    assert sorted(done.stdout.split()) == NODES, done.stderr
    done = cluster.on("login", "srun", "-w", "n2,n3", "hostname")
    assert sorted(done.stdout.split()) == ["n2", "n3"]


def test_a_node_has_processes_and_temporary_files_of_its_own(cluster: Cluster) -> None:
    mine = (
        "echo $$ > /tmp/mine; echo x > /dev/shm/mine; cat /proc/1/comm; ls /proc | grep -c '^[0-9]'; hostname"
    )
    said = cluster.on("n1", "sh", "-c", mine).stdout.split("\n")
    assert said[0] == "node n1" and int(said[1]) < 20 and said[2] == "n1"
    there = cluster.on("n2", "sh", "-c", "ls -A /tmp /dev/shm")
    assert there.returncode == 0 and "mine" not in there.stdout
    assert not Path("/tmp/mine").exists() and not Path("/dev/shm/mine").exists()
    cluster.on("n1", "rm", "/tmp/mine", "/dev/shm/mine")


def test_a_shared_folder_is_the_same_on_all_nodes(cluster: Cluster, tmp_path: Path) -> None:
    done = cluster.on("login", "srun", "-N", 4, "sh", "-c", f"hostname > {tmp_path}/$(hostname)")
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_text().strip() for path in tmp_path.iterdir()} == dict(
        zip(NODES, NODES, strict=True)
    )


def test_a_shared_folder_may_lie_in_another(own: Cluster, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    own.up("--nodes", 1, "--share", inner, "--share", tmp_path)
    assert own.on("n1", "ls", tmp_path).stdout == "inner\n"


def test_a_node_that_needs_more_memory_than_its_limit_loses_the_program_alone(own: Cluster) -> None:
    own.up("--nodes", 2, "--memory", "256MiB")
    greedy = "b = bytearray(400 << 20); print(len(b))"
    notes = own.do("status").stdout
    done = own.on("login", "srun", "-w", "n1", "python3", "-c", greedy)
    if "no limit of memory" in notes:
        assert done.returncode == 0
        return
    assert done.returncode != 0 and done.stdout == ""
    assert own.on("login", "srun", "-N", 2, "hostname").stdout.count("n") == 2


def test_cores_are_dealt_to_the_nodes(own: Cluster) -> None:
    cores = sorted(os.sched_getaffinity(0))
    own.up("--nodes", 2, "--cpus", 1)
    done = own.on("login", "srun", "-N", 2, "grep", "Cpus_allowed_list", "/proc/self/status")
    assert len({line.split()[1] for line in done.stdout.splitlines()}) == min(2, len(cores)), done.stderr


def test_links_have_the_speed_that_was_asked_for(cluster: Cluster) -> None:
    said = cluster.on("n3", "tc", "qdisc", "show", "dev", "eth0").stdout
    assert "tbf" in said and "rate 1Gbit" in said


def test_a_program_ends_with_its_status_and_with_whoever_started_it(cluster: Cluster) -> None:
    assert cluster.on("n1", "sh", "-c", "exit 7").returncode == 7
    assert cluster.on("n1", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert cluster.on("n1", "no-such-program").returncode == 127
    for by in (signal.SIGTERM, signal.SIGKILL):
        with cluster.going("n1", "sleep", "1000") as starter:
            assert until(lambda: "sleep" in cluster.processes().values())
            starter.send_signal(by)
            assert starter.wait(20) == (128 + by if by == signal.SIGTERM else -by)
        assert until(lambda: "sleep" not in cluster.processes().values())


def test_accounting_knows_what_ran(cluster: Cluster) -> None:
    note = next((line for line in cluster.do("status").stdout.splitlines() if "accounting" in line), None)
    if note:
        assert note == "accounting is off (sacct, sacctmgr): apt install slurmdbd mariadb-server-core"
        pytest.skip(note)
    done = cluster.on("login", "srun", "-J", "counted", "-N", 2, "true")
    assert done.returncode == 0, done.stderr
    rows = ["sacct", "-a", "-X", "-n", "-P", "--name=counted", "-o", "JobName,NNodes,State"]
    assert until(lambda: cluster.on("login", *rows).stdout == "counted|2|COMPLETED\n")
