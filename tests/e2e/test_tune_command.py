"""`strata tune` on a program whose best layout is known: it waits by what the launcher gave it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import wait_for_the_lock

ROOT = Path(__file__).resolve().parents[2]
PREFIX = os.environ.get("STRATA_PREFIX")
STRATA = [str(Path(PREFIX, "bin", "strata") if PREFIX else ROOT / "strata")]
SLOW_UNBOUND = (
    'case "$STRATA_BIND$OMP_NUM_THREADS" in core2) sleep 0.03 ;; *) sleep 0.12 ;; esac; echo took 1.5'
)


def tune(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    wait_for_the_lock()
    return subprocess.run(
        [*STRATA, "tune", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "STRATA_RESULTS": str(folder)},
    )


@pytest.mark.skipif(len(os.sched_getaffinity(0)) != 2, reason="the answer is known for two cores")
def test_the_layout_that_is_known_to_be_best_is_found(tmp_path: Path) -> None:
    results = tmp_path / "results"
    asked = ["--kind", "openmp", "--budget", "14s", "--results", str(results), "--here"]
    done = tune(tmp_path, *asked, "--", "sh", "-c", SLOW_UNBOUND)
    assert done.returncode == 0, done.stderr
    found = json.loads((results / "tune.json").read_text())
    assert found["schema"] == "strata.tune/1"
    assert found["fastest"].startswith("1x2, bind core")
    assert found["margin"]["high"] < 0.8
    assert "strata launch --layout 1x2" in done.stdout
    assert not (results / "work").exists()
    listed = subprocess.run([*STRATA, "results", str(results)], capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    assert "bind core" in listed.stdout


@pytest.mark.parametrize(
    "words, said, status",
    [
        ([], "no command to tune", 2),
        (["--metric", "(", "--", "true"], "not a regular expression", 2),
        (["--kind", "quantum", "--", "true"], "unknown kind of program", 2),
        (["--budget", "soon", "--", "true"], "not a time", 2),
        (["--processes", "a", "--", "true"], "not a list of numbers", 2),
        (["--", "/no/such/program"], "cannot be launched", 127),
        (["--here", "--budget", "5s", "--", "false"], "fails where nothing is asked of it", 1),
        (["--here", "--budget", "5s", "--metric", "rate ([0-9]+)", "--", "true"], "fails where nothing", 1),
    ],
)
def test_bad_input_is_one_clear_message(tmp_path: Path, words: list[str], said: str, status: int) -> None:
    done = tune(tmp_path, *words)
    assert done.returncode == status
    assert done.stderr.count("strata: error:") == 1, done.stderr
    assert said in done.stderr
