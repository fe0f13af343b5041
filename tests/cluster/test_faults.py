"""Nodes that crash, links that are cut, and the end of everything whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from cluster_box import Cluster, until

KNOCK = "import socket; socket.create_connection(('{}', 6818), timeout=2)"  # slurmd listens there


def reaches(cluster: Cluster, here: str, there: str) -> bool:
    return cluster.on(here, "python3", "-c", KNOCK.format(there)).returncode == 0


def test_a_killed_node_is_gone_with_its_processes_and_can_be_started_again(cluster: Cluster) -> None:
    with cluster.going("n4", "sleep", "1000") as inside:
        assert until(lambda: "sleep" in cluster.processes().values())
        assert cluster.do("kill", "n4").returncode == 0
        assert inside.wait(20) == 128 + 9
    assert "sleep" not in cluster.processes().values()
    assert cluster.status()["n4"]["up"] is False
    assert not reaches(cluster, "n1", "n4")
    assert reaches(cluster, "n1", "n3")
    refused = cluster.on("n4", "true")
    assert refused.returncode == 1 and "try: strata cluster start n4" in refused.stderr
    assert cluster.do("start", "n4").returncode == 0
    assert until(lambda: cluster.on("login", "srun", "-w", "n4", "hostname", timeout=90).stdout == "n4\n")


def test_a_cut_link_holds_back_what_is_sent_until_it_is_mended(cluster: Cluster) -> None:
    assert reaches(cluster, "n1", "n2")
    assert cluster.do("cut", "n2").returncode == 0
    assert cluster.status()["n2"]["link"] == "cut"
    assert not reaches(cluster, "n1", "n2") and reaches(cluster, "n1", "n3")
    assert cluster.do("mend", "n2").returncode == 0
    assert reaches(cluster, "n1", "n2")


@pytest.mark.parametrize("fault", ["kill", pytest.param("cut", marks=pytest.mark.soak)])
def test_slurm_ends_the_job_of_a_node_that_is_silent_and_names_the_node(own: Cluster, fault: str) -> None:
    assert own.do("up", "--nodes", 3).returncode == 0
    with own.going("login", "sh", "-c", "srun -N 3 sleep 1000 2>&1") as step:
        assert until(lambda: list(own.processes().values()).count("sleep") == 3)
        assert own.do(fault, "n2").returncode == 0
        said = step.communicate(timeout=90)[0]
    assert step.returncode != 0 and "Node failure on n2" in said
    assert until(lambda: "sleep" not in own.processes().values() or fault == "cut")
    assert own.on("login", "srun", "-w", "n1,n3", "hostname").returncode == 0
    assert own.do("start" if fault == "kill" else "mend", "n2").returncode == 0
    assert until(lambda: own.status()["n2"]["slurm"] == "idle")
    assert until(lambda: "sleep" not in own.processes().values())
    assert own.on("login", "srun", "-N", 3, "hostname", timeout=90).returncode == 0
    assert own.do("down").returncode == 0


def test_a_slurmd_that_dies_comes_back_and_its_job_goes_on(cluster: Cluster) -> None:
    """Alone: the node is up, and the step's own daemon is another process."""
    job = "sleep 3; echo went on on $(hostname)"
    with cluster.going("login", "srun", "-w", "n1", "sh", "-c", job) as going:
        assert until(lambda: "sleep" in cluster.processes().values())
        killed = cluster.on("n1", "pkill", "-9", "-x", "slurmd")
        assert killed.returncode == 0
        assert going.communicate(timeout=60)[0] == "went on on n1\n"
    assert cluster.on("login", "srun", "-w", "n1", "hostname", timeout=90).stdout == "n1\n"


def test_two_clusters_are_up_side_by_side(cluster: Cluster, own: Cluster) -> None:
    """With the same addresses, in networks of their own."""
    own.up("--nodes", 2)
    assert own.on("login", "srun", "-N", 2, "hostname").returncode == 0
    assert cluster.on("login", "srun", "-N", 2, "hostname").returncode == 0
    again = own.do("up")
    assert again.returncode == 1 and "a cluster of this name is up" in again.stderr


@pytest.mark.parametrize("victim", ["guard", "box", "starter", "guard and box"])
def test_whoever_is_killed_nothing_is_left(own: Cluster, victim: str) -> None:
    if victim == "starter":
        own.up("--nodes", 2)
    else:
        assert own.do("up", "--nodes", 2).returncode == 0
    with own.going("login", "srun", "-N", "2", "sleep", "1000") as step:
        assert until(lambda: list(own.processes().values()).count("sleep") == 2)
        if own.staying is not None:
            victims = [own.staying.pid]
        else:
            victims = [own.outside(name) for name in victim.split(" and ")]
        for pid in victims:
            os.kill(pid, signal.SIGSTOP)
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        assert step.wait(20) != 0
    if victim == "guard and box":  # nobody is there to remove files: the next start does
        assert until(lambda: not own.processes())
        other = Cluster("other", own.folder)
        other.mark = own.mark
        assert other.up("--nodes", 1).staying is not None
        assert not (own.folder / "box").exists()
        other.end()
    assert own.gone(), own.left()


def test_down_ends_a_cluster_in_use(own: Cluster) -> None:
    assert own.do("up", "--nodes", 2).returncode == 0
    with own.going("n2", "sleep", "1000") as inside:
        assert until(lambda: "sleep" in own.processes().values())
        assert own.do("down").returncode == 0
        assert inside.wait(20) == 128 + 9
    assert own.gone(), own.left()
    refused = own.do("down")
    assert refused.returncode == 1 and "no such cluster is up" in refused.stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_a_start_that_is_stopped_leaves_nothing(own: Cluster, by: signal.Signals) -> None:
    with subprocess.Popen(
        own.words("up"), env=own.environment, stderr=subprocess.PIPE, text=True
    ) as starting:
        assert until(lambda: "munged" in own.processes().values())
        starting.send_signal(by)
        said = starting.communicate(timeout=30)[1]
    assert starting.returncode == (130 if by == signal.SIGINT else -9), said
    assert own.gone(), own.left()
