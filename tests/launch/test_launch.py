"""What a launched program gets, what a launch answers, and what a record says; by the real launcher."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launching import Launcher, allowed_cores, needs_two_cores, wait_until


def shown(output: str, name: str) -> list[str]:
    return [line.split(" ", 1)[1] for line in output.splitlines() if line.startswith(name + " ")]


def test_a_serial_program_runs_bound_to_one_cpu(launcher: Launcher, programs: dict[str, str]) -> None:
    done = launcher.run(program=[programs["show"]])
    assert done.returncode == 0
    assert done.stderr == ""
    (cpus,) = shown(done.stdout, "process")
    assert cpus.isdigit()
    assert shown(done.stdout, "STRATA_CPUS") == [cpus]
    assert shown(done.stdout, "STRATA_LAYOUT") == ["1x1"]


@needs_two_cores
def test_openmp_threads_run_on_a_core_each(launcher: Launcher, programs: dict[str, str]) -> None:
    old = {**os.environ, "OMP_NUM_THREADS": "7", "OMP_PROC_BIND": "spread", "GOMP_CPU_AFFINITY": "0"}
    done = launcher.run("--layout", "1x2", program=[programs["show_openmp"]], env=old)
    threads = shown(done.stdout, "thread")
    assert len(threads) == 2
    assert len(set(threads)) == 2
    assert all(cpu.isdigit() for cpu in threads)
    assert shown(done.stdout, "OMP_PLACES") == [",".join(f"{{{cpu}}}" for cpu in threads)]
    assert shown(done.stdout, "GOMP_CPU_AFFINITY") == ["unset"]


def test_unbound_threads_may_run_anywhere(launcher: Launcher, programs: dict[str, str]) -> None:
    done = launcher.run("--layout", "1x2", "--bind", "none", program=[programs["show_openmp"]])
    everywhere = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
    assert shown(done.stdout, "thread") == [everywhere] * 2


@needs_two_cores
def test_copies_have_a_rank_and_a_cpu_each(launcher: Launcher, programs: dict[str, str]) -> None:
    done = launcher.run("--layout", "2x1", program=[programs["show"]])
    assert done.returncode == 0
    assert sorted(shown(done.stdout, "STRATA_RANK")) == ["0", "1"]
    assert shown(done.stdout, "STRATA_SIZE") == ["2", "2"]
    assert len(set(shown(done.stdout, "process"))) == 2


@needs_two_cores
def test_ranks_of_an_mpi_program_start_with_its_own_mpirun(launcher: Launcher, ranks: str) -> None:
    done = launcher.run("--layout", "2x1", program=[ranks])
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.split("\n")[:2])
    assert [line.split(" on ")[0] for line in lines] == ["rank 0 of 2", "rank 1 of 2"]
    assert len({line.split()[5] for line in lines}) == 2
    assert all(f"STRATA_RANK={rank}" in line for rank, line in enumerate(lines))


def test_unbound_an_mpi_program_may_have_more_ranks_than_cores(launcher: Launcher, ranks: str) -> None:
    count = allowed_cores() + 1
    done = launcher.run("--layout", f"{count}x1", "--bind", "none", program=[ranks])
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == count
    assert f"{count} threads share {count - 1} core" in done.stderr


@needs_two_cores
def test_the_launcher_works_inside_somebody_elses_mpirun(launcher: Launcher, ranks: str) -> None:
    planned = launcher.run("--layout", "2x1", "--dry-run", program=[ranks]).stdout
    mpirun = next(line for line in planned.splitlines() if line.startswith("command:")).split()[1]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [mpirun, "-n", "2", *launcher.command("--layout", "2x1", program=[ranks])]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **root}, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert len({line.split()[5] for line in done.stdout.splitlines()}) == 2
    wrong = [mpirun, "-n", "2", *launcher.command("--layout", "3x1", program=[ranks])]
    refused = subprocess.run(
        wrong, capture_output=True, text=True, check=False, env={**os.environ, **root}, timeout=60
    )
    assert refused.returncode != 0
    assert "the layout and the MPI launcher around it disagree" in refused.stderr


@needs_two_cores
def test_a_node_that_was_given_all_ranks_though_the_plan_had_several_lays_them_out_itself(
    launcher: Launcher, programs: dict[str, str]
) -> None:
    """The plan (--as-rank) of a run over two nodes has one of these two ranks."""
    pus = sorted(os.sched_getaffinity(0))
    for rank in (0, 1):
        told = {"RANK": rank, "SIZE": 2, "LOCAL_RANK": rank, "LOCAL_SIZE": 2}
        mine = {f"OMPI_COMM_WORLD_{name}": str(value) for name, value in told.items()}
        options = ["--layout", "2x1", "--as-rank", str(pus[0])]
        done = launcher.run(*options, program=[programs["show"]], env={**os.environ, **mine})
        assert done.returncode == 0, done.stderr
        assert shown(done.stdout, "process") == [str(pus[rank])]


@pytest.mark.parametrize("word, status", [("exit:0", 0), ("exit:3", 3), ("die:11", 128 + 11)])
@pytest.mark.parametrize("recorded", [False, True])
def test_the_exit_status_is_the_programs(
    launcher: Launcher, programs: dict[str, str], word: str, status: int, recorded: bool
) -> None:
    options = ["--record", str(launcher.record_file)] if recorded else []
    done = launcher.run(*options, program=[programs["busy"], "0", "1", word])
    # Without a supervisor the program has taken the launcher's place, and dies of the signal itself.
    assert done.returncode in ({status} if recorded or status < 128 else {status, 128 - status})
    if recorded:
        record = launcher.record()
        assert (record["exit_code"], record["signal"]) == (
            (status, None) if status < 128 else (None, status - 128)
        )


@needs_two_cores
def test_the_first_copy_that_fails_ends_the_rest(launcher: Launcher) -> None:
    script = f'[ "$STRATA_RANK" = 1 ] && exit 5; exec sleep 600 # {launcher.token}'
    done = launcher.run("--layout", "2x1", program=["sh", "-c", script, launcher.token])
    assert done.returncode == 5
    assert launcher.alive() == []


def test_a_failing_rank_is_the_runs_failure(launcher: Launcher, ranks: str) -> None:
    record = launcher.recorded("--layout", "1x1", program=[ranks, "0", "0"])
    assert record["exit_code"] == 3


@pytest.mark.parametrize(
    "command, status", [("no-such-command", 127), ("./no/such/file", 127), ("/etc/passwd", 126)]
)
def test_a_command_that_cannot_be_run_is_answered_as_a_shell_does(
    launcher: Launcher, command: str, status: int
) -> None:
    done = launcher.run(program=[command])
    assert done.returncode == status
    assert done.stderr.startswith("strata: error: ")
    assert command in done.stderr
    assert "try: " in done.stderr


def test_a_missing_interpreter_is_named_before_and_after_a_supervisor(
    launcher: Launcher, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    for options in ([], ["--record", str(launcher.record_file)]):
        done = launcher.run(*options, program=[str(script)])
        assert done.returncode == 127
        assert str(script) in done.stderr
    assert launcher.leftovers() == set()


def test_a_layout_larger_than_the_machine_is_refused_with_what_fits(launcher: Launcher) -> None:
    cores = allowed_cores()
    done = launcher.run("--layout", f"1x{cores + 1}", program=["true"])
    assert done.returncode == 2
    assert f"--layout 1x{cores + 1}" in done.stderr
    assert f"allowed: {cores} core" in done.stderr
    assert f"--layout 1x{cores}," in done.stderr


@pytest.mark.parametrize(
    "options", [["--layout", "two"], ["--bind", "socket"], ["--stride", "0"], ["--timeout", "-1"]]
)
def test_bad_options_are_one_clear_message(launcher: Launcher, options: list[str]) -> None:
    done = launcher.run(*options, program=["true"])
    assert done.returncode == 2
    assert options[0] in done.stderr
    assert "allowed: " in done.stderr


def test_only_allowed_cpus_count(launcher: Launcher, programs: dict[str, str]) -> None:
    last = max(os.sched_getaffinity(0))
    done = launcher.run(program=[programs["show"]], preexec_fn=lambda: os.sched_setaffinity(0, {last}))
    assert shown(done.stdout, "process") == [str(last)]
    refused = launcher.run(
        "--layout", "2x1", program=["true"], preexec_fn=lambda: os.sched_setaffinity(0, {last})
    )
    assert "allowed: 1 core" in refused.stderr


def test_dry_run_says_everything_and_does_nothing(launcher: Launcher, tmp_path: Path) -> None:
    done = launcher.run("--dry-run", program=["touch", str(tmp_path / "made")])
    assert done.returncode == 0
    assert "OMP_NUM_THREADS=1" in done.stdout
    assert re.search(r"^ +process +thread +PU +core +domain +package +memory$", done.stdout, re.MULTILINE)
    assert not (tmp_path / "made").exists()


@needs_two_cores
def test_input_goes_to_the_first_copy(launcher: Launcher) -> None:
    done = launcher.run("--layout", "2x1", program=["sh", "-c", 'echo "$STRATA_RANK:$(cat)"'], input="hello")
    assert sorted(done.stdout.split()) == ["0:hello", "1:"]


def computing(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [thread for thread in record["threads"] if thread["cpu_s"] > 0.02]


def read_back(
    launcher: Launcher,
    *options: str,
    program: Callable[[str], list[str]],
    enough: Callable[[dict[str, Any]], bool],
) -> dict[str, Any]:
    """The record of a program that takes so many seconds. Where a busy machine has looked at it too early or
    too late to see what it does, a longer one is asked.
    """
    for seconds in ("0.8", "3", "12"):
        record = launcher.recorded(*options, program=program(seconds))
        if enough(record):
            break
    return record


@needs_two_cores
def test_a_record_agrees_with_a_program_that_keeps_the_layout(
    launcher: Launcher, programs: dict[str, str]
) -> None:
    record = read_back(
        launcher,
        *("--layout", "1x2"),
        program=lambda seconds: [programs["busy"], seconds, "2"],
        enough=lambda record: len(computing(record)) == 2,
    )
    assert record["schema"] == "strata.record/1"
    assert record["agrees"] is True
    assert record["disagreement"] is None
    (promised,) = record["promised"]
    assert len(set(promised["threads"])) == 2
    assert len(computing(record)) == 2
    assert {t["allowed"] for t in computing(record)} <= {
        "{}-{}".format(*promised["threads"]),
        ",".join(promised["threads"]),
    }
    assert record["wall_s"] >= 0.8
    assert record["cpu"]["own_s"] >= max(t["cpu_s"] for t in computing(record))
    assert 0.1 < record["clock"]["before_ghz"] < 10 and 0.1 < record["clock"]["after_ghz"] < 10
    assert record["max_rss_bytes"] > 100_000
    if Path("/proc/self/numa_maps").exists():
        assert record["pages"]["method"] != "none"
        assert sum(record["pages"]["by_memory"].values()) > 100_000


@needs_two_cores
def test_threads_that_start_late_are_in_the_record(launcher: Launcher, programs: dict[str, str]) -> None:
    record = read_back(
        launcher,
        *("--layout", "1x2"),
        program=lambda seconds: [programs["busy"], seconds, "2", "late"],
        enough=lambda record: len(computing(record)) == 2,
    )
    assert len(computing(record)) == 2


@needs_two_cores
def test_two_threads_held_by_hand_on_one_core_are_seen(launcher: Launcher, programs: dict[str, str]) -> None:
    for bind in ("core", "none"):
        record = read_back(
            launcher,
            *("--layout", "1x2", "--bind", bind),
            program=lambda seconds: [programs["busy"], seconds, "2", "same"],
            enough=lambda record: record["agrees"] is False,
        )
        assert record["agrees"] is False
        assert record["disagreement"].startswith("two threads on PU ")
        assert all(f"tid {t['tid']}" in record["disagreement"] for t in computing(record))


@needs_two_cores
def test_ranks_are_read_back_and_their_mpi_named(launcher: Launcher, ranks: str) -> None:
    record = read_back(
        launcher,
        *("--layout", "2x1"),
        program=lambda seconds: [ranks, seconds],
        enough=lambda record: len({t["rank"] for t in record["threads"] if t["cpu_s"] > 0.05}) == 2,
    )
    assert record["agrees"] is True, record["disagreement"]
    where = {t["rank"]: t["allowed"] for t in record["threads"] if t["cpu_s"] > 0.05}
    assert where == {p["rank"]: p["threads"][0] for p in record["promised"]}
    assert any("libmpi" in library for library in record["libraries"])


def test_openmp_is_named_among_the_libraries(launcher: Launcher, programs: dict[str, str]) -> None:
    script = f"{programs['show_openmp']} > /dev/null; exec sleep "
    record = read_back(
        launcher,
        program=lambda seconds: ["sh", "-c", script + seconds],
        enough=lambda record: bool(record["threads"]),
    )
    assert record["exit_code"] == 0
    assert record["threads"], "the shell and what it became were not read"


def test_a_busy_neighbour_shows_in_the_record(launcher: Launcher, programs: dict[str, str]) -> None:
    dry = launcher.run("--dry-run", program=["true"]).stdout
    cpu = int(next(line for line in dry.splitlines() if "STRATA_CPUS" in line).split("=")[1])
    with subprocess.Popen(
        [programs["busy"], "30", "1", launcher.token], preexec_fn=lambda: os.sched_setaffinity(0, {cpu})
    ) as other:
        record = launcher.recorded(program=[programs["busy"], "1", "1"])
        other.kill()
    assert record["cpu"]["others_share"] > 0.2
    assert record["switches"]["involuntary"] > 0


def test_a_run_too_short_to_tell_says_null(launcher: Launcher) -> None:
    record = launcher.recorded(program=["true"])
    assert record["cpu"]["others_share"] is None
    assert record["agrees"] is None
    assert record["threads"] == []


def test_own_share_is_named_and_gone_afterwards(launcher: Launcher, programs: dict[str, str]) -> None:
    record = launcher.recorded("--own-share", program=[programs["busy"], "0.3", "1"])
    methods = {"cgroup2-weight", "cgroup1-shares", "autogroup-nice", "session-autogroup", "none"}
    assert record["share"]["method"] in methods
    assert launcher.leftovers() == set()


def cpu_group(pid: int) -> str:
    """The cgroup that governs a process's share of the CPUs: of version 1 where that has it, else of 2."""
    lines = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    return next((path for _, names, path in lines if "cpu" in names.split(",")), lines[-1][2])


def test_the_supervisor_has_the_runs_share_so_that_it_is_not_late_beside_other_load(
    launcher: Launcher, programs: dict[str, str]
) -> None:
    options = ["--own-share", "--record", str(launcher.record_file)]
    supervisor = launcher.start(*options, program=[programs["busy"], "60", "1", launcher.token])
    assert wait_until(lambda: len(launcher.running("busy")) == 1)
    (program,) = launcher.running("busy")
    groups = cpu_group(supervisor.pid), cpu_group(program)
    supervisor.terminate()
    supervisor.wait()
    assert groups[0] == groups[1]
    assert (groups[0] != cpu_group(os.getpid())) == launcher.record()["share"]["method"].startswith("cgroup")
    assert launcher.leftovers() == set()


def test_a_record_that_cannot_be_written_is_said_before_the_run(launcher: Launcher, tmp_path: Path) -> None:
    made = tmp_path / "made"
    done = launcher.run("--record", str(tmp_path / "no" / "r.json"), program=["touch", str(made)])
    assert done.returncode == 2
    assert str(tmp_path / "no" / "r.json") in done.stderr
    assert not made.exists()


def test_the_timeout_ends_the_run_and_is_recorded(launcher: Launcher, programs: dict[str, str]) -> None:
    record = launcher.recorded(
        "--timeout", "0.3", program=[programs["busy"], "60", "1", "deaf", launcher.token]
    )
    assert record["timed_out"] is True
    assert record["signal"] == signal.SIGKILL
    assert launcher.alive() == []


def test_ctrl_c_reaches_the_program_through_its_supervisor(
    launcher: Launcher, programs: dict[str, str]
) -> None:
    command = launcher.command(
        "--record", str(launcher.record_file), program=[programs["busy"], "60", "1", launcher.token]
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    assert wait_until(lambda: len(launcher.running("busy")) == 1)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    # A shell stops its loop only for a command that died of the key itself.
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGINT
    assert launcher.record()["signal"] == signal.SIGINT
    assert launcher.alive() == []


def test_every_thread_counts_once(launcher: Launcher, programs: dict[str, str]) -> None:
    record = launcher.recorded(program=[programs["busy"], "0.4", "3"])
    assert max(Counter(t["tid"] for t in record["threads"]).values()) == 1
