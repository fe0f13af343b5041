"""What `./strata test` does around its runners, in a small checkout: a build of one file and three tests."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sample

pytest.importorskip("xdist")
if shutil.which("ninja") is None or shutil.which("cmake") is None:
    pytest.skip("no ninja and cmake on the PATH", allow_module_level=True)

# In place of what finds the build of this machine and of what set-up gets. Tests run beside the
# compiler, however little there is to compile.
KEY = """
short=0
STRATA_ROOT=$(cd "$here/.." && pwd) STRATA_BUILDS=$STRATA_ROOT/build STRATA_BUILD=$STRATA_ROOT/build/one
strata_key() { :; }
strata_find_build() { :; }
strata_use_build() { :; }
strata_processor() { REPLY=any; }
strata_own_lock() { :; }
"""
# The native test program waits for the test in Python that needs only the product.
CMAKE = """
cmake_minimum_required(VERSION 3.21)
project(small NONE)
enable_testing()
add_custom_command(OUTPUT program COMMAND sh "${CMAKE_SOURCE_DIR}/compile.sh")
add_custom_target(programs ALL DEPENDS program)
add_test(NAME base/native COMMAND sh -c "test -e ${CMAKE_BINARY_DIR}/program")
"""
COMPILE = """
for i in $(seq 3000); do
    [ -e "$ROOT/said" ] && { touch program; exit 0; }
    sleep 0.1
done
exit 1
"""
EARLY = """
import os, pathlib
def test_early():
    assert not pathlib.Path("build/one/cmake/program").exists()
    pathlib.Path("said").touch()
"""
LATE = """
import pathlib, pytest
def test_late(): assert pathlib.Path("build/one/cmake/program").exists()
def test_not_here(): pytest.skip("no such machine")
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    shutil.copytree(sample.ROOT / "setup", tmp_path / "setup")
    (tmp_path / "setup" / "key.sh").write_text(KEY)
    (tmp_path / "setup" / "setup.sh").write_text("exit 0\n")
    (tmp_path / "setup" / "test_pieces.sh").write_text("get_test_pieces() { :; }\n")
    for folder in ("python", "team"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
    (tmp_path / "tests" / "README.md").write_text("")
    for name in ("conftest.py", "late.txt"):
        shutil.copy(sample.ROOT / "tests" / name, tmp_path / "tests")
    (tmp_path / "tests" / "seconds.tsv").write_text("120\tbase\t1\n240\ttests/team/test_second.py\t2\n")
    shutil.copytree(sample.ROOT / "tests" / "fixtures", tmp_path / "tests" / "fixtures")
    (tmp_path / "tests" / "python" / "test_first.py").write_text(EARLY)
    (tmp_path / "tests" / "team" / "test_second.py").write_text(LATE)
    marks = "".join(f"    {name}: as there\n" for name in ("alone", "late", "soak"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers =\n{marks}pythonpath = tests/fixtures\n")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "compile.sh").write_text(f"ROOT='{tmp_path}'\n{COMPILE}")
    command = ["cmake", "-G", "Ninja", "-S", str(tmp_path), "-B", str(tmp_path / "build" / "one" / "cmake")]
    subprocess.run(command, check=True, capture_output=True)
    return tmp_path


def small_and_deaf_to_nothing() -> None:
    """On one processor, which is two tests at once; with signals as a terminal has them."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(small: Path) -> subprocess.Popen[str]:
    ours = ("STRATA_", "PYTEST_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"STRATA_PYTHON": sys.executable, "TMPDIR": str(small / "tmp")}
    (small / "tmp").mkdir()
    return subprocess.Popen(
        ["bash", str(small / "setup" / "test.sh")],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=small_and_deaf_to_nothing,
    )


def test_tests_that_need_no_test_program_run_while_it_is_compiled(small: Path) -> None:
    running = start(small)
    said, complained = running.communicate(timeout=300)
    assert running.returncode == 0, said + complained
    *_, why, last = said.splitlines()
    assert (why, last) == ("skipped   1: no such machine", "3 passed, 0 failed, 1 skipped")
    # Of tests that are yet to come, 120 + 480 recorded seconds count from the beginning, two at once.
    # Which of the two that go on together says so first is not determined.
    assert re.search("strata: (compiling, files|tests in Python) 0 of 1, about 5 min left\n", complained)
    assert "tests/python/test_first.py::test_early\n" in (small / "build/one/test-seconds").read_text()


def test_what_does_not_compile_is_said(small: Path) -> None:
    (small / "compile.sh").write_text("echo a reason; exit 1\n")
    running = start(small)
    _, complained = running.communicate(timeout=300)
    assert running.returncode == 1
    assert "a reason" in complained and complained.endswith("strata: error: the tests do not compile\n")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["INT", "TERM", "KILL"])
def test_ended_while_it_compiles_and_tests_it_leaves_nothing(small: Path, how: signal.Signals) -> None:
    """SIGINT goes to all, as from a terminal; the other two to the command alone."""
    (small / "compile.sh").write_text(f"touch '{small}/compiles'; exec sleep 1000\n")
    test = "import pathlib, time\ndef test_early():\n    pathlib.Path('said').touch()\n    time.sleep(1000)\n"
    (small / "tests" / "python" / "test_first.py").write_text(test)
    running = start(small)
    assert until(lambda: (small / "said").exists() and (small / "compiles").exists())
    (os.killpg if how == signal.SIGINT else os.kill)(running.pid, how)
    running.communicate(timeout=300)
    assert running.returncode in (-how, 128 + how)
    assert until(lambda: processes(small) == [] and not list((small / "tmp").glob("tmp.*")))


def processes(small: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={small}/tmp".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_text())
    return found


def until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 300
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
