"""Claims about launching: what is read back, that nothing outlives us, and that launches never overlap on a
host.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fakes import install, plan, task

from strata.errors import StrataError
from strata.measure import files, store
from strata.measure.lock import HostLock
from strata.measure.plan import Pattern, Task
from strata.measure.runner import LaunchRunner

LOCK = f"strata-test-{os.getpid()}"


@pytest.fixture
def runner(tmp_path: Path) -> LaunchRunner:
    front = install(tmp_path / "prefix")
    (tmp_path / "results").mkdir()
    return LaunchRunner(
        [str(front)], {"strata-bench": front.parents[1] / "libexec/strata/strata-bench"}, tmp_path / "results"
    )


def run(runner: LaunchRunner, what: Task):
    return runner.run(what, lambda: None)


def test_a_launch_leaves_record_and_result_and_no_file(runner: LaunchRunner) -> None:
    done = run(runner, task("stream"))
    assert done.failed is None
    assert done.record is not None and done.record["exit_code"] == 0
    assert done.result is not None and done.result["figures"][0]["name"] == "triad"
    assert done.system["wall_s"] > 0 and done.system["others_s"] >= 0
    assert [p for p in runner.results.rglob("*") if p.is_file()] == []


def test_figures_of_the_output_come_beside_those_of_the_result(runner: LaunchRunner) -> None:
    done = run(runner, task("says", patterns=(Pattern("rate", r"^rate (\S+) GB/s$", "GB/s"),)))
    assert done.failed is None and done.result is not None
    assert {f["name"]: f["value"] for f in done.result["figures"]}["rate"] == 12.5  # the last
    assert done.result["figures"][0]["name"] == "triad" and done.result["parameters"] == {"n": 1000}
    done = run(runner, task("says", patterns=(Pattern("time", r"^time (\S+)$"),)))
    assert done.failed is not None and "`time`" in done.failed and done.failed.endswith("rate 12.5 GB/s")


def test_a_failing_program_is_told_with_its_last_words(runner: LaunchRunner) -> None:
    done = run(runner, task("fails"))
    assert done.failed == "exit code 3: no such benchmark" and done.result is None


def test_a_wrong_answer_is_a_failure_without_figures(runner: LaunchRunner) -> None:
    done = run(runner, task("wrong"))
    assert done.failed is not None and done.failed.startswith("verification failed")
    assert done.result is not None and done.result["figures"] == []


def test_a_program_over_its_time_limit_is_ended(runner: LaunchRunner) -> None:
    done = run(
        runner,
        task("sleeps", command=("{strata-bench}", "sleeps", "60", "--json", "{result}"), timeout_s=0.2),
    )
    assert done.record is not None and done.record["timed_out"]
    assert done.record["signal"] == signal.SIGKILL and done.result is None, "it did not end by itself"


def test_a_program_without_a_result_is_timed(runner: LaunchRunner) -> None:
    done = run(runner, task("true", command=("/bin/true",)))
    assert done.failed is None and done.result is None and done.record is not None


def test_a_launcher_that_refuses_is_quoted(runner: LaunchRunner, tmp_path: Path) -> None:
    refusing = tmp_path / "refuses"
    refusing.write_text(
        "#!/bin/sh\necho 'strata: error: layout 9x9 is larger than the machine' >&2; exit 2\n"
    )
    refusing.chmod(0o755)
    done = run(LaunchRunner([str(refusing)], {}, runner.results), task("true", command=("/bin/true",)))
    assert done.record is None and done.failed is not None and "larger than the machine" in done.failed


def test_a_missing_launcher_is_one_clear_error(runner: LaunchRunner) -> None:
    with pytest.raises(StrataError, match="cannot start the launcher"):
        run(LaunchRunner(["/nonexistent/strata"], {}, runner.results), task("true"))


def test_a_full_disk_is_noticed_before_the_launch(
    runner: LaunchRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.check_space, "__defaults__", (1 << 62,))
    with pytest.raises(StrataError, match="disk is full"):
        run(runner, task("stream"))


def _measure_sleep(prefix: str, results: str) -> None:
    runner = LaunchRunner(
        [f"{prefix}/bin/strata"], {"strata-bench": Path(prefix, "libexec/strata/strata-bench")}, Path(results)
    )
    runner.run(task("sleeps", command=("{strata-bench}", "sleeps", "60", "--json", "{result}")), lambda: None)


def _children(pid: int) -> list[int]:
    return [int(w) for w in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_killed_engine_takes_its_launch_with_it(runner: LaunchRunner, tmp_path: Path) -> None:
    engine = multiprocessing.get_context("spawn").Process(
        target=_measure_sleep, args=(str(tmp_path / "prefix"), str(runner.results))
    )
    engine.start()
    assert engine.pid is not None
    deadline = time.monotonic() + 60
    tree: list[int] = []
    while len(tree) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
        launchers = _children(engine.pid)
        tree = launchers + [c for pid in launchers for c in _children(pid)]
    assert len(tree) >= 2
    os.kill(engine.pid, signal.SIGKILL)
    engine.join()
    while any(alive(pid) for pid in tree) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [pid for pid in tree if alive(pid)]
    assert files.sweep_leftovers(runner.results) == [f"work/{engine.pid}"]
    assert list(runner.results.glob("work/*")) == []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_a_living_process_writes_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "work" / str(os.getpid())).mkdir(parents=True)
    (tmp_path / f".summary.json.{os.getpid()}.tmp").write_text("half")
    assert files.sweep_leftovers(tmp_path) == []


def test_nothing_is_swept_where_a_link_leads_or_another_user_can_write(tmp_path: Path) -> None:
    archive, results = tmp_path / "archive", tmp_path / "results"
    no_process = str(1 << 23)  # beyond the kernel's most
    for place in (archive / no_process, archive / f".a.{no_process}.tmp", results / no_process):
        place.mkdir(parents=True)
    (results / "work").symlink_to(archive)
    (results / "report").symlink_to(archive)
    assert files.sweep_leftovers(results) == []
    (results / "work").unlink()
    (results / "work" / no_process).mkdir(parents=True)
    results.chmod(0o777)
    assert files.sweep_leftovers(results) == []
    results.chmod(0o755)
    assert files.sweep_leftovers(results) == [f"work/{no_process}"]
    assert len(list(archive.iterdir())) == 2


def test_a_measurement_does_not_go_on_in_a_folder_that_another_user_can_change(tmp_path: Path) -> None:
    made = plan(["stream"])
    for name in ("a", "b"):
        store.create(tmp_path / name, made, {}, {}).close()
    (tmp_path / "b").chmod(0o777)
    said: list[str] = []
    assert store.find_unfinished(tmp_path, made, said.append) == tmp_path / "a"
    assert len(said) == 1 and said[0].startswith(f"not resuming {tmp_path}/b: others may write")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    files.write_atomically(path, "old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StrataError, match="disk is full"):
        files.write_atomically(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_the_lock_is_held_by_one_and_names_its_holder() -> None:
    first, second = HostLock(LOCK), HostLock(LOCK)
    assert first.try_acquire()
    assert not second.try_acquire()
    assert f"pid {os.getpid()}" in second.holder()
    first.release()
    assert second.try_acquire()
    second.release()


def test_a_second_engine_waits_and_says_for_whom() -> None:
    """The first one ends when it has been said, so that nothing is said where the second does not wait."""
    holder = hold(LOCK + "w")
    said: list[str] = []

    def heard(text: str) -> None:
        said.append(text)
        assert holder.stdin is not None
        holder.stdin.close()

    lock = HostLock(LOCK + "w")
    lock.acquire(heard)
    assert len(said) == 1 and f"pid {holder.pid}" in said[0] and "one at a time" in said[0]
    lock.release()
    holder.wait()


HOLD = """
import select, sys
sys.path.insert(0, sys.argv[2])
from strata.measure.lock import HostLock
lock = HostLock(sys.argv[1])
assert lock.try_acquire()
print("held", flush=True)
select.select([sys.stdin], [], [], 60)
"""


def hold(name: str) -> subprocess.Popen[str]:
    """Another process that has the lock until its input ends."""
    words = [sys.executable, "-c", HOLD, name, str(Path(files.__file__).parents[2])]
    holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    return holder


def test_a_holders_name_is_shown_and_moves_no_cursor() -> None:
    words = ["a\x1b[2J\x07", "-c", HOLD, LOCK + "e", str(Path(files.__file__).parents[2])]
    with subprocess.Popen(
        words, executable=sys.executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        assert ": a\\x1b[2J\\x07 -c" in HostLock(LOCK + "e").holder()
        holder.communicate()


def test_a_killed_holder_frees_the_lock() -> None:
    holder = hold(LOCK + "k")
    lock = HostLock(LOCK + "k")
    assert not lock.try_acquire()
    holder.kill()
    holder.wait()
    assert lock.try_acquire()
    lock.release()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_holds_the_lock_for_a_stated_time_at_most() -> None:
    ready, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.setresuid(65534, 65534, 65534)
        held = HostLock(LOCK + "o")
        os.write(said, b"1" if held.try_acquire() else b"0")
        signal.pause()
        os._exit(0)
    try:
        assert os.read(ready, 1) == b"1"
        heard: list[str] = []
        lock = HostLock(LOCK + "o")
        lock.acquire(heard.append, patience_s=0.1)
        assert len(heard) == 2 and "user 65534" in heard[0]
        assert heard[1].startswith("going on beside another measurement")
        assert lock.fileno() >= 0
        lock.release()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(said)


def test_ones_own_measurement_is_waited_for_without_end() -> None:
    holder = hold(LOCK + "m")
    heard: list[str] = []
    lock = HostLock(LOCK + "m")
    ending = threading.Timer(1.5, holder.stdin.close)  # type: ignore[union-attr]
    ending.start()
    lock.acquire(heard.append, patience_s=0.1)
    assert len(heard) == 1 and f"pid {holder.pid}" in heard[0]
    lock.release()
    ending.join()
    holder.wait()


def _engine(prefix: str, results: str, name: str) -> None:
    lock = HostLock(name)
    lock.acquire(lambda text: None)
    runner = LaunchRunner(
        [f"{prefix}/bin/strata"],
        {"strata-bench": Path(prefix, "libexec/strata/strata-bench")},
        Path(results),
        lock.fileno(),
    )
    for _ in range(2):
        runner.run(
            task("sleeps", command=("{strata-bench}", "sleeps", "0.1", "--json", "{result}")), lambda: None
        )
    lock.release()


def test_engines_of_several_processes_never_measure_at_once(runner: LaunchRunner, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    engines = [
        context.Process(target=_engine, args=(str(tmp_path / "prefix"), str(runner.results), LOCK + "e"))
        for _ in range(3)
    ]
    for engine in engines:
        engine.start()
    for engine in engines:
        engine.join()
        assert engine.exitcode == 0
    running = 0
    events = [line.split() for line in (tmp_path / "prefix" / "launches").read_text().splitlines()]
    assert len(events) == 12
    for kind, *_ in sorted(events, key=lambda e: float(e[2])):
        running += 1 if kind == "start" else -1
        assert running in (0, 1), "two launches at once"


def test_the_machine_fixture_is_json(tmp_path: Path) -> None:
    front = install(tmp_path / "p")
    assert json.loads(subprocess.check_output([str(front), "machine", "--json"]))["source"].startswith(
        "synthetic"
    )
