"""strata-integrity as a program: what it says and finds, how it ends, and that it leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from built import program

PROGRAM = program("strata-integrity")
REPORT = 128  # bytes of a worker's report (benchmarks/integrity/shared.hpp)
QUICK = ["--memory", "2MiB", "--seed", "11"]
pytestmark = pytest.mark.skipif(
    PROGRAM is None or sys.platform != "linux", reason="strata-integrity is not built"
)


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def run(
    *words: str, timeout: float = 100, before: tuple[str, ...] = ()
) -> tuple[int, list[dict[str, Any]], str]:
    ended = subprocess.run(
        [*before, str(PROGRAM), *QUICK, *words], capture_output=True, text=True, timeout=timeout
    )
    return ended.returncode, events(ended.stdout), ended.stderr


@contextlib.contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    started = subprocess.Popen(
        [str(PROGRAM), *QUICK, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    patience = threading.Timer(60, started.kill)
    patience.start()
    try:
        yield started
    finally:
        patience.cancel()
        started.kill()
        started.communicate()


def event(process: subprocess.Popen[str], name: str) -> dict[str, Any]:
    """The next event of that name."""
    assert process.stdout is not None
    for line in process.stdout:
        found: dict[str, Any] = json.loads(line)
        if found["event"] == name:
            return found
    raise AssertionError(f"ended without {name}")


def workers(process: subprocess.Popen[str]) -> list[int]:
    return [int(p) for p in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def state(pid: int) -> str:
    """The letter of proc(5); Z where the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def one_core() -> str:
    return str(min(os.sched_getaffinity(0)))


def groups(process: subprocess.Popen[str]) -> list[str]:
    """Its control group: the name carries the owner."""
    roots = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu"))
    return [str(group) for root in roots for group in root.glob(f"strata-integrity-{process.pid}-*")]


def test_every_kernel_runs_on_every_core_and_finds_nothing() -> None:
    code, said, _ = run("--no-yield", "--rounds", "1")
    assert code == 0
    start, end = said[0], said[-1]
    assert (start["event"], end["event"], end["findings"]) == ("start", "end", 0)
    ran = {(each["core"], each["kernel"]) for each in end["sums"]}
    assert ran == {(core["core"], kernel) for core in start["cores"] for kernel in start["kernels"]}
    assert all(each["work"] > 0 and each["seconds"] > 0 for each in end["sums"])
    assert all(each["why"] for each in start["left_out"])


def test_the_same_seed_gives_the_same_rounds_and_another_one_others() -> None:
    words = ["--no-yield", "--rounds", "3", "--verbose", "--kernels", "scalar,hash", "--cores", one_core()]

    def digests(*more: str) -> list[tuple[str, str]]:
        # Sorted: a worker that was late reports after one that began later.
        return sorted((e["seed"], e["digest"]) for e in run(*words, *more)[1] if e["event"] == "round")

    assert digests() == digests() != digests("--seed", "12")


def test_a_signal_ends_it_with_all_sums() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with running("--no-yield", "--verbose", "--kernels", "scalar", "--cores", one_core()) as process:
            event(process, "round")
            process.send_signal(number)
            end = event(process, "end")
            assert end["rounds"] > 0
            assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kernels", "fnord"], "lucas-lehmer"),
        (["--cores", "4000"], "4000"),
        (["--seed", "x"], "64 bits"),
        (["--rounds", "0"], "1 to"),
        (["--replay", "fnord:1"], "no such kernel"),
        (["--cgroup", "/no/such/group"], "/no/such/group"),
        (["--alone", "--no-yield"], "--alone"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(words: list[str], says: str) -> None:
    code, said, error = run(*words)
    assert (code, said) == (2, [])
    assert says in error


def test_a_worker_that_crashes_is_a_finding_with_its_core_and_seed() -> None:
    with running("--no-yield", "--verbose", "--kernels", "scalar", "--cores", one_core()) as process:
        event(process, "round")
        os.kill(workers(process)[0], signal.SIGSEGV)
        suspect, finding = event(process, "suspect"), event(process, "finding")
        assert suspect["id"] == finding["id"]
        assert finding["what"].startswith("crash: Segmentation fault")
        assert str(finding["core"]) == one_core()
        assert finding["replay"].startswith("scalar:0x")
        assert [retry["agrees"] for retry in finding["retries"]] == [True, True]
        assert finding["verdict"] == "not repeated"
        event(process, "round")  # it goes on
        process.terminate()
        assert event(process, "end")["findings"] == 1
        assert process.wait(30) == 1


@pytest.mark.parametrize("kernel", ["scalar", "march"])
def test_a_round_that_is_given_up_unasked_is_a_finding(kernel: str) -> None:
    """As a core that goes wrong may take the way that skips the check."""
    listed = subprocess.run([str(PROGRAM), "--list"], capture_output=True, text=True, check=True).stdout
    number = [line.split()[0] for line in listed.splitlines()].index(kernel)
    with running("--no-yield", "--verbose", "--kernels", "scalar", "--cores", one_core()) as process:
        event(process, "round")
        fds = Path(f"/proc/{workers(process)[0]}/fd")
        reports = [fd for fd in fds.iterdir() if int(fd.name) > 2 and str(fd.readlink()).startswith("pipe:")]
        assert reports
        with reports[-1].open("wb", buffering=0) as pipe:
            pipe.write(struct.pack("=II", 2, number).ljust(REPORT, b"\0"))
        finding = event(process, "finding")
        assert finding["what"] == "a round given up that nobody stopped"
        assert (finding["kernel"], finding["verdict"]) == (kernel, "not repeated")
        process.terminate()
        assert process.wait(30) == 1


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="writes an instruction of x86-64")
def test_a_worker_that_goes_on_for_ever_is_a_finding() -> None:
    with running("--no-yield", "--verbose", "--kernels", "scalar", "--cores", one_core()) as process:
        event(process, "round")
        pid = workers(process)[0]
        os.kill(pid, signal.SIGSTOP)
        assert until(lambda: state(pid) == "T")
        pc = int(Path(f"/proc/{pid}/syscall").read_text().split()[-1], 16)
        with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
            memory.seek(pc)
            memory.write(b"\xeb\xfe")  # jmp to itself
        os.kill(pid, signal.SIGCONT)
        finding = event(process, "finding")
        assert (finding["what"], finding["verdict"]) == ("hang", "not repeated")
        process.terminate()
        assert process.wait(30) == 1


def test_a_worker_that_memory_runs_out_for_is_no_finding() -> None:
    with running("--no-yield", "--verbose", "--kernels", "scalar", "--cores", one_core()) as process:
        event(process, "round")
        os.kill(workers(process)[0], signal.SIGKILL)
        assert str(event(process, "killed")["core"]) == one_core()
        event(process, "round")
        process.terminate()
        assert process.wait(30) == 0


def test_a_bit_that_flips_in_memory_is_found_with_its_place() -> None:
    """The march's block is written from outside, as if a cell lost its charge, until the march sees it."""
    size = 2 << 20
    words = ["--no-yield", "--verbose", "--kernels", "march", "--cores", one_core()]
    with running(*words) as process:
        event(process, "round")
        pid = workers(process)[0]
        maps = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
        ranges = [tuple(int(end, 16) for end in m[0].split("-")) for m in maps if m[1] == "rw-s"]
        start = next(low for low, high in ranges if high - low == size)
        where = 12345
        with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:

            def flipped() -> bool:
                memory.seek(start + where)
                byte = memory.read(1)[0]
                memory.seek(start + where)
                memory.write(bytes([byte ^ 16]))
                return b'"finding"' in os.read(process.stdout.fileno(), 1 << 16)  # type: ignore[union-attr]

            assert until(flipped)
        process.terminate()
        said = events("\n".join(line for line in process.communicate()[0].splitlines() if line.endswith("}")))
        assert process.returncode == 1
    assert said[-1]["findings"] > 0


def test_a_finding_is_done_again_from_its_line(tmp_path: Path) -> None:
    words = ["--no-yield", "--kernels", "scalar,march", "--cores", one_core()]
    said = run(*words, "--rounds", "1", "--verbose")[1]
    rounds = {e["kernel"]: e for e in said if e["event"] == "round"}
    for kernel, first in rounds.items():
        code, again, _ = run(*words, "--replay", f"{kernel}:{first['seed']}:{first['core']}", "--rounds", "2")
        assert code == 0
        assert [e["digest"] for e in again if e["event"] == "round"] == [first["digest"]] * 2
    found = tmp_path / "findings.jsonl"
    lines = [
        {"event": "start"},
        {"event": "finding", "replay": f"scalar:{rounds['scalar']['seed']}:{one_core()}"},
    ]
    found.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, again, _ = run(*words, "--replay", str(found))
    assert [e["digest"] for e in again if e["event"] == "round"] == [rounds["scalar"]["digest"]]


def test_plain_runs_compute_the_same_work() -> None:
    said = run("--plain", "--rounds", "2", "--kernels", "scalar,hash,march", "--cores", one_core())[1]
    assert [(e["event"], e["kernel"], e["rounds"]) for e in said] == [
        ("plain", kernel, 2) for kernel in ("scalar", "hash", "march")
    ]
    assert all(e["work"] > 0 for e in said)


@pytest.mark.parametrize("words", [["--cgroup", "none"], []])
def test_workers_stop_while_a_foreground_program_runs(words: list[str]) -> None:
    core = one_core()
    code = f"import os\nos.sched_setaffinity(0, [{core}])\nwhile True: pass"
    with running(*words, "--verbose", "--cores", core) as process:
        start = event(process, "start")
        assert start["mode"] in ("cgroup idle", "cgroup weight", "alone only")
        foreground = subprocess.Popen([sys.executable, "-c", code])
        try:
            # Who is to stop has to run once more, which takes a worker of the idle group long on a busy core.
            assert until(lambda: [state(pid) for pid in workers(process)] == ["T"], 240)
        finally:
            foreground.kill()
            foreground.wait()
        process.terminate()
        end = event(process, "end")
        assert end["yielded"][0]["times"] > 0
        assert process.wait(30) == 0


def test_nothing_is_left_behind_even_after_a_kill() -> None:
    with running("--cores", one_core()) as process:
        start = event(process, "start")
        if not start["mode"].startswith("cgroup"):
            pytest.skip("no control group can be made here")
        (group,) = groups(process)
        pids = workers(process)
        assert Path(group, "cgroup.procs").read_text().split() == [str(pid) for pid in pids]
        process.kill()
        process.wait()
        # Who is killed has to run once more, too.
        assert until(lambda: all(state(pid) == "Z" for pid in pids), 240)
        assert groups(process) == [group]
    with running("--cores", one_core()) as later:
        event(later, "start")
        assert groups(process) == []
        later.terminate()
        assert later.wait(30) == 0
        assert groups(later) == []


def test_a_sound_machine_has_no_finding_in_some_seconds() -> None:
    # Other tests run meanwhile, which two full cores would hold up.
    words = ("--no-yield", "--time", "6s", "--memory", "64MiB")
    code, said, _ = run(*words, timeout=180, before=("nice", "-n", "19"))
    assert (code, said[-1]["event"], said[-1]["findings"]) == (0, "end", 0)


@pytest.mark.soak
def test_a_sound_machine_has_no_finding_in_half_an_hour() -> None:
    code, said, _ = run("--no-yield", "--time", "30m", "--memory", "256MiB", timeout=2300)
    assert (code, said[-1]["event"], said[-1]["findings"]) == (0, "end", 0)
