"""Placement files, memory policies and limits: what is refused, and how; limits that the kernel keeps."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launching import Launcher, allowed_cores, needs_two_cores, wait_until
from test_combinations import promised

FOUR = "synthetic:pack:1 numa:4 core:2 pu:1"


def plan(launcher: Launcher, *options: str, machine: str = FOUR) -> subprocess.CompletedProcess[str]:
    return launcher.run(*options, "--dry-run", "--machine", machine, program=["true"])


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode not in (0, 139), done.stdout
    assert done.stderr.count("strata: error:") == 1
    return done.stderr


def test_a_placement_file_is_kept_line_by_line(launcher: Launcher, tmp_path: Path) -> None:
    file = tmp_path / "placement"
    file.write_text(
        "# a process a domain, backwards\n"
        "process 0 thread 0-1   core 6,7   memory 3\n"
        "process 1 thread 0     pu 4       memory interleave 0-1\n"
        "process 1 thread 1     os:5\n".replace("os:5", "pu os:5")
        + "process 2              numa 1     # both threads anywhere in it\n"
    )
    done = plan(launcher, "--placement", str(file), "--layout", "3x2")
    assert done.returncode == 0, done.stderr
    assert promised(done.stdout) == {0: [{6}, {7}], 1: [{4}, {5}], 2: [{2, 3}, {2, 3}]}
    assert "only in memory P#3" in done.stdout
    assert "page by page over memories P#0-1" in done.stdout
    # Without a layout the file says how many there are.
    file.write_text("process 0-3 core 0,2,4,6\n")
    assert promised(plan(launcher, "--placement", str(file)).stdout) == {
        0: [{0}],
        1: [{2}],
        2: [{4}],
        3: [{6}],
    }


@pytest.mark.parametrize(
    "lines, said, line",
    [
        ("process 0 numa 4", "there is no such domain", 1),
        ("# nothing\nprocess 0 core 9", "there is no such core", 2),
        ("process 0 pu os:77", "there is no such pu", 1),
        ("process 0 core 0\nprocess 5 core 1", "the layout has no such process", 2),
        ("process 0 thread 7 core 0", "the layout has no such thread", 1),
        ("process 0 core 0\nprocess 0 core 1\nprocess 1 core 2", "this thread has a place already", 2),
        ("process 0 core 0", "leaves a thread without a place", None),
        ("process 0-1 core 0-2", "neither one object for all threads of the line nor one for each", 1),
        ("process 0-1 core 0-1 memory 9", "there is no such memory", 1),
        ("process 0-1 socket 0", "unknown kind of object", 1),
        ("thread 0 core 0", "names a process first", 1),
        ("process x core 0", "not a number of a process", 1),
        ("process 0-1 core a", "not a list of numbers", 1),
        ("process 0-1 core 0-1 memroy 1", "unknown word", 1),
        ("process 0-1 core 0-1 memory 1 2", "unknown word after the memories", 1),
        ("", "places nothing", None),
    ],
)
def test_a_placement_file_that_cannot_be_kept_is_answered_with_its_line(
    launcher: Launcher, tmp_path: Path, lines: str, said: str, line: int | None
) -> None:
    file = tmp_path / "placement"
    file.write_text(lines + "\n")
    text = refused(plan(launcher, "--placement", str(file), "--layout", "2x1"))
    assert said in text
    assert (f"{file}:{line}" if line else str(file)) in text


@pytest.mark.parametrize(
    "options, said",
    [
        (["--placement", "/no/such/file"], "the placement file cannot be read"),
        (["--memory", "bind:4"], "there is no such memory"),
        (["--memory", "bind:os:9"], "there is no such memory"),
        (["--memory", "bind"], "unknown memory policy"),
        (["--memory", "local:0"], "unknown memory policy"),
        (["--memory", "nearby"], "unknown memory policy"),
        (["--bind", "0,99"], "there is no such PU"),
        (["--bind", "os:99"], "there is no such PU"),
        (["--bind", "socket"], "unknown way to bind"),
        (["--bind", "0-1", "--layout", "3x1"], "the layout is larger"),
        (["--bind", "0-1", "--smt", "2"], "exclude each other"),
        (["--bind", "none", "--near", "gpu"], "near nothing"),
        (["--near", "gpu"], "there is no such device"),
        (["--near", "printer"], "unknown kind of device"),
        (["--core-kind", "7"], "unknown kind of cores"),
        (["--text", "nowhere"], "unknown place for the program's text"),
        (["--memory-limit", "lots"], "lots"),
        (["--layout", "9x1"], "the layout is larger than what this process may use"),
    ],
)
def test_what_cannot_be_placed_is_one_clear_message(
    launcher: Launcher, options: list[str], said: str
) -> None:
    assert said in refused(plan(launcher, *options))


def test_a_described_machine_runs_nothing(launcher: Launcher) -> None:
    assert "runs nothing" in refused(launcher.run("--machine", FOUR, program=["true"]))


@needs_two_cores
def test_a_list_of_pus_that_are_not_allowed(launcher: Launcher) -> None:
    first, *rest = sorted(os.sched_getaffinity(0))
    command = launcher.command("--bind", f"os:{rest[0]}", program=["true"])
    done = subprocess.run(
        ["taskset", "-c", str(first), *command], capture_output=True, text=True, check=False
    )
    assert "this process may not use that PU" in refused(done)


@needs_two_cores
def test_a_program_that_binds_itself_against_the_layout_is_told_of(launcher: Launcher) -> None:
    first, *rest = sorted(os.sched_getaffinity(0))
    script = f"import os, time\nos.sched_setaffinity(0, {{{rest[0]}}})\nend = time.time() + 1\n"
    script += "while time.time() < end: pass"
    done = launcher.run("--check", program=[sys.executable, "-c", script])
    assert done.returncode == 1
    text = refused(done)
    assert "the program did not keep the placement" in text
    assert f"may run on PU {rest[0]}, promised was PU {first}" in text
    kept = launcher.run("--check", program=[sys.executable, "-c", "sum(range(10**7))"])
    assert (kept.returncode, kept.stderr) == (0, "")


def may_limit(launcher: Launcher) -> bool:
    """Whether this user may make control groups here."""
    return launcher.run("--memory-limit", "1GiB", program=["true"]).returncode == 0


def test_a_memory_limit_ends_the_program_and_says_which(launcher: Launcher) -> None:
    if not may_limit(launcher):
        pytest.skip("no control groups may be made here")
    eat = "keep = bytearray(256 << 20); print('survived')"
    done = launcher.run("--memory-limit", "96MiB", program=[sys.executable, "-c", eat])
    assert done.returncode == 128 + 9
    assert done.stdout == ""
    text = refused(done)
    assert "needed more memory than its limit" in text
    assert "--memory-limit 96 MiB" in text
    assert (
        launcher.run("--memory-limit", "512MiB", program=[sys.executable, "-c", eat]).stdout == "survived\n"
    )
    assert wait_until(lambda: launcher.leftovers() == set())


def test_a_limit_is_told_also_when_the_program_hides_it(launcher: Launcher) -> None:
    if not may_limit(launcher):
        pytest.skip("no control groups may be made here")
    eat = f"{sys.executable} -c 'keep = bytearray(256 << 20)'; true"
    done = launcher.run("--memory-limit", "96MiB", program=["sh", "-c", eat])
    assert done.returncode != 0
    assert "needed more memory than its limit" in done.stderr


def test_exclusive_holds_and_a_second_one_is_refused(launcher: Launcher) -> None:
    if not may_limit(launcher):
        pytest.skip("no control groups may be made here")
    cores = allowed_cores()
    again = " ".join(launcher.command("--exclusive", "--layout", f"{cores}x1", program=["true"]))
    held = launcher.start(
        "--exclusive", "--layout", "1x1", program=["sh", "-c", "echo up; sleep 30"], stdout=subprocess.PIPE
    )
    assert held.stdout is not None
    held.stdout.readline()
    done = subprocess.run(["sh", "-c", again], capture_output=True, text=True, check=False)
    held.terminate()
    held.wait()
    held.stdout.close()
    text = refused(done)
    assert "another cpuset holds some of these processors" in text or "larger than what this process" in text
    assert wait_until(lambda: launcher.leftovers() == set())


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
@pytest.mark.parametrize("option", ["--memory-limit=1GiB", "--exclusive"])
def test_limits_without_permission_are_refused_with_what_was_tried(launcher: Launcher, option: str) -> None:
    command = launcher.command(option, program=["true"])
    # In a root of its own where the program may lie in a folder that only root may enter.
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode in (126, 127) and "setpriv" in done.stderr:
        pytest.skip("another user cannot run the program where it lies")
    text = refused(done)
    assert "not permitted here" in text
    assert "systemd-run --user --scope" in text


def by_hand(text: str) -> list[tuple[str, dict[str, str]]]:
    """Of each process its PUs as a list, and what OpenMP is told, by the lines for other launchers."""
    (told,) = re.findall(r"^by hand \(numbers are the system's; (.*) beside it", text, re.M)
    own = dict(re.findall(r"^  OpenMP   rank (\d+): (.*)$", text, re.M))
    masks = re.findall(r"^ +rank (\d+)=localhost slot=(\S+)$", text, re.M)
    return [
        (pus, dict(word.split("=", 1) for word in shlex.split(f"{told} {own.get(rank, '')}")))
        for rank, pus in masks
    ]


@needs_two_cores
@pytest.mark.parametrize(
    "options",
    [
        ["--layout", "2x1"],
        ["--layout", "1x2"],
        ["--layout", "2x1", "--bind", "numa"],
        ["--layout", "1x2", "--bind", "numa"],
        ["--layout", "1x2", "--bind", "package"],
        ["--layout", "1x2", "--bind", "1,0"],
    ],
    ids=" ".join,
)
def test_the_words_by_hand_put_openmps_threads_where_the_table_says(
    launcher: Launcher, programs: dict[str, str], options: list[str]
) -> None:
    text = launcher.run(*options, "--dry-run", program=[programs["show_openmp"]]).stdout
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    found = {}
    for rank, (pus, told) in enumerate(by_hand(text)):
        done = subprocess.run(
            ["taskset", "-c", pus, programs["show_openmp"]],
            env={**clean, **told},
            capture_output=True,
            text=True,
            check=True,
        )
        found[rank] = [
            {int(pu) for pu in line.split()[1].split(",")}
            for line in done.stdout.splitlines()
            if line.startswith("thread ")
        ]
    assert found and found == promised(text)


def test_threads_in_unlike_wide_places_have_them_by_rank(launcher: Launcher) -> None:
    done = plan(launcher, "--layout", "2x4", "--bind", "numa")
    places = [told["OMP_PLACES"] for _, told in by_hand(done.stdout)]
    assert places == ["{0:2},{0:2},{2:2},{2:2}", "{4:2},{4:2},{6:2},{6:2}"]
    (one,) = by_hand(plan(launcher, "--layout", "1x4", "--bind", "numa").stdout)
    assert one[1]["OMP_PLACES"] == "{0:2},{0:2},{2:2},{2:2}"
