"""The line that says how far a build or tests are, and how long the rest takes."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sample

PROGRAM = sample.ROOT / "setup" / "progress.py"
specification = importlib.util.spec_from_file_location("progress", PROGRAM)
assert specification is not None and specification.loader is not None
progress = importlib.util.module_from_spec(specification)
sys.modules["progress"] = progress
specification.loader.exec_module(progress)

NINJA = """[1/4] Building CXX object core/a.cpp.o
core/a.cpp:1: warning: a warning
[2/4] Building CXX object core/b.cpp.o
FAILED: core/c.cpp.o
[3/4] Linking CXX executable program
"""
CTEST = """    Start 1: one
1/3 Test  #1: one two ...........   Passed    0.05 sec
2/3 Test  #2: three .............***Failed    1.00 sec
what it said
3/3 Test  #3: four ..............***Skipped   0.01 sec
"""
MARKS = """@done 0 3 0 0 600 nothing yet
@done 1 3 0 100 600 tests/test_a.py::test_one[a b]
Fatal: something
@done 2 3 1 300 600 tests/test_a.py::test_two
"""


def filtered(text: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", str(PROGRAM), "--part", "things", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True)


@contextlib.contextmanager
def held_open(
    *words: str, fifo: Path | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[bytes], int]]]:
    """One that waits for more, and what writes to it; it ends with the block."""
    reader, writer = os.pipe() if fifo is None else (os.open(fifo, os.O_RDWR), os.open(fifo, os.O_RDWR))
    command = [sys.executable, "-S", str(PROGRAM), "--part", "things", *words]
    process = subprocess.Popen(command, stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(reader)
    try:
        yield process, lambda text: os.write(writer, text)
    finally:
        os.close(writer)
        if fifo is not None:  # which it holds open itself
            process.kill()
        process.wait()


def test_what_ninja_says_goes_on_and_is_counted() -> None:
    done = filtered(NINJA, "--reads", "ninja")
    assert done.stdout == NINJA
    assert done.stderr.startswith("strata: things 3 of 4, 1 failed, about ")


def test_what_ninja_does_before_it_builds_is_not_counted() -> None:
    said = "[0/2] Re-checking globbed directories...\n[1/2] Re-running CMake...\n"
    done = filtered(said, "--reads", "ninja")
    assert (done.stdout, done.stderr) == (said, "")


def test_ctest_shows_what_did_not_pass() -> None:
    done = filtered(CTEST, "--reads", "ctest")
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["sec", "said", "sec"]
    assert "Passed" not in done.stdout and "Start" not in done.stdout


def test_marks_are_taken_out_of_what_goes_on() -> None:
    done = filtered(MARKS, "--reads", "marks")
    assert done.stdout == "Fatal: something\n"
    assert done.stderr.startswith("strata: things 2 of 3, 1 failed, about ")


def test_pytest_says_itself_how_many_recorded_seconds_are_done() -> None:
    done = filtered("@done 1 3 0 0 1200 test one\n", "--reads", "marks", "--at-once", "4")
    assert done.stderr == "strata: things 1 of 3, about 5 min left\n"


def test_the_last_words_need_no_end_of_line() -> None:
    assert filtered("last words", "--reads", "ctest").stdout == "last words"


def test_the_first_line_has_an_estimate_from_recorded_seconds(tmp_path: Path) -> None:
    """Four of 300 s each, two at once, before anything is done."""
    file = tmp_path / "seconds"
    file.write_text("".join(f"300\t{name}.o\n" for name in "abcd"))
    with held_open("--reads", "ninja", "--seconds", str(file), "--at-once", "2") as (process, _):
        assert process.stderr is not None
        assert process.stderr.readline() == b"strata: things 0 of 4, about 10 min left\n"


def shown(*states: tuple[float, str, int, int, int, float, float]) -> object:
    """Each with the time at which it came."""
    made = progress.Shown(0.0)
    for now, *words in states:
        made.now = now
        made.take(progress.State(*words))
    return made


@pytest.mark.parametrize(
    ("took", "left"),
    [(100.0, "15 min"), (400.0, "38 min"), (50.0, "11 min")],
)
def test_the_time_left_follows_this_machine(took: float, left: str) -> None:
    """100 recorded seconds of 1,000 are done; they took as long, or four times that, or half. Those recorded
    count as 100 s at their own pace: 900 (100 + 400) / (100 + 100) = 2,250 s.
    """
    text = shown((0.0, "a", 0, 10, 0, 0.0, 1000.0), (took, "a", 1, 10, 0, 100.0, 1000.0)).text()
    assert text == f"a 1 of 10, about {left} left"


def test_while_nothing_ends_more_time_is_expected() -> None:
    made = shown((0.0, "a", 0, 10, 0, 0.0, 100.0))
    before = made.left()
    made.now = 60.0
    assert made.left() > before


def test_parts_at_once_share_the_processors_and_those_to_come_are_added() -> None:
    made = shown(
        (0.0, "build", 0, 10, 0, 0.0, 600.0),
        (0.0, "first tests", 0, 5, 0, 0.0, 120.0),
        (0.0, "other tests", -1, 5, 0, 0.0, 300.0),
    )
    assert made.text() == "build 0 of 10, first tests 0 of 5, about 17 min left"
    # The build gets little while those tests run: with them it has done 140 recorded seconds in 140.
    made.now = 140.0
    made.take(progress.State("first tests", 5, 5, 0, 120.0, 120.0))
    made.take(progress.State("build", 1, 10, 0, 20.0, 600.0))
    assert made.text() == "build 1 of 10, about 15 min left"


def test_failures_of_a_part_that_has_ended_are_still_told() -> None:
    made = shown((0.0, "a", 0, 2, 0, 0.0, 0.0), (1.0, "a", 2, 2, 1, 0.0, 0.0), (2.0, "b", 1, 2, 0, 0.0, 0.0))
    assert made.text().startswith("b 1 of 2, 1 failed")


def test_a_second_run_of_a_name_goes_by_what_all_have_taken_and_keeps_the_failures() -> None:
    made = shown(
        (0.0, "tests", 0, 5, 0, 0.0, 600.0),
        (600.0, "tests", 5, 5, 2, 600.0, 600.0),
        (600.0, "build", 0, 9, 0, 0.0, 300.0),
        (900.0, "build", 9, 9, 0, 300.0, 300.0),
        (900.0, "tests", 0, 4, 0, 0.0, 480.0),
    )
    assert made.text() == "tests 0 of 4, 2 failed, about 8 min left"


def test_while_nothing_runs_it_sleeps() -> None:
    line = progress.Line(io.StringIO(), moves=False)
    made = shown((0.0, "a", 1, 2, 0, 0.0, 0.0))
    line.show(made.text(), 0.0)
    assert progress.pause(line, made, 31.0) == 0.0, "the next line is due"
    made.take(progress.State("a", 2, 2))
    assert progress.pause(line, made, 31.0) > 0.0


def test_several_filters_share_one_line(tmp_path: Path) -> None:
    fifo = tmp_path / "events"
    os.mkfifo(fifo)
    with (
        held_open("--reads", "events", fifo=fifo) as (shows, end),
        held_open("--reads", "ninja", "--to", str(fifo)) as (process, write),
    ):
        write(b"[1/4] Building a.o\n")
        assert shows.stderr is not None
        assert shows.stderr.readline().startswith(b"strata: things 1 of 4")
        end(b"end\n")
        assert shows.wait() == 0
        write(b"[2/4] Building b.o\n")
    assert process.communicate() == (b"[1/4] Building a.o\n[2/4] Building b.o\n", b""), "the other showed it"


def test_what_shows_the_line_ends_with_the_process_that_it_is_for(tmp_path: Path) -> None:
    fifo = tmp_path / "events"
    os.mkfifo(fifo)
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    with held_open("--reads", "events", "--while", str(other.pid), fifo=fifo) as (shows, write):
        write(b"build\t1\t4\t0\t0\t0\n")
        assert shows.stderr is not None
        assert shows.stderr.readline().startswith(b"strata: build 1 of 4")
        other.communicate()
        assert shows.wait(60) == 0


def test_a_filter_whose_line_nobody_shows_passes_on_what_is_said(tmp_path: Path) -> None:
    done = filtered(NINJA, "--reads", "ninja", "--to", str(tmp_path / "none"))
    assert (done.stdout, done.stderr) == (NINJA, "")


def test_on_a_terminal_one_line_moves_and_is_gone_at_the_end() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, str(PROGRAM), "--part", "things", "--reads", "ninja"]
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run(command, input=NINJA.encode(), stdout=theirs, stderr=theirs, env=environment, check=True)
    os.close(theirs)
    said = b""
    try:
        while more := os.read(ours, 4096):
            said += more
    except OSError:
        pass  # how a terminal ends
    os.close(ours)
    assert b"\r\x1b[K[1/4] Building" in said, "the line makes room for what is said"
    assert b"\rthings 3 of 4, 1 failed" in said and b"strata:" not in said
    assert said.endswith(b"\r\x1b[K")
