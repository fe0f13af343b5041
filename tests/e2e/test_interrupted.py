"""Claims about being stopped: nothing is left behind, what was measured stays, and the next run goes on."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from as_typed import NOTHING, Strata

from strata.measure.journal import read_journals


def check_whole(strata: Strata) -> int:
    """Every file in the results is whole; returns the number of samples."""
    count = 0
    for folder in strata.folders():
        for path in folder.rglob("*.json"):
            if "work" not in path.parts and not path.name.startswith("."):
                json.loads(path.read_text())
        count += sum(line.entry["schema"] == "strata.sample/1" for line in read_journals(folder / "journal"))
    return count


def stop_at_random(strata: Strata, case: Path, how: signal.Signals, source: random.Random) -> int:
    """Starts or resumes the tiny characterization, stops it at a random moment; returns its exit code."""
    running = strata.start(*strata.characterize(case=case))
    time.sleep(source.uniform(0.0, 3.0))
    os.kill(running.pid, how)
    _, complained = running.communicate(timeout=60)
    if how == signal.SIGINT and running.returncode == 130:
        assert "Traceback" not in complained
        before_it_began = complained.strip() == "stopped"
        told = "to resume: strata characterize" in complained or "nothing was measured yet" in complained
        assert before_it_began or told
    return running.returncode


def interrupted_again_and_again(
    strata: Strata, case: Path, how: signal.Signals, times: int, seed: int
) -> None:
    source = random.Random(seed)
    kept = 0
    for _ in range(times):
        code = stop_at_random(strata, case, how, source)
        assert code in (0, -how, 128 + how), code
        assert strata.left_behind() == NOTHING
        now = check_whole(strata)
        assert now >= kept  # what was measured stays
        kept = now
    done = strata.run(*strata.characterize(case=case))
    assert done.returncode == 0, done.stderr
    assert strata.left_behind() == NOTHING
    for folder in strata.folders():
        whole = json.loads((folder / "summary.json").read_text())
        assert all(f["n"] == 6 for t in whole["tasks"] for f in t["figures"])
        assert (folder / "report" / "report.html").exists()
        assert not list(folder.rglob("*.tmp")) and not (folder / "work").exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
def test_stopped_at_random_points_it_leaves_nothing_and_resumes(
    strata: Strata, tolerant: Path, how: signal.Signals
) -> None:
    interrupted_again_and_again(strata, tolerant, how, times=3, seed=1)


def test_an_interrupt_while_python_starts_is_no_traceback(strata: Strata) -> None:
    for moment in range(25):
        running = strata.start("study", "list")
        time.sleep(0.004 * moment)
        running.send_signal(signal.SIGINT)
        _, complained = running.communicate(timeout=60)
        assert running.returncode in (0, -signal.SIGINT, 130), complained
        assert "Traceback" not in complained


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["INT", "TERM", "KILL"])
def test_stopped_many_times_it_leaves_nothing_and_resumes(
    strata: Strata, tolerant: Path, how: signal.Signals, seed: int
) -> None:
    interrupted_again_and_again(strata, tolerant, how, times=12, seed=100 + seed)


def measuring(strata: Strata) -> list[int]:
    """The processes that are a benchmark's, and not those that only say which there are."""
    found = []
    for pid in strata.processes():
        with contextlib.suppress(OSError):
            program, *words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if Path(program.decode()).name.startswith("strata-bench") and b"--list" not in words:
                found.append(pid)
    return found


def test_stopping_does_not_wait_for_the_program_that_runs(strata: Strata, tolerant: Path) -> None:
    """It would never end: it is stopped."""
    running = strata.start(*strata.characterize(case=tolerant))
    held: list[int] = []
    while not held:
        assert running.poll() is None
        for pid in measuring(strata):
            with contextlib.suppress(ProcessLookupError):  # that one has ended by itself
                os.kill(pid, signal.SIGSTOP)
                held.append(pid)
    os.kill(running.pid, signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert strata.left_behind() == NOTHING


def test_a_damaged_journal_is_one_message_and_nothing_is_overwritten(strata: Strata, tolerant: Path) -> None:
    running = strata.start(*strata.characterize(case=tolerant))
    while check_whole(strata) < 3:
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)
    running.communicate(timeout=60)
    (folder,) = strata.folders()
    (journal,) = (folder / "journal").glob("*.jsonl")
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 0x01
    journal.write_bytes(data)
    for words in (
        strata.characterize("--out", str(folder), case=tolerant),
        ["results", str(folder)],
        ["report", str(folder)],
    ):
        done = strata.run(*words)
        assert done.returncode == 1, done.stdout
        assert (
            done.stderr.count("strata: error:") == 1 and f"{journal}:" in done.stderr and "mv " in done.stderr
        )
        assert journal.read_bytes() == bytes(data)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MiB of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    asked = ["mount", "-t", "tmpfs", "-o", "size=24m", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(asked, capture_output=True, check=False).returncode != 0:
        pytest.skip("may not mount a small file system here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_one_message_and_the_next_run_resumes(
    strata: Strata, tolerant: Path, small_disk: Path
) -> None:
    strata.results = small_disk / "results"
    running = strata.start(*strata.characterize(case=tolerant))
    while check_whole(strata) < 2:
        time.sleep(0.02)
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as stream, pytest.raises(OSError):
        while True:
            stream.write(b"x" * 65536)
    said, complained = running.communicate(timeout=60)
    assert running.returncode == 1, said
    assert (
        complained.count("strata: error:") == 1 and "disk is full" in complained and "resumes" in complained
    )
    assert strata.left_behind() == NOTHING
    kept = check_whole(strata)
    assert kept >= 2
    filler.unlink()
    done = strata.run(*strata.characterize(case=tolerant))
    assert done.returncode == 0, done.stderr
    assert len(strata.folders()) == 1 and check_whole(strata) > kept
    assert f"{kept} launches of before are kept" in done.stderr


def test_a_disk_without_room_for_a_plan_is_one_message(
    strata: Strata, tolerant: Path, small_disk: Path
) -> None:
    strata.results = small_disk / "results"
    with (small_disk / "filler").open("wb", buffering=0) as stream, pytest.raises(OSError):
        while True:
            stream.write(b"x" * 65536)
    done = strata.run(*strata.characterize(case=tolerant))
    assert done.returncode == 1 and done.stderr.count("strata: error:") == 1 and "disk is full" in done.stderr
