"""However a launch ends, nothing of it is left: no process, no shared memory, no scratch, no cgroup."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import launching
import pytest
from launching import Launcher, needs_two_cores, owner, traces, wait_until

# Holds the lifeline of a launcher, as the measuring engine does: when this process dies, the pipe ends.
PARENT = """
import os, subprocess, sys
read, write = os.pipe()
environment = {**os.environ, "STRATA_LIFELINE_FD": str(read)}
child = subprocess.Popen(sys.argv[1:], pass_fds=[read], env=environment)
os.close(read)
print(child.pid, flush=True)
child.wait()
"""


def start_under_parent(launcher: Launcher, command: list[str]) -> tuple[subprocess.Popen[str], int]:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *command], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    launcher.started.add(pid)
    return parent, pid


def end_and_forget(parent: subprocess.Popen[str]) -> None:
    parent.kill()
    parent.wait()
    if parent.stdout is not None:
        parent.stdout.close()


def ended(pid: int) -> bool:
    """Dead, whether or not somebody has taken note."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def traces_of(supervisor: int) -> set[Path]:
    return {path for path in traces() if owner(path) == supervisor}


def kill_whole(pid: int) -> None:
    """Kills and waits: a killed process needs a CPU to end, and holds its lock until then."""
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: ended(pid))


def marked(launcher: Launcher, count: int) -> bool:
    """At least so many processes run the program itself (the launcher carries the word too)."""
    return len(launcher.alive()) > count


@pytest.mark.parametrize("words", [[], ["deaf", "leave"]])
def test_when_the_parent_is_killed_the_run_ends(
    launcher: Launcher, programs: dict[str, str], words: list[str]
) -> None:
    command = launcher.command(
        "--own-share",
        "--record",
        str(launcher.record_file),
        program=[programs["busy"], "60", "1", *words, launcher.token],
    )
    parent, _ = start_under_parent(launcher, command)
    assert wait_until(lambda: marked(launcher, 1 + len(words) // 2))
    end_and_forget(parent)
    assert wait_until(lambda: launcher.alive() == [])
    assert wait_until(lambda: launcher.leftovers() == set())
    assert not launcher.record_file.exists()
    assert not launcher.record_file.with_suffix(".json.tmp").exists()


@needs_two_cores
def test_when_the_parent_of_an_mpi_run_is_killed_its_shared_memory_goes_too(
    launcher: Launcher, ranks: str
) -> None:
    command = launcher.command(
        "--layout", "2x1", "--record", str(launcher.record_file), program=[ranks, "60", "-1", launcher.token]
    )
    parent, _ = start_under_parent(launcher, command)
    assert parent.stdout is not None
    for _ in range(2):  # each says so when it has heard of the other, through what they share
        assert parent.stdout.readline().startswith("rank ")
    launcher.note_segments()
    end_and_forget(parent)
    assert wait_until(lambda: launcher.alive() == [])
    assert wait_until(lambda: launcher.leftovers() == set())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_passed_on_and_recorded(
    launcher: Launcher, programs: dict[str, str], number: int
) -> None:
    before = signal.signal(number, signal.SIG_DFL)  # nohup ignores SIGHUP, which is inherited
    running = launcher.start(
        "--record", str(launcher.record_file), program=[programs["busy"], "60", "1", "leave", launcher.token]
    )
    signal.signal(number, before)
    assert wait_until(lambda: marked(launcher, 2))
    running.send_signal(number)
    assert running.wait(30) in {128 + number, -number}
    assert launcher.record()["signal"] == number
    assert launcher.alive() == []
    assert launcher.leftovers() == set()


def is_deaf(pid: int) -> bool:
    """Whether it ignores SIGINT and SIGTERM."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
    return all(ignored >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGTERM))


def test_a_second_signal_ends_a_program_that_is_deaf_to_the_first(
    launcher: Launcher, programs: dict[str, str]
) -> None:
    """At once, and not after the time that a program has to end by itself: one that got a single signal
    before is still there.
    """
    deaf = [programs["busy"], "600", "1", "deaf", launcher.token]
    patient, other = (
        launcher.start("--record", str(launcher.folder / f"{name}.json"), program=deaf) for name in "ab"
    )
    assert wait_until(lambda: sum(map(is_deaf, launcher.running("busy"))) == 2, 60)
    patient.send_signal(signal.SIGTERM)
    # Two kinds: of one kind, two that wait to be handled are one.
    other.send_signal(signal.SIGTERM)
    other.send_signal(signal.SIGINT)
    assert other.wait(60) == 128 + signal.SIGKILL
    assert patient.poll() is None
    assert patient.wait(60) == 128 + signal.SIGKILL
    assert launcher.alive() == []


def test_only_what_own_runs_left_is_left_behind(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another test's killed run has its traces until somebody sweeps them."""
    with launcher.start(program=["true"]) as own, subprocess.Popen(["true"]) as other:
        pass
    mine, theirs = (tmp_path / f"strata-{os.getuid()}-{process.pid}-1" for process in (own, other))
    monkeypatch.setattr(launching, "traces", lambda: {mine, theirs})
    assert launcher.leftovers() == {str(mine)}


def test_a_process_that_escaped_is_ended_with_the_run(launcher: Launcher, programs: dict[str, str]) -> None:
    record = launcher.recorded(program=[programs["busy"], "0.2", "1", "leave", launcher.token])
    assert record["exit_code"] == 0
    assert launcher.alive() == []


def guardian_of(supervisor: int) -> int:
    """The launcher's process that ends what a killed supervisor leaves: in a session of its own. On a busy
    machine the program may run before the guardian has its title."""
    title = f"strata: guardian of {supervisor}".encode()
    found: list[int] = []

    def shown() -> bool:
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "cmdline").read_bytes().rstrip(b"\0") == title:
                    found.append(int(entry.name))
            except OSError:
                continue
        return bool(found)

    assert wait_until(shown), "no guardian"
    return found[0]


def test_a_guardian_is_gone_when_its_launcher_is(launcher: Launcher, programs: dict[str, str]) -> None:
    program = [programs["busy"], "1", "1", "leave", launcher.token]
    running = launcher.start("--timeout", "60", program=program)
    assert wait_until(lambda: marked(launcher, 1))
    guardian = guardian_of(running.pid)
    assert running.wait(30) == 0
    assert not Path(f"/proc/{guardian}").exists()


@pytest.mark.parametrize("guarded", [True, False])
def test_a_killed_supervisor_takes_the_program_with_it_and_the_rest_is_swept(
    launcher: Launcher, programs: dict[str, str], guarded: bool
) -> None:
    running = launcher.start(
        "--own-share",
        "--record",
        str(launcher.record_file),
        program=[programs["busy"], "60", "1", "leave", launcher.token],
    )
    assert wait_until(lambda: marked(launcher, 2))
    assert traces_of(running.pid)
    if not guarded:
        os.kill(guardian_of(running.pid), signal.SIGKILL)
    running.kill()
    running.wait()
    if guarded:
        # The program dies with its parent; the guardian ends the one that escaped.
        assert wait_until(lambda: launcher.alive() == [])
    else:
        # That one waits for the next start, of anybody's run.
        assert wait_until(lambda: len(launcher.alive()) <= 1)
        launcher.recorded(program=["true"])
        assert launcher.alive() == []
    assert wait_until(lambda: not traces_of(running.pid))
    assert launcher.leftovers() == set()


@needs_two_cores
def test_a_killed_supervisor_of_an_mpi_run_leaves_no_rank(launcher: Launcher, ranks: str) -> None:
    running = launcher.start(
        "--layout", "2x1", "--record", str(launcher.record_file), program=[ranks, "60", "-1", launcher.token],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert wait_until(lambda: len(launcher.running("ranks")) == 2)
    launcher.note_segments()
    running.kill()
    running.wait()
    assert wait_until(lambda: launcher.alive() == [])
    launcher.recorded(program=["true"])
    assert launcher.leftovers() == set()


def test_a_sweep_spares_the_run_that_lives(launcher: Launcher, programs: dict[str, str]) -> None:
    running = launcher.start(
        "--record", str(launcher.folder / "other.json"), program=[programs["busy"], "60", "1", launcher.token]
    )
    # The supervisor's child carries the word before the program runs: the traces say that it has begun.
    assert wait_until(lambda: marked(launcher, 1) and bool(traces_of(running.pid)))
    before = traces_of(running.pid)
    launcher.recorded(program=["true"])
    assert traces_of(running.pid) == before
    assert len(launcher.alive()) == 2
    running.terminate()
    running.wait()
    assert not traces_of(running.pid)


def storm_commands(launcher: Launcher, programs: dict[str, str], ranks: str) -> list[list[str]]:
    """Launches of all kinds: one process, copies, MPI, with limits; each with something to leave behind."""
    deaf = [programs["busy"], "60", "2", "leave", "deaf", launcher.token]
    record = ["--record", str(launcher.record_file)]
    kinds = [
        launcher.command("--own-share", *record, program=deaf),
        launcher.command("--layout", "2x1", program=deaf),
        launcher.command(*record, "--layout", "2x1", program=[ranks, "60", "-1", launcher.token]),
        launcher.command("--timeout", "60", "--layout", "2x1", program=[ranks, "60", "-1", launcher.token]),
    ]
    if may_limit(launcher):
        kinds.append(launcher.command("--memory-limit", "1GiB", program=deaf))
        kinds.append(launcher.command("--exclusive", "--memory-limit", "1GiB", program=deaf))
    return kinds


def may_limit(launcher: Launcher) -> bool:
    """Whether this user may make cpusets and memory groups here."""
    done = launcher.run("--exclusive", "--memory-limit", "1GiB", program=["true"])
    return done.returncode == 0


@needs_two_cores
@pytest.mark.parametrize("rounds", [12, pytest.param(200, marks=pytest.mark.soak)])
def test_kills_at_random_moments_leave_nothing(
    launcher: Launcher, programs: dict[str, str], ranks: str, rounds: int
) -> None:
    chance = random.Random(20260301)
    kinds = storm_commands(launcher, programs, ranks)
    for round_ in range(rounds):
        parent, pid = start_under_parent(launcher, kinds[round_ % len(kinds)])
        time.sleep(chance.uniform(0, 0.6))
        launcher.note_segments()
        whom = chance.choice(["parent", "supervisor"])
        if whom == "supervisor":
            kill_whole(pid)
        end_and_forget(parent)
        # Nothing runs on, and nobody need do anything for that.
        assert wait_until(lambda: launcher.alive() == []), f"round {round_}: {whom}"
        # What may be left, at most a folder or an empty cgroup, is gone with the next command.
        assert launcher.run("--timeout", "60", program=["true"]).returncode == 0
        assert wait_until(lambda: launcher.leftovers() == set()), (
            f"round {round_}: {whom} {launcher.leftovers()}"
        )
        assert not launcher.record_file.exists()
