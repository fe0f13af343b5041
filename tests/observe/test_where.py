"""`strata where`: processes that run, and commands read at their end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def strata() -> str:
    prefix = os.environ.get("STRATA_PREFIX")
    path = os.environ.get("STRATA_BIN") or str(Path(prefix, "bin", "strata") if prefix else ROOT / "strata")
    if not os.access(path, os.X_OK):
        pytest.skip(f"no program at {path}")
    return path


def where(strata: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [strata, "where", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **more)


def document(strata: str, folder: Path, *words: str) -> dict[str, Any]:
    out = folder / "where.json"
    done = where(strata, "--json", "--output", str(out), *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["schema"] == "strata.where/1"
    return dict(found)


def test_the_output_goes_where_a_link_leads_and_into_standard_output(strata: str, tmp_path: Path) -> None:
    link, file = tmp_path / "link.json", tmp_path / "file.json"
    link.symlink_to("file.json")
    pid = str(os.getpid())
    assert where(strata, pid, "--json", "--output", str(link)).returncode == 0
    assert link.is_symlink() and json.loads(file.read_text())["schema"] == "strata.where/1"
    assert json.loads(where(strata, pid, "--json", "--output", "/dev/stdout").stdout)["processes"]
    assert "cannot be written" in where(strata, pid, "--output", str(tmp_path)).stderr


def test_a_process_that_runs_is_shown_with_its_threads_and_pages(strata: str) -> None:
    script = "import time; keep = bytearray(64 << 20); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        done = where(strata, str(child.pid), "--json")
        table = where(strata, str(child.pid))
        child.kill()
    assert done.returncode == 0, done.stderr
    process = json.loads(done.stdout)["processes"][0]
    assert process["pid"] == child.pid
    assert {int(t["tid"]) for t in process["threads"]} == {child.pid}
    assert sum(process["pages"]["by_memory"].values()) > 64 << 20
    kinds = {region["kind"] for region in process["pages"]["regions"]}
    assert {"program text", "library text", "stack", "anonymous"} <= kinds
    assert "library text" in table.stdout and str(child.pid) in table.stdout


def pages_of(strata: str, pid: int, method: str) -> int:
    done = where(strata, str(pid), "--json", "--method", method)
    return int(sum(json.loads(done.stdout)["processes"][0]["pages"]["by_memory"].values()))


def test_both_ways_to_read_pages_agree(strata: str) -> None:
    script = "import time; keep = bytearray(64 << 20); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        readings = [pages_of(strata, child.pid, method) for method in ("numa_maps", "move_pages")]
        child.kill()
    # The kernel does not say where the zero page and its special mappings lie; the rest is the same.
    assert readings[0] == pytest.approx(readings[1], rel=0.05)


def test_a_command_is_read_just_before_its_end_however_short(strata: str, tmp_path: Path) -> None:
    for _ in range(5):
        processes = document(strata, tmp_path, "--", "true")["processes"]
        assert [Path(p["program"]).name for p in processes] == ["true"]
        assert processes[0]["ended"] is True
        assert sum(processes[0]["pages"]["by_memory"].values()) > 0


def test_threads_that_ended_are_kept_with_their_migrations(strata: str, tmp_path: Path) -> None:
    """Of three threads one goes to and fro between two CPUs, which the kernel counts where it tells.

    All have left before their process does: whoever is still on the way out then is killed unread.
    """
    script = """
import os, threading, time
cpus = sorted(os.sched_getaffinity(0))
def stays(): os.sched_setaffinity(0, {cpus[0]}); sum(range(10**6))
def moves(): [os.sched_setaffinity(0, {cpus[i % 2 * (len(cpus) - 1)]}) for i in range(40)]
for work in (stays, stays, moves):
    thread = threading.Thread(target=work); thread.start(); thread.join()
while len(os.listdir("/proc/self/task")) > 1: time.sleep(0.001)
"""
    (process,) = document(strata, tmp_path, "--", sys.executable, "-c", script)["processes"]
    assert len(process["threads"]) == 4
    found = sorted(thread["migrations"] for thread in process["threads"] if thread["migrations"] is not None)
    own = Path("/proc/self/sched")
    if not own.exists() or "se.nr_migrations" not in own.read_text():
        assert found == []
        return
    assert len(found) == 4
    if len(os.sched_getaffinity(0)) > 1:
        assert found[-1] >= 39 > found[-2]


def test_what_a_launcher_started_is_found_and_the_launcher_marked(strata: str, tmp_path: Path) -> None:
    cores = {min(os.sched_getaffinity(0))}
    command = [
        strata,
        "launch",
        "--layout",
        f"{len(cores)}x1",
        "--record",
        str(tmp_path / "r"),
        "--",
        "sleep",
        "0.1",
    ]
    processes = document(strata, tmp_path, "--", *command)["processes"]
    programs = [p for p in processes if not p["launcher"]]
    assert [Path(p["program"]).name for p in programs] == ["sleep"]
    assert programs[0]["rank"] == 0
    assert programs[0]["threads"][0]["allowed"] == str(min(os.sched_getaffinity(0)))


def test_output_and_status_are_the_programs(strata: str) -> None:
    done = where(strata, "--", "sh", "-c", "echo hello; exit 3")
    assert (done.returncode, done.stdout) == (3, "hello\n")
    assert "just before the end" in done.stderr
    assert where(strata, "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9


def test_readings_while_it_runs(strata: str) -> None:
    """It is ended when the second one has come."""
    command = [strata, "where", "--after", "0.1", "--every", "0.2", "--", "sleep", "60"]
    readings = 0
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            readings += "while it runs" in line
            if readings == 2:
                running.terminate()
                break
        running.communicate()
    assert readings == 2


def sleepers(seconds: str) -> list[str]:
    """Those that sleep so long, by their numbers."""
    done = subprocess.run(
        ["pgrep", "-x", "-f", f"sleep {seconds}"], capture_output=True, text=True, check=False
    )
    return done.stdout.split()


def test_a_signal_ends_both_and_nothing_stays(strata: str) -> None:
    seconds = f"61.{os.getpid()}"  # nobody else's
    running = subprocess.Popen([strata, "where", "--", "sleep", seconds], stderr=subprocess.DEVNULL)
    wait_until(lambda: len(sleepers(seconds)) == 1)
    running.send_signal(signal.SIGKILL)
    running.wait()
    wait_until(lambda: not sleepers(seconds))


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "neither a process nor a command"),
        (["1", "--", "true"], "both a process and a command"),
        (["nobody"], "not a process number"),
        (["4194305"], "there is no such process"),
        (["--every", "1", str(os.getpid())], "this option is for a command"),
        (["--method", "guess", str(os.getpid())], "--method"),
    ],
)
def test_bad_input_is_one_clear_message(strata: str, words: list[str], said: str) -> None:
    done = where(strata, *words)
    assert done.returncode == 2
    assert done.stderr.count("strata: error:") == 1
    assert said in done.stderr


def test_a_threads_number_names_its_process(strata: str) -> None:
    script = (
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); print(flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        (thread,) = {int(p.name) for p in Path(f"/proc/{child.pid}/task").iterdir()} - {child.pid}
        done = where(strata, str(thread))
        child.kill()
    assert done.returncode == 2
    assert f"strata where {child.pid}" in done.stderr


def test_a_command_that_is_not_there_is_answered_as_by_a_shell(strata: str) -> None:
    assert where(strata, "--", "no-such-command").returncode == 127


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
def test_anothers_process_is_refused_with_what_it_takes(strata: str) -> None:
    command = ["setpriv", "--reuid=65534", "--clear-groups", strata, "where", str(os.getpid())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "Permission denied" in done.stderr and "setpriv" in done.stderr:
        pytest.skip("another user cannot run the program where it lies")
    assert done.returncode == 2
    assert "may not be looked into" in done.stderr


def test_a_threads_name_moves_no_cursor_and_makes_no_line(strata: str) -> None:
    """Whoever looks at another user's process reads names that this user has chosen."""
    name = "\x1b]0;x\x07\na"
    script = f"open('/proc/self/comm', 'w').write({name!r}); print(flush=True); import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        table = where(strata, str(child.pid), "--threads")
        child.kill()
    assert "\\x1b]0;x\\x07 a " in table.stdout and "\x1b" not in table.stdout, table.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives links away")
def test_output_goes_through_no_link_of_a_strangers(strata: str, tmp_path: Path) -> None:
    precious, shared = tmp_path / "precious", tmp_path / "shared"
    out = shared / "out"
    precious.write_text("mine")
    shared.mkdir()
    shared.chmod(0o1777)
    out.symlink_to(precious)
    os.lchown(out, 65534, 65534)
    assert where(strata, "--output", str(out), str(os.getpid())).returncode == 2
    assert precious.read_text() == "mine" and out.is_symlink()
