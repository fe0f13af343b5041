"""What cannot be done is said in one error, and nothing is started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cluster_box import Cluster


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes", 0], "1 to 64"),
        (["--link", "fast"], "such as 1gbit"),
        (["--latency", "50"], "such as 50us"),
        (["--memory", "0GiB"], "such as 2GiB"),
        (["--nodes", 1, "--memory", "1GiB,2GiB"], "more sizes than nodes"),
        (["--switches", 5], "1 to 4 with 4 nodes"),
        (["--cpus", 1 << 20], "cannot have so many cores"),
        (["--share", "/no/such/folder"], "no such folder"),
    ],
)
def test_wrong_words_are_refused(own: Cluster, words: list[object], said: str) -> None:
    done = own.do("up", *words)
    assert done.returncode == 2 and said in done.stderr
    assert own.gone(0), own.left()


def test_missing_packages_are_named(own: Cluster, tmp_path: Path) -> None:
    nothing = own.environment | {"PATH": str(tmp_path), "STRATA_TEST_SLURM": str(tmp_path)}
    done = own.do("up", env=nothing)
    if os.access("/usr/sbin/slurmctld", os.X_OK):
        pytest.skip("daemons are installed, and are found without PATH")
    assert done.returncode == 1
    assert "missing: munged, slurmctld, slurmd" in done.stderr
    assert "apt install munge slurmctld slurmd slurm-client" in done.stderr


def test_unknown_nodes_are_named_with_those_there_are(cluster: Cluster) -> None:
    for verb in ("kill", "start", "cut", "mend"):
        done = cluster.do(verb, "n9")
        assert done.returncode == 2 and "allowed: login, n1, n2, n3, n4" in done.stderr, verb


def test_a_latency_that_the_kernel_cannot_give_is_one_error(own: Cluster) -> None:
    done = own.do("up", "--nodes", 2, "--latency", "50us")
    if done.returncode == 0:
        said = own.on("n1", "tc", "qdisc", "show", "dev", "eth0").stdout
        own.do("down")
        assert "netem" in said and "delay 50us" in said
    else:
        assert "links cannot have a latency: this kernel has no netem" in done.stderr
        assert own.gone(), own.left()
