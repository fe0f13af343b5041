"""`strata tune` against an exhaustive search, both with real launches, and races of layouts that are alike.

The programs are synthetic: they wait for a time that follows from what they find of themselves: how many
OpenMP threads really run, on which CPUs each may run, and whether huge pages are asked for or forbidden.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from as_typed import Strata

from strata.characterize.session import read_machine
from strata.measure import stats
from strata.measure.plan import Task
from strata.measure.progress import Progress
from strata.measure.runner import Launched, LaunchRunner
from strata.paths import Native
from strata.tune import table
from strata.tune.candidates import Candidate, candidates
from strata.tune.near import dimensions
from strata.tune.tuner import Request, Tuner, tune
from strata.tune.usable_cores import UsableCores

CORES = len(os.sched_getaffinity(0))
WAITS = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
/* waits MS ONE HELD ON OFF: MS milliseconds, times ONE for a single thread, HELD where each thread may run on
   one CPU only, ON where malloc asks for huge pages, OFF where they are forbidden. */
int main(int count, char** words) {
    if (count != 6) return 2;
    int threads = 0, held = 1;
#pragma omp parallel reduction(+ : threads) reduction(&& : held)
    {
        cpu_set_t set;
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof set, &set);
        threads += 1;
        held = held && CPU_COUNT(&set) == 1;
    }
    const char* tuned = getenv("GLIBC_TUNABLES");
    double ms = atof(words[1]);
    if (threads == 1) ms *= atof(words[2]);
    if (held) ms *= atof(words[3]);
    if (tuned && strstr(tuned, "glibc.malloc.hugetlb=1")) ms *= atof(words[4]);
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) ms *= atof(words[5]);
    struct timespec left = {(time_t)(ms / 1e3), (long)(1e6 * ms) % 1000000000L};
    while (nanosleep(&left, &left)) {
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def waits(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program above, built."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("waits")
    (folder / "waits.c").write_text(WAITS)
    command = [compiler, "-O1", "-fopenmp", "-o", str(folder / "waits"), str(folder / "waits.c")]
    subprocess.run(command, check=True)
    return str(folder / "waits")


def searched(strata: Strata, command: tuple[str, ...], launches: int) -> dict[str, float]:
    """The median of so many interleaved launches of every layout that a tuning could come to, by its line."""
    front = strata.command[0]
    machine = read_machine(Native(Path(front), {}))
    known = {}
    for first in candidates(machine, "openmp"):
        for each in (first, *dimensions(UsableCores.of(machine), "openmp", first)):
            known[each.id] = each
    runner = LaunchRunner([front], {}, strata.home)
    maker = Tuner(Request(command), runner, lambda sample: None, Progress())
    found: dict[str, list[float]] = {name: [] for name in known}
    order = random.Random(1)
    for _ in range(launches):
        names = list(known)
        order.shuffle(names)
        for name in names:
            launched = runner.run(maker.task(known[name], 30.0), lambda: None)
            assert launched.record is not None and not launched.failed, launched.failed
            found[name].append(float(launched.record["wall_s"]))
    return {known[name].line(command): stats.median(values) for name, values in found.items()}


def chosen(strata: Strata, command: tuple[str, ...], budget_s: float, seed: int) -> str:
    """The line that a real tuning gives."""
    front = strata.command[0]
    machine = read_machine(Native(Path(front), {}))
    request = Request(command, budget_s=budget_s)
    runner = LaunchRunner([front], {}, strata.home)
    outcome = tune(
        request, machine, Tuner(request, runner, lambda s: None, Progress()), front, seed, lambda t: None
    )
    assert outcome.fastest is not None, outcome.verdict
    return table.best_line(outcome, request, outcome.fastest).partition("   #")[0]


def far_from_best(strata: Strata, waits: str, seed: int, launches: int, budget_s: float) -> float:
    """How many times as slow as the best the layout is that tuning names, by the search's medians."""
    chance = random.Random(seed)
    factors = [chance.choice((0.6, 0.8, 1.0, 1.3, 1.7)) for _ in range(4)]
    command = (waits, "40", *(f"{factor:g}" for factor in factors))
    medians = searched(strata, command, launches)
    line = chosen(strata, command, budget_s, seed)
    best = min(medians, key=lambda each: medians[each])
    return 1.0 if line == best else beside(strata, line, best, launches)


def beside(strata: Strata, line: str, best: str, launches: int) -> float:
    """The ratio of two lines' medians by launches of their own.

    The best of many medians is one that chance has made small, so the search's own would be unfair.
    """
    found: dict[str, list[float]] = {line: [], best: []}
    for i in range(launches):
        for each in (line, best) if i % 2 else (best, line):
            words = [*strata.command, *shlex.split(each)[1:]]
            began = time.monotonic()
            subprocess.run(words, check=True, capture_output=True)
            found[each].append(time.monotonic() - began)
    return stats.median(found[line]) / stats.median(found[best])


@pytest.mark.soak  # tests/python/tune/test_tune_known.py has whole tunings with launches that are made up
def test_tuning_finds_what_an_exhaustive_search_finds(strata: Strata, waits: str) -> None:
    """One case: huge pages, which only the second race tries, make the difference."""
    command = (waits, "60", "1.5", "0.8", "0.6", "1.4")
    medians = searched(strata, command, 1)
    line = chosen(strata, command, 9.0, 1)
    assert "--huge-pages on" in min(medians, key=lambda each: medians[each])
    assert "--huge-pages on" in line, medians


@pytest.mark.soak
def test_tuning_is_within_three_percent_of_the_best_in_nine_of_ten(strata: Strata, waits: str) -> None:
    found = [far_from_best(strata, waits, seed, 12, 20.0) for seed in range(10)]
    print("times the best:", " ".join(f"{ratio:.3f}" for ratio in found))
    assert sum(ratio <= 1.03 for ratio in found) >= 9, found


class Alike:
    """Launches every layout as the same one: whatever a race finds between them is chance."""

    def __init__(self, runner: LaunchRunner) -> None:
        self.runner = runner

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        same = replace(task, layout="1x1", stride=1, bind="core", options=("--own-share",))
        return self.runner.run(same, tick)


@pytest.mark.soak
def test_among_layouts_that_are_alike_a_winner_is_invented_in_at_most_one_race_of_twenty(
    strata: Strata, waits: str
) -> None:
    races, decided, false = 80, 0, 0
    runner = Alike(LaunchRunner(strata.command, {}, strata.home))
    request = Request((waits, "4", "1", "1", "1", "1"))
    runners = [Candidate(1, 1, bind=bind) for bind in ("none", "core", "numa", "cache")]
    for seed in range(races):
        tuner = Tuner(request, runner, lambda sample: None, Progress())
        race = tuner.race(runners, runners[0], 2.0, seed)
        verdict = race.verdict()
        decided += verdict.fastest is not None  # a busy machine may leave too little for a final
        false += verdict.winner is not None
    print(f"{false} winners in {decided} races of alike layouts")
    assert decided >= races // 2
    # Three standard deviations of a binomial of 5 %.
    assert false <= decided * (0.05 + 3 * (0.05 * 0.95 / decided) ** 0.5)
