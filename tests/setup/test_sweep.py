"""A test run that is killed leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

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
        time.sleep(0.5)  # the sweep has begun to wait
        assert any("sleep 1000" in command for command in running(str(folder)))
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        end = time.monotonic() + 30
        while (folder.exists() or running(str(folder))) and time.monotonic() < end:
            time.sleep(0.05)
        assert running(str(folder)) == []
        assert not folder.exists()
        assert not segment.exists(), "nobody has it mapped, and it was made during the run"
        assert not theirs.exists() and ours.exists(), "who made the first has ended"
    finally:
        segment.unlink(missing_ok=True)
        run.stdout.close()
