"""`strata tune` on a program whose best layout is known: it waits by what the launcher gave it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from as_typed import wait_for_the_lock

from strata.characterize.session import read_machine
from strata.paths import Native
from strata.tune.candidates import Candidate, candidates, pus_of
from strata.tune.near import near
from strata.tune.usable_cores import UsableCores

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
    asked = ["--kind", "openmp", "--budget", "14s", "--out", str(results), "--here"]
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


def placed(line: str, source: str) -> list[int]:
    """The system's numbers of the PUs on which the launcher would hold the threads, in their order."""
    words = [*STRATA, *shlex.split(line)[1:]]
    words[words.index("--") : words.index("--")] = ["--dry-run", "--json", "--machine", source]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (line, done.stderr)
    processes = json.loads(done.stdout)["processes"]
    return [int(thread["pus"]) for process in processes for thread in process["threads"]]


@pytest.mark.parametrize(
    "source, best",
    [
        ("hybrid-6p-8e.xml", Candidate(1, 8)),
        ("two-sockets-128-cores-smt.xml", Candidate(4, 5)),
        ("synthetic:numa:2 core:4 pu:2", Candidate(6, 1)),
    ],
)
def test_the_launcher_holds_the_threads_of_each_layout_where_the_race_believes_them(
    source: str, best: Candidate
) -> None:
    """Numbers, strides, orders, siblings and kinds of cores: each as the race counts them and as they are."""
    xml = ROOT / "tests/fixtures/machines" / source
    source = str(xml) if xml.exists() else source
    machine = read_machine(Native(Path(STRATA[0]), {}), source)
    usable, kind = UsableCores.of(machine), "hybrid" if best.processes > 1 < best.threads else "openmp"
    kind = "mpi" if best.threads == 1 else kind
    found = [c for c in [best, *near(usable, kind, best)] if c.bind == "core" or c.order]
    assert len(found) > 8
    assert candidates(machine, kind)
    for c in found:
        assert placed(c.line(["true"]), source) == list(pus_of(usable, c)), c.id


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
