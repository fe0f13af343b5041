"""What happens to a run when a process of it is killed, or a disk is full; and steering between steps."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_memory import SHARED_MEMORY, new_and_nobodys
from solver_cases import changed, checksums, steps_in


@contextlib.contextmanager
def going(front: str, case: Path, out: Path, *words: object, layout: str) -> Iterator[subprocess.Popen[str]]:
    """A run that goes on until it is ended."""
    command = [front, "run", case, "--layout", layout, "--bind", "none", "--quiet", "--out", out, *words]
    with subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition, process: subprocess.Popen[str], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def processes(out: Path) -> dict[int, list[int]]:
    """Process -> its children, of those with this folder in their command line."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            if entry.name.isdecimal() and str(out).encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    return {pid: [child for child, parent in parents.items() if parent == pid] for pid in parents}


def members(out: Path) -> list[int]:
    """The processes that have a seat in the team, in the order of their start."""

    def has_seat(pid: int) -> bool:
        with contextlib.suppress(OSError):
            return b"STRATA_TEAM_SEAT=" in (Path("/proc") / str(pid) / "environ").read_bytes()
        return False

    return sorted(filter(has_seat, processes(out)))


ADVECTION = {"cells": "[64, 64]", "patch": "[16, 16]", "error": "0.0", "end": "1000.0"}


@pytest.mark.parametrize(("layout", "victim"), [("2x1", 0), ("2x1", 1), ("1x2", 0)])
def test_a_killed_member_ends_the_run_with_its_name_and_the_run_goes_on_from_its_checkpoint(
    front, run, tmp_path, layout, victim
):
    case, out = changed(tmp_path, "advection", **ADVECTION), tmp_path / "out"
    before = {path.name for path in SHARED_MEMORY.iterdir()}
    with going(front, case, out, "--checkpoint", 25, "--series", 5, layout=layout) as process:
        wait_for(lambda: steps_in(out, "checkpoint-*"), process)
        team = members(out)
        assert len(team) == int(layout[0])
        os.kill(team[victim], signal.SIGKILL)
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 137
    assert said.count("error") == 1, said
    assert re.search(rf"member {victim} \(process {team[victim]}\) was killed by SIGKILL", said)
    assert not processes(out)
    assert not new_and_nobodys(before)
    assert not (out / "result.json").exists()
    if layout == "2x1":  # somebody is left to tidy up after member 0
        assert not (out / "control").exists()

    last = steps_in(out, "checkpoint-*")[-1]
    words = ("--steps", last + 50, "--checkpoint", last + 50, "--series", 5)
    run(case, "--out", out, "--restart", out, *words, layout="3x1")
    run(case, "--out", tmp_path / "whole", *words)
    name = f"checkpoint-{last + 50:06d}"
    assert checksums(out / name) == checksums(tmp_path / "whole" / name)
    assert (out / "series.csv").read_text() == (tmp_path / "whole" / "series.csv").read_text()
    assert not list(out.glob(".checkpoint-*"))


def test_when_the_command_itself_is_killed_nothing_of_the_run_is_left(front, tmp_path):
    case, out = changed(tmp_path, "advection", **ADVECTION), tmp_path / "out"
    before = {path.name for path in SHARED_MEMORY.iterdir()}
    with going(front, case, out, layout="2x1") as process:
        wait_for(lambda: (out / "control" / "control.sock").exists(), process)
        process.kill()
        process.communicate(timeout=30)  # its members have the other ends
    deadline = time.monotonic() + 120
    while processes(out) or new_and_nobodys(before):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def no_more_room(process: subprocess.Popen[str], out: Path) -> str:
    """From now on no file of the run's members can grow beyond 1 KiB. What the run says at its end."""
    wait_for(lambda: (out / "control" / "control.sock").exists(), process)
    for pid in members(out):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1024, 1024))
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 1
    assert said.count("error") == 1, said
    assert "File too large" in said
    return said


def test_files_that_cannot_grow_end_the_run_once_and_the_checkpoint_before_is_whole(front, run, tmp_path):
    case, out = changed(tmp_path, "advection", **ADVECTION), tmp_path / "out"
    with going(front, case, out, "--checkpoint", 20, "--series", 0, layout="2x1") as process:
        wait_for(lambda: steps_in(out, "checkpoint-*"), process)
        said = no_more_room(process, out)
    # Whichever file comes first: a checkpoint's, or the line that the history gets of one.
    if "the run's history cannot be written: File too large" not in said:
        assert "the checkpoint could not be written" in said
        assert "part-000" in said or "checkpoint.json" in said
        assert "earlier checkpoints are as they were" in said
    assert not list(out.glob(".checkpoint-*"))
    last = steps_in(out, "checkpoint-*")[-1]
    words = ("--steps", last + 20, "--checkpoint", last + 20, "--series", 0)
    run(case, "--out", out, "--restart", out, *words, layout="1x2")
    run(case, "--out", tmp_path / "whole", *words)
    name = f"checkpoint-{last + 20:06d}"
    assert checksums(out / name) == checksums(tmp_path / "whole" / name)


def test_fields_that_cannot_be_written_end_the_run_once_and_whole_files_stay(front, tmp_path):
    case, out = changed(tmp_path, "advection", **ADVECTION), tmp_path / "out"
    with going(front, case, out, "--fields", 10, "--series", 0, layout="2x1") as process:
        wait_for(lambda: len(steps_in(out / "fields", "grid-*.vtkhdf")) > 2, process)
        said = no_more_room(process, out)
    assert re.search(r"fields/grid-\d{6}\.vtkhdf", said)
    assert "the field file could not be written" in said
    assert not list((out / "fields").glob(".*"))
    assert {path.stat().st_size for path in (out / "fields").glob("grid-*.vtkhdf")} == {
        (out / "fields" / "grid-000000.vtkhdf").stat().st_size
    }


def test_no_room_on_a_small_file_system(front, tmp_path):
    """The same on a file system of 1 MiB, where one can be mounted."""
    case = changed(tmp_path, "heat", cells="[40, 40, 40]", error="0.0", end="1000.0")  # 512 kB and walls
    disk, seen, said = (tmp_path / name for name in ("disk", "seen", "said"))
    disk.mkdir()
    first = f"'{front}' run '{case}' --quiet --out '{disk}' --series 0"
    script = f"""mount -t tmpfs -o size=900k tmpfs '{disk}' || exit 77
        {first} --steps 2 --checkpoint 2 --keep 0 >/dev/null || exit 78
        {first} --layout 2x1 --bind none --steps 6 --checkpoint 4 --keep 0 --restart '{disk}' 2>'{said}'
        echo $? >'{tmp_path}/status'
        cp -r '{disk}' '{seen}'"""
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert done.returncode == 0, done.stderr
    said = said.read_text()
    assert (tmp_path / "status").read_text() == "1\n"
    assert said.count("error") == 1, said
    assert "No space left on device" in said
    assert steps_in(seen, "checkpoint-*") == [2]
    assert not list(seen.glob(".checkpoint-*"))
    assert checksums(seen / "checkpoint-000002")


@pytest.mark.parametrize("layout", ["2x1", "1x2"])
def test_a_parameter_is_read_and_changed_between_steps(front, run, tmp_path, layout):
    case, out = changed(tmp_path, "heat", cells="[32, 32, 32]", end="1000.0", error="0.0"), tmp_path / "out"

    def steer(*words: str, check: bool = True) -> str:
        done = subprocess.run(
            [front, "steer", str(out), *words], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode == 0) == check, done.stderr
        return done.stdout if check else done.stderr

    with going(front, case, out, "--series", 1, layout=layout) as process:
        wait_for(lambda: (out / "control" / "control.sock").exists(), process)
        assert re.search(r"cfl +0\.9 .*0\.001 to 4", steer("get", "parameters"))
        refused = steer("set", "cfl=9", check=False)
        assert "'cfl' cannot have this value" in refused
        assert "0.001 to 4" in refused
        before = int(re.search(r"applies before step (\d+)", steer("set", "cfl=0.3"))[1])
        assert re.search(r"cfl +0\.3 ", steer("get", "parameters"))
        wait_for(lambda: int(re.search(r"step +(\d+)", steer())[1]) > before, process)
        steer("stop")
        assert process.wait(30) == 0
    rows = [line.split(",") for line in (out / "series.csv").read_text().splitlines()[1:]]
    steps = {int(row[0]): float(row[2]) for row in rows}
    assert max(steps) > before > 1
    assert {steps[s] for s in steps if s < before} == {steps[1]}
    assert {steps[s] for s in steps if s >= before} == {steps[before]}
    assert steps[before] == pytest.approx(steps[1] / 3)
    assert not (out / "control").exists()
