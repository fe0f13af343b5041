"""A clone of the checkout in a temporary folder, in which mutants.py changes sources, builds and tests.

A lock says that a process has the folder. One that was left is taken over where it is of the same commit,
which saves the build (its path is part of that), and removed where it is not.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import sweep

NAME = "strata-mutants"
NO_TEST = "no_test_has_this_name"
# Switches that decide which build it is; the rest of STRATA_* is of the checkout that this is started in.
KEPT = ("STRATA_PRESET", "STRATA_WITHOUT", "STRATA_IGNORE_SYSTEM", "STRATA_CMAKE_ARGS")
# What test.sh tells the tests.
IN_BUILD = """
. setup/key.sh && strata_key . && strata_find_build || exit
strata_use_build
export STRATA_BUILD STRATA_PREFIX=$STRATA_BUILD/current PATH=$STRATA_BUILD/current/bin:$PATH
eval "$1"
"""
# Product and tests anew, without what `./strata test` does beside that.
BUILD = """
bash setup/setup.sh --tests || exit
. setup/say.sh && . setup/build.sh && strata_log=$STRATA_BUILD/test.log || exit
compile all || fail "the tests do not compile"
"""


class Broken(Exception):
    """Why the clone cannot be used."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or None where its time was over."""

    code: int | None
    said: str
    quiet_s: float  # since its last line

    @property
    def tail(self) -> str:
        return "\n".join(self.said.strip().splitlines()[-12:])


class Heard:
    """What a command says, and when it last did."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self.last = time.monotonic()
        self._process = process
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            self.last = time.monotonic()

    def wait(self, limit_s: float) -> int | None:
        """The exit code; None where the time is over."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=limit_s)
        return None

    def whole(self) -> str:
        """All of it, when the process and those that it started have ended."""
        self._thread.join(timeout=10)
        return "".join(self.lines)


class Clone:
    """The checkout at a commit, in a folder of its own."""

    def __init__(self, folder: Path, processors: int, lock: int) -> None:
        self.folder, self.root, self.lock = folder, folder / "checkout", lock
        self.mark, self.processors = str(folder), processors

    def run(self, words: Sequence[str], limit_s: float) -> Ended:
        """A command in the checkout. All that it started ends when it does, when its time is over, and when
        this process is interrupted.
        """
        temporary = self.folder / "tmp"  # for what tests make, and leave when they are ended
        temporary.mkdir(exist_ok=True)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STRATA_") or k in KEPT}
        environment |= {"STRATA_NO_APT": "1", "STRATA_TEST_RUN": self.mark, "TMPDIR": str(temporary)}
        began = time.time()
        process = subprocess.Popen(
            words,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=self._keep_to_processors,
        )
        heard = Heard(process)
        try:
            code = heard.wait(limit_s)
            quiet_s = time.monotonic() - heard.last
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            sweep.end_processes(f"STRATA_TEST_RUN={self.mark}".encode())
            sweep.remove_segments(began)
            shutil.rmtree(temporary, ignore_errors=True)
        return Ended(code, heard.whole(), quiet_s)

    def _keep_to_processors(self) -> None:
        """Compilers and tests are as many as there are processors: `nproc` counts these."""
        mine = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, mine[: self.processors or len(mine)])

    def build_whole(self, limit_s: float) -> Ended:
        """Product and tests, with all that tests need."""
        return self.run(["./strata", "test", NO_TEST], limit_s)

    def build(self, limit_s: float) -> Ended:
        """The same anew, after a change."""
        return self.in_build(BUILD, limit_s)

    def in_build(self, script: str, limit_s: float) -> Ended:
        """A line of the shell that finds the build as tests do."""
        return self.run(["bash", "-c", IN_BUILD, "bash", script], limit_s)

    def restore(self) -> None:
        _git(self.root, "checkout", "--quiet", "--force", "HEAD")

    def remove(self) -> None:
        sweep.end_processes(f"STRATA_TEST_RUN={self.mark}".encode())  # an interrupted start left it nobody's
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self.lock)


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def commit_of(root: Path, name: str) -> str:
    return _git(root, "rev-parse", "--verify", f"{name}^{{commit}}")


def clone_of(root: Path, commit: str, processors: int, say: Callable[[str], None]) -> Clone:
    """A clone at a commit: one that was left, or a new one. Others that were left are removed."""
    place, start = Path(tempfile.gettempdir()), f"{NAME}.{os.getuid()}."
    for left in sorted(place.glob(f"{start}*")):
        lock = _locked(left)
        if lock is None:
            continue
        sweep.end_processes(f"STRATA_TEST_RUN={left}".encode())
        if left.name == start + commit[:12] and _commit_in(left / "checkout") == commit:
            say(f"taking over {left}, whose run was killed")
            return _ready(Clone(left, processors, lock))
        say(f"removing {left}, whose run was killed")
        shutil.rmtree(left, ignore_errors=True)
        os.close(lock)
    folder = place / f"{start}{commit[:12]}"
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        raise Broken(f"another run has {folder}: wait for its end, or set TMPDIR") from None
    lock = _locked(folder)
    assert lock is not None
    clone = Clone(folder, processors, lock)
    _git(root, "clone", "--quiet", "--no-checkout", str(root), str(clone.root))
    _git(clone.root, "checkout", "--quiet", "--detach", commit)
    return _ready(clone)


def _ready(clone: Clone) -> Clone:
    clone.restore()
    return clone


def _locked(folder: Path) -> int | None:
    """The descriptor that holds a folder of ours until its process ends; None where another one has it."""
    if folder.lstat().st_uid != os.getuid() or not folder.is_dir():
        return None
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _commit_in(root: Path) -> str:
    try:
        return commit_of(root, "HEAD")
    except (Broken, OSError):
        return ""
