"""What all tests in Python share: which of them go to one worker, and signals as a terminal has them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xdist.scheduler import LoadScopeScheduling

HERE = Path(__file__).resolve().parent

# The order of the folders: those that take longest first, so that no worker waits for another at the end; and
# last what is in short pieces.
FIRST = ("e2e", "numa", "cluster", "setup", "team", "launch")
LAST = ("npb",)

# What needs the tests' native programs, or measures: it comes when those are there.
LATE = tuple(
    line for line in (HERE / "late.txt").read_text().splitlines() if line and not line.startswith("#")
)

# Where Open MPI's processes under a plain `mpirun` share memory; `strata launch` says another place. A test
# that looks in /dev/shm for what it left behind does not find what another test's killed processes left.
SEGMENTS_GO_TO = (
    "OMPI_MCA_btl_vader_backing_directory",  # Open MPI 4
    "OMPI_MCA_btl_sm_backing_directory",
)
SEGMENTS = pytest.StashKey[tuple[Path, int]]()


def segments() -> tuple[Path, int]:
    """A new folder for them, with its lock, which says that this run lives: setup/sweep.py may be one in
    another container that shares /dev/shm, and sees neither this process nor its number.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix="strata_segments.", dir="/dev/shm"))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists():  # else it was swept before it was locked
                return path, lock
            os.close(lock)


def pytest_configure(config: pytest.Config) -> None:
    """What a test starts inherits whether signals are ignored, and `nohup` and a shell's `&` ignore some."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if Path("/dev/shm").is_dir():
        config.stash[SEGMENTS] = path, _ = segments()
        os.environ.update(dict.fromkeys(SEGMENTS_GO_TO, str(path)))
    # Whoever started this run shows how far it is; what tests start is not to say so.
    records = os.environ.pop("STRATA_TEST_MARKS", None)
    if records is not None and not hasattr(config, "workerinput"):
        from progress_marks import Marks

        config.pluginmanager.register(Marks(config, [Path(record) for record in records.split(":")]))


def pytest_unconfigure(config: pytest.Config) -> None:
    if SEGMENTS in config.stash:
        path, lock = config.stash[SEGMENTS]
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def together(test: str) -> str:
    """The name of the tests that go to the same worker as this one, because they share what is costly to
    start or would wait for each other: as a rule those of its file.
    """
    file = test.split("::")[0]
    folder = file.removeprefix("tests/").split("/")[0]
    if folder == "numa":
        return "virtual machine " + ("with groups of version 1" if "vm_cgroup1" in test else "")
    if (folder == "e2e" and "test_tune_traps" not in file) or "test_two_users_measure" in test:
        return "measurements, of which a host runs one at a time"
    if folder == "cluster":
        return "the cluster in a box"
    if "on_many_ranks" in test:
        return "ranks that are many more than processors"
    if folder == "npb":
        return test
    return file


@pytest.hookimpl(optionalhook=True)  # without xdist there is nothing to share out
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Shares out the tests in groups, in the order in which they were collected."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid)

    config.option.loadscopereorder = False
    return Together(config, log)


def is_late(test: str) -> bool:
    return test.removeprefix("tests/").startswith(LATE)


def _rank(item: pytest.Item) -> int:
    parts = item.path.relative_to(HERE).parts if item.path.is_relative_to(HERE) else ()
    order = (*FIRST, "", *LAST)
    return order.index(parts[0]) if len(parts) > 1 and parts[0] in order else len(FIRST)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a quiet machine is marked, for a run of its own when the others have ended; and what needs
    the tests' native programs.
    """
    for item in items:
        if is_late(item.nodeid):
            item.add_marker(pytest.mark.late)
        if "quiet_machine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.alone)
    items.sort(key=_rank)
