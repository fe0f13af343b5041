"""Where ranks are is read on every node, wherever the launcher is, inside a job and outside one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cluster_box import Cluster
from tested_build import strata

# So long that a reader is there before it ends, also beside other work.
BUSY = "i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done"


@pytest.mark.parametrize("inside", [True, False])
def test_ranks_are_read_on_each_of_their_nodes(cluster: Cluster, tmp_path: Path, inside: bool) -> None:
    record = tmp_path / "record.json"
    command = [strata(), "launch", "--nodes", 2, "--layout", "2x1", "--check", "--explain"]
    command += ["--record", record, "--", "sh", "-c", BUSY]
    job = ["salloc", "-Q", "-N", 2, "--exclusive"] if inside else []
    done = cluster.on("login", *job, *command, timeout=120)
    assert done.returncode == 0, done.stderr
    read = json.loads(record.read_text())
    assert read["agrees"] is True and read["threads_agree"] is True and read["threads"] == []
    assert len({node["node"] for node in read["nodes"]}) == 2
    for rank, node in enumerate(read["nodes"]):
        assert node["processes"] == 1 and {thread["rank"] for thread in node["threads"]} == {rank}
        assert f"node {node['node']}: threads: as promised" in done.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_a_rank_that_leaves_its_place_is_told_with_its_node(cluster: Cluster) -> None:
    leaves = f"[ $STRATA_RANK = 1 ] && taskset -cp 0-1 $$ >/dev/null; {BUSY}"
    command = [strata(), "launch", "--nodes", 2, "--layout", "2x1", "--check", "--", "sh", "-c", leaves]
    done = cluster.on("login", *command, timeout=120)
    assert done.returncode == 1
    assert "given: node n" in done.stderr and "of process 1 may run on PU" in done.stderr, done.stderr
