"""A test run that is killed leaves nothing."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
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
    theirs, ours = Path(tempfile.mkdtemp(prefix="strata_segments.", dir="/dev/shm")), own_segments()
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
        assert not theirs.exists() and ours.exists(), "nobody holds the first"
    finally:
        segment.unlink(missing_ok=True)
        run.stdout.close()


def own_segments() -> Path:
    """Where this test run has its own (tests/conftest.py)."""
    return Path(os.environ["OMPI_MCA_btl_sm_backing_directory"])  # noqa: SIM112 (Open MPI's name)


def in_another_container(code: str, *words: str) -> str:
    """What a program in Python prints where no process of this container is seen, with setup/ to import."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    contained = ["unshare", *user, "--pid", "--fork", "--mount-proc"]
    if shutil.which("unshare") is None or subprocess.run([*contained, "true"], check=False).returncode != 0:
        pytest.skip("no container can be made here")
    path = {"PYTHONPATH": str(sample.ROOT / "setup")}
    done = subprocess.run(
        [*contained, sys.executable, "-c", code, *words],
        env=os.environ | path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("how", ["open", "mapped"])
def test_a_segment_that_a_process_of_another_container_uses_stays(how: str) -> None:
    """Open MPI's ranks crash where one's segment goes before another has opened it."""
    code = (
        "import sys, sweep; sweep.FOLDERS = '.none'; sweep.SEGMENTS = sys.argv[1:]; sweep.remove_segments(0)"
    )
    theirs = Path(f"/dev/shm/sm_segment.test.{os.getpid()}.1.0")
    theirs.write_text("x")
    try:
        with (
            theirs.open("r+") as file,
            mmap.mmap(file.fileno(), 1) as mapped,
        ):  # which keeps a file of its own
            if how == "open":
                mapped.close()
            else:
                file.close()
            in_another_container(code, theirs.name)
            assert theirs.exists()
        in_another_container(code, theirs.name)
        assert not theirs.exists()
    finally:
        theirs.unlink(missing_ok=True)


def test_so_does_the_folder_of_a_test_run_in_another_container() -> None:
    code = "import sys, sweep; sweep.SEGMENTS = (); sweep.FOLDERS = sys.argv[1]; sweep.remove_segments(0)"
    (own_segments() / "segment").touch()
    in_another_container(code, own_segments().name)
    assert (own_segments() / "segment").exists()


NUMBER_AGAIN = """
import subprocess, sys
from pathlib import Path
import sweep

mark = b"STRATA_TEST_RUN=/none"
first = subprocess.Popen(["sleep", "1000"], env={"PATH": "/usr/bin:/bin", "STRATA_TEST_RUN": "/none"})
others = []

def again(look):
    def looked(*words):
        found = look(*words)
        if found and not others:
            first.kill()
            first.wait()
            Path("/proc/sys/kernel/ns_last_pid").write_text(str(first.pid - 1))
            others.append(subprocess.Popen(["sleep", "1000"]))
            assert others[0].pid == first.pid
        return found
    return looked

setattr(sweep, sys.argv[1], again(getattr(sweep, sys.argv[1])))
sweep.end_processes(mark)
print(others[0].poll())
"""


@pytest.mark.parametrize("look", ["marked", "carries"])
def test_nobody_is_ended_who_has_got_the_number_since_the_look(look: str) -> None:
    assert in_another_container(NUMBER_AGAIN, look) == "None\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders away")
def test_what_another_users_tests_have_left_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(sample.ROOT / "setup")
    import sweep

    theirs, ours = (Path(f"/dev/shm/strata_segments.{name}.{os.getpid()}.0") for name in ("theirs", "ours"))
    monkeypatch.setattr(sweep, "FOLDERS", f"strata_segments.*.{os.getpid()}.0")
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
