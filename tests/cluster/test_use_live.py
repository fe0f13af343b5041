"""How a cluster in a box was used, by its accounting; samples of its jobs by prolog and epilog."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_box import ROOT, Cluster, need_clusters, until

from strata.cluster.programs import programs

pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("scipy", reason="SciPy is not installed")


@pytest.fixture
def accounted(tmp_path: Path) -> Iterator[Cluster]:
    """Two nodes with accounting, whose jobs are sampled."""
    need_clusters()
    made = Cluster().up("--nodes", 2, "--cpus", 2, "--share", tmp_path)
    try:
        note = next((x for x in made.do("status").stdout.splitlines() if "accounting" in x), None)
        if note:
            pytest.skip(note)
        disk = json.loads(made.do("status", "--json").stdout)["disk"]
        for verb, more in (("prolog", "--interval 0.5s --size 64KiB"), ("epilog", "")):
            script = tmp_path / verb
            script.write_text(
                f"#!/bin/sh\nPYTHONPATH={ROOT}/python exec {sys.executable} -m strata centre sample {verb} "
                f"--folder {tmp_path}/samples {more} 2>> {tmp_path}/errors\n"
            )
            script.chmod(0o755)
        lines = f"Prolog={tmp_path}/prolog\nEpilog={tmp_path}/epilog\n"
        told = made.run("sh", "-c", f"printf '{lines}' >> {disk}/slurm.conf && scontrol reconfigure")
        assert told.returncode == 0, told.stderr
        assert until(lambda: f"{tmp_path}/epilog" in made.run("scontrol", "show", "config").stdout)
        yield made
    finally:
        made.end()


def test_a_live_cluster_says_how_it_was_used_and_its_jobs_are_sampled(
    accounted: Cluster, tmp_path: Path
) -> None:
    busy = "import time\nwhile time.process_time() < 2: pass"
    assert accounted.run("srun", "-J", "wide", "-N", 2, sys.executable, "-c", busy).returncode == 0
    assert accounted.run("srun", "-J", "bad", "-N", 1, "sh", "-c", "sleep 1; exit 3").returncode == 3
    rows = ["sacct", "-a", "-X", "-n", "-P", "-o", "JobName,State,NNodes"]
    assert until(lambda: set(accounted.run(*rows).stdout.split()) == {"wide|COMPLETED|2", "bad|FAILED|1"})
    assert until(lambda: not list((tmp_path / "samples").glob(".*.sampler")))  # each has an epilog
    words = ["-m", "strata", "centre", "use", "--live", "--samples", tmp_path / "samples", "--json"]
    done = accounted.run(sys.executable, *words)
    assert done.returncode == 0, done.stderr
    whole = json.loads(done.stdout)
    assert (whole["form"], whole["runs"]) == ("slurm", 2)
    sizes = accounted.run("sinfo", "--noheader", "--Node", "--partition=all", "-o", "%c").stdout.split()
    registered = sum(map(int, sizes))  # what Slurm counts as the cluster's, whichever it may use
    assert whole["parts_by"] == "the log" and whole["parts"][0]["processors"] == registered
    assert {g["name"]: g["starts"] for g in whole["names"]["program"]} == {"wide": 1, "bad": 1}
    ends = {e["kind"]: e for e in whole["ends"]}
    assert ends["completed"]["runs"] == ends["failed"]["runs"] == 1
    assert ends["completed"]["node_hours"] >= 2 * 2 / 3600
    assert whole["periods"][0]["figures"]["wasted"]["value"] > 0
    sampled = whole["sampled"]
    assert sampled["nodes"] == 2 and {a["name"] for a in sampled["jobs"]} >= {"1"}
    assert sum(a["cpu_hours"] for a in sampled["jobs"] if a["name"] == "1") * 3600 > 1.0
    assert not (tmp_path / "errors").read_text()


def test_an_unpacked_daemon_finds_its_libraries_without_an_environment() -> None:
    need_clusters()
    found = programs()
    if not found.unpacked:
        pytest.skip("Slurm is installed here, not unpacked")
    for daemon in ("slurmctld", "slurmd"):  # as Slurm 24 starts itself again to run a prolog
        done = subprocess.run([found[daemon], "-V"], env={}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
