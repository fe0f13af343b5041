"""A test run that is killed leaves nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sample

# A test run, as setup/test.sh is one: it starts the sweep, then what may outlive it, in a session of its own
# as a daemon is.
RUN = """
mkdir "$2" && setsid "$0" "$1" "$$" "$2" </dev/null &
while [ ! -d "$2" ]; do sleep 0.01; done
export STRATA_TEST_RUN=$2
setsid sleep 1000 &
touch "$3"
echo ready
wait
"""


def running(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"STRATA_TEST_RUN={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def sweeps_beside(group: int, folder: str) -> bool:
    """Whether the sweep has left the group that is about to be killed."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_text()
            if "sweep.py" in words and folder in words and os.getpgid(int(entry.name)) != group:
                return True
    return False


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_a_killed_run_started_is_ended_and_its_segments_and_folder_removed(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    segment = Path(f"/dev/shm/sm_segment.test.{os.getpid()}.0.0")
    theirs, ours = Path("/dev/shm/strata_tests.0"), Path(f"/dev/shm/strata_tests.{os.getpid()}")
    theirs.mkdir(exist_ok=True)  # nobody has the number 0
    words = [sys.executable, str(sample.ROOT / "setup" / "sweep.py"), str(folder), str(segment)]
    run = subprocess.Popen(
        ["bash", "-c", RUN, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert run.stdout is not None
    try:
        assert run.stdout.readline() == b"ready\n"
        wait_until(lambda: any("sleep 1000" in command for command in running(str(folder))))
        wait_until(lambda: sweeps_beside(run.pid, str(folder)))
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        wait_until(lambda: running(str(folder)) == [] and not folder.exists())
        assert not segment.exists(), "nobody has it mapped, and it was made during the run"
        assert not theirs.exists() and ours.exists(), "who made the first has ended"
    finally:
        segment.unlink(missing_ok=True)
        run.stdout.close()


def test_what_another_program_makes_while_the_sweep_looks_is_not_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Open MPI's ranks crash where one's segment goes before another has opened it."""
    monkeypatch.syspath_prepend(sample.ROOT / "setup")
    import sweep

    theirs = Path(f"/dev/shm/sm_segment.test.{os.getpid()}.1.0")

    def found() -> set[str]:
        theirs.touch()  # and will be mapped when this has looked
        return set()

    monkeypatch.setattr(sweep, "in_use", found)
    monkeypatch.setattr(sweep, "SEGMENTS", (theirs.name,))
    try:
        sweep.remove_segments(0.0)
        assert theirs.exists()
    finally:
        theirs.unlink(missing_ok=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders away")
def test_what_another_users_tests_have_left_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(sample.ROOT / "setup")
    import sweep

    theirs, ours = (Path(f"/dev/shm/strata_tests.{name}.{os.getpid()}.0") for name in ("theirs", "ours"))
    monkeypatch.setattr(sweep, "FOLDERS", f"strata_tests.*.{os.getpid()}.0")
    try:
        for path in (theirs, ours):
            path.mkdir()
        os.chown(theirs, 65534, 65534)
        sweep.remove_segments(1e12)
        assert theirs.exists() and not ours.exists()
    finally:
        for path in (theirs, ours):
            if path.exists():
                path.rmdir()
