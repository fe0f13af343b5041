"""A suspect of `strata centre fleet` is taken out of service by a real Slurm, with its reason."""

from __future__ import annotations

import sys
from pathlib import Path

from cluster_box import Cluster


def test_a_suspect_is_drained_with_its_reason_and_nobody_else(cluster: Cluster, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "strata", "centre", "fleet"]
    planted = ["--nodes", 9, "--plant", "2:bandwidth:30%:3", "--out", tmp_path / "fleet"]
    assert cluster.on("login", *words, "generate", *planted).returncode == 0
    report = [*words, "report", tmp_path / "fleet", "--json", "--drain-now"]
    try:
        done = cluster.on("login", *report)
        assert done.returncode == 1, done.stderr
        drained = cluster.on("login", "sinfo", "--noheader", "-R", "-o", "%n|%E").stdout.strip()
        assert drained.startswith("n2|strata: domain ") and "bandwidth is 3" in drained
        assert "\n" not in drained
    finally:
        cluster.on("login", "scontrol", "update", "nodename=n2", "state=resume")
