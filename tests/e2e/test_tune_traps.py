"""Traps of `strata tune`, each provoked by a program that really does it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from as_typed import Strata

from strata.measure.progress import Progress
from strata.measure.runner import LaunchRunner
from strata.tune.candidates import Candidate
from strata.tune.foresee import foresee
from strata.tune.program import linked
from strata.tune.traps import BINDS, CROWDED, INITIAL, MPI, SECOND, Trap
from strata.tune.tuner import Request, Tuner

CORES = len(os.sched_getaffinity(0))
SPIN = """
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* Of this thread: it computes as long beside others as alone. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void* spin(void* s) {
    const double end = now() + *(double*)s;
    volatile double x = 1;
    while (now() < end) x = x * 1.0000001;
    return 0;
}
static double part = 0.02, all = 0.5;
__attribute__((constructor)) static void longer(void) {
    if (getenv("SPIN_S")) all = atof(getenv("SPIN_S"));
}
"""
BODIES = {
    # Goes to the last core, or from there to the first, whatever it was given.
    "binds": """
int main(void) {
    cpu_set_t one;
    const int last = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    const int given = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET(given == last ? 0 : last, &one);
    sched_setaffinity(0, sizeof one, &one);
    spin(&all);
    return 0;
}""",
    # Children of a process whose OpenMP runtime has bound its initial thread.
    "forks": """
int main(void) {
#pragma omp parallel
    spin(&part);
    for (int i = 0; i < 2; ++i)
        if (!fork()) {
            spin(&all);
            _exit(0);
        }
    while (wait(0) > 0) {
    }
    return 0;
}""",
    # Threads of its own beside OpenMP's.
    "threads": """
int main(void) {
#pragma omp parallel
    spin(&part);
    pthread_t own[2];
    for (int i = 0; i < 2; ++i) pthread_create(own + i, 0, spin, &all);
    for (int i = 0; i < 2; ++i) pthread_join(own[i], 0);
    return 0;
}""",
    # As many threads as it likes.
    "fixed": """
int main(void) {
    omp_set_num_threads(5);
#pragma omp parallel
    spin(&all);
    return 0;
}""",
    # A region within a region.
    "nested": """
int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel
#pragma omp parallel num_threads(3)
    spin(&all);
    return 0;
}""",
    "plain": """
int main(void) {
#pragma omp parallel
    spin(&all);
    return 0;
}""",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The programs above, built."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder, made = tmp_path_factory.mktemp("traps"), {}
    for name, body in BODIES.items():
        source = folder / f"{name}.c"
        source.write_text(SPIN + body)
        made[name] = folder / name
        subprocess.run(
            [compiler, "-O1", "-fopenmp", "-pthread", str(source), "-o", str(made[name])], check=True
        )
    return made


def seen(strata: Strata, command: list[str], candidate: Candidate, code: str = "") -> dict[str, Trap]:
    """What two real launches show, by code; more and longer ones, until they show `code`, where the machine
    is busy: beside other load it may take seconds until a program is read for the first time.
    """
    runner = LaunchRunner(strata.command, {}, strata.home)
    tuner = Tuner(Request(tuple(command)), runner, lambda sample: None, Progress())
    try:
        for i in range(8):
            os.environ["SPIN_S"] = f"{0.2 * max(1, i)}"
            sample = tuner.launch(candidate, 60.0)
            assert not sample.failed, sample.failed
            if i and (not code or code in tuner.traps.known):
                break
    finally:
        del os.environ["SPIN_S"]
    return {trap.code: trap for trap in tuner.traps.all()}


def foreseen(strata: Strata, command: list[str], environment: dict[str, str] | None = None) -> dict[str, str]:
    """What is known before any launch, by code."""
    return {t.code: t.text for t in foresee(linked(strata.command[0], command), environment or {}, CORES)}


def test_a_program_that_keeps_to_its_layout_is_in_no_trap(strata: Strata, programs: dict[str, Path]) -> None:
    command = [str(programs["plain"])]
    assert foreseen(strata, command) == {}
    assert seen(strata, command, Candidate(1, CORES)) == {}
    assert seen(strata, command, Candidate(1, CORES, bind="none")) == {}


@pytest.mark.skipif(CORES < 2, reason="there is no other core to go to")
def test_a_program_that_binds_itself(strata: Strata, programs: dict[str, Path]) -> None:
    command = [str(programs["binds"])]
    assert "calls sched_setaffinity" in foreseen(strata, command)[BINDS]
    held = seen(strata, command, Candidate(1, 1), BINDS)
    assert "overrules the layout" in held[BINDS].text
    assert held[BINDS].layouts == ("1x1, bind core",)
    assert BINDS in seen(strata, command, Candidate(1, 1, bind="none"), BINDS)


@pytest.mark.skipif(CORES < 2, reason="one core cannot be inherited in place of two")
def test_an_openmp_runtime_that_binds_the_initial_thread(strata: Strata, programs: dict[str, Path]) -> None:
    forks = seen(strata, [str(programs["forks"])], Candidate(1, 2), INITIAL)
    assert "2 processes that it forked inherit that one core" in forks[INITIAL].text
    threads = seen(strata, [str(programs["threads"])], Candidate(1, 2), INITIAL)
    assert "2 threads outside of it inherit that one core" in threads[INITIAL].text
    assert threads[INITIAL].text.startswith(("libgomp", "libomp"))
    assert INITIAL not in seen(strata, [str(programs["forks"])], Candidate(1, 2, bind="numa"))


def test_threads_of_a_second_runtime(strata: Strata, programs: dict[str, Path]) -> None:
    assert "threads that it starts itself" in foreseen(strata, [str(programs["threads"])])[SECOND]
    assert SECOND not in foreseen(strata, [str(programs["plain"])])


def test_two_openmp_runtimes_in_one_process(
    strata: Strata, programs: dict[str, Path], tmp_path: Path
) -> None:
    """A program of gcc that loads a library which clang's runtime serves."""
    other = next(iter(sorted(Path("/usr/lib").glob("*/libomp*.so*"))), None)
    clang = next(iter(sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so*"))), other)
    if clang is None:
        pytest.skip("there is no second OpenMP runtime here")
    source = tmp_path / "two.c"
    loads = '#include <dlfcn.h>\nint main(void) {\n    dlopen("OTHER", RTLD_NOW);\n'.replace(
        "OTHER", str(clang)
    )
    source.write_text(SPIN + loads + "#pragma omp parallel\n    spin(&all);\n    return 0;\n}\n")
    program = tmp_path / "two"
    compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
    subprocess.run(
        [compiler, "-O1", "-fopenmp", "-pthread", str(source), "-o", str(program), "-ldl"], check=True
    )
    if "libgomp" not in subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout:
        pytest.skip("this compiler's own runtime is the other one")
    shown = seen(strata, [str(program)], Candidate(1, CORES), SECOND)
    assert "libgomp" in shown[SECOND].text
    assert "libomp" in shown[SECOND].text


def test_more_threads_than_a_layout_gives(strata: Strata, programs: dict[str, Path]) -> None:
    fixed, nested = [str(programs["fixed"])], [str(programs["nested"])]
    assert "omp_set_num_threads" in foreseen(strata, fixed)[CROWDED]
    assert "nested parallel regions" in foreseen(strata, nested)[CROWDED]
    # All of them where all were read to compute; on a busy machine some have not had their turn yet.
    for program, candidate, threads in (
        (fixed, Candidate(1, 1), 5),
        (nested, Candidate(1, CORES, bind="none"), 3 * CORES),
    ):
        text = seen(strata, program, candidate, CROWDED)[CROWDED].text
        said = re.match(r"(\d+) threads of a process computed, the layout gives it (\d+)", text)
        assert said and candidate.threads == int(said[2]) < int(said[1]) <= threads, text
    assert CROWDED in foreseen(strata, [str(programs["plain"])], {"OMP_NESTED": "true"})


def test_words_of_the_command_and_the_environment(
    strata: Strata, programs: dict[str, Path], tmp_path: Path
) -> None:
    plain = str(programs["plain"])
    if shutil.which("taskset"):
        assert "`taskset` in the command" in foreseen(strata, ["taskset", "-c", "0", plain])[BINDS]
        assert "calls taskset" in foreseen(strata, ["sh", "-c", f"taskset -c 0 {plain}"])[BINDS]
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\nexport OMP_NUM_THREADS=4\n{plain}\n")
    script.chmod(0o755)
    assert "OMP_NUM_THREADS" in foreseen(strata, [str(script)])[BINDS]
    assert "OMP_PROC_BIND=close is set here" in foreseen(strata, [plain], {"OMP_PROC_BIND": "close"})[BINDS]


def open_mpi() -> str | None:
    """Open MPI's mpirun, where it is the one that `mpirun` means."""
    found = shutil.which("mpirun")
    said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout if found else ""
    return found if "Open MPI" in said else None


@pytest.mark.skipif(open_mpi() is None, reason="mpirun is not Open MPI's")
def test_an_mpi_that_binds_by_default_and_one_that_oversubscribes(
    strata: Strata, programs: dict[str, Path]
) -> None:
    plain = str(programs["plain"])
    bound = foreseen(strata, ["mpirun", "-n", "1", plain])
    assert "binds processes by default" in bound[MPI] and "--bind-to none" in bound[MPI]
    assert MPI not in foreseen(strata, ["mpirun", "--bind-to", "none", "-n", "1", plain])
    many = str(CORES + 1)
    crowd = foreseen(strata, ["mpirun", "--oversubscribe", "-n", many, plain])
    assert f"starts {many} processes on" in crowd[CROWDED]
    shown = seen(
        strata,
        ["mpirun", "--oversubscribe", "-n", many, plain],
        Candidate(CORES + 1, 1, bind="none"),
        CROWDED if CORES > 1 else "",
    )
    assert CORES == 1 or "they took turns" in shown[CROWDED].text
    against = strata.run("tune", "--dry-run", "--", "mpirun", "--bind-to", "core", "-n", "1", plain)
    assert against.returncode == 2
    assert "would bind against the layout" in against.stderr


@pytest.mark.skipif(CORES < 2, reason="there is no other core to go to")
def test_a_trap_is_told_before_the_race_in_the_output_in_tune_json_and_in_the_report(
    strata: Strata, programs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPIN_S", "0.3")
    command = str(programs["binds"])
    plan = strata.run("tune", "--dry-run", "--", command)
    assert "note: the program's file calls sched_setaffinity" in plan.stdout
    folder = strata.home / "tuned"
    done = strata.run("tune", "--here", "--budget", "20s", "--out", str(folder), "--", command)
    assert "note: the program's file calls" in done.stderr
    assert "note:      threads bind themselves" in done.stdout
    found = json.loads((folder / "tune.json").read_text())
    (trap,) = (t for t in found["traps"] if t["code"] == BINDS and not t["foreseen"])
    assert any("bind core" in layout for layout in trap["layouts"])
    assert "threads bind themselves" in (folder / "report" / "report.html").read_text()
    assert not any(strata.left_behind().values())
