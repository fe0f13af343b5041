"""Whole tunings of programs with a planted best layout that no race begins with, of programs that tie, and of
crossings: layouts that are fast only with something else that the launcher can change.

Everything is simulated (`simulated_programs`), on machines that nobody here owns.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import synthetic_machines as machines
from simulated_programs import Laid, Noise, Simulated, every_place, laid, tuned, usual

from strata.tune import table, tuner
from strata.tune.candidates import candidates
from strata.tune.race import FALSE_WINNERS, Race
from strata.tune.search import Search
from strata.tune.usable_cores import UsableCores


def efficient_first() -> dict[str, Any]:
    """A hybrid processor whose efficient cores come first: only --core-kind gets at the fast ones alone."""
    m = machines.hybrid_laptop()
    kinds = [core["kind"] for core in m["cores"]]
    pus = [core["pus"] for core in m["cores"]]
    for core, kind, own in zip(m["cores"], reversed(kinds), reversed(pus), strict=True):
        core.update(kind=kind, pus=own)
    m["core_kinds"][0]["cores"], m["core_kinds"][1]["cores"] = list(range(8)), list(range(8, 14))
    return m


@dataclass(frozen=True)
class Planted:
    """A program by a formula."""

    formula: Callable[[Laid], float]

    def seconds(self, where: Laid) -> float:
        unbound = 1.1 if where.bind != "core" else 1.0
        return 10 * self.formula(where) * unbound


def saturating(most: int) -> Callable[[Laid], float]:
    """Faster up to so many cores, then slower with each."""
    return lambda w: 1 / min(sum(w.cores), most) * (1 + 0.05 * max(0.0, sum(w.cores) - most))


def by_domain(fed: int) -> Callable[[Laid], float]:
    """Each domain's memory feeds so many cores, and more are in each other's way; threads have even
    shares and wait for the last one.
    """

    def seconds(w: Laid) -> float:
        slowest = max(max(1.0, n / fed * (1 + 0.05 * (n - fed))) for n in w.cores if n)
        return slowest / sum(w.cores)

    return seconds


def even_split(w: Laid) -> float:
    """Compute-bound, in even shares: an efficient core takes 2.5 times as long as a fast one."""
    slow = any(kind == "efficiency" and n for kind, n in w.kinds)
    return (2.5 if slow else 1.0) / sum(w.cores)


def siblings(w: Laid) -> float:
    """Waits for latency, which a second thread of each core hides."""
    return (1.0 if w.sharing < 1.9 else 0.75) / sum(w.cores)


def huge_pages_for_few(w: Laid) -> float:
    """A crossing: all eight cores are fastest, but with huge pages the half of them is."""
    few = sum(w.cores) <= 4.5
    return (1.1 if few else 1.0) * (0.6 if few and w.huge == "on" else 1.0) * _kept(sum(w.cores), (4, 8))


def siblings_for_few(w: Laid) -> float:
    """A crossing: half of the cores with two threads each are faster than all cores."""
    few = sum(w.cores) <= 16.5
    return (1.15 if few else 1.0) * (0.7 if few and w.sharing > 1.9 else 1.0) * _kept(sum(w.cores), (16, 32))


def huge_pages_on_fast_cores(w: Laid) -> float:
    """A crossing: the fast cores alone are slower than all, but with huge pages they win."""
    fast = w.kinds == (("performance", 6.0),)
    return (1.2 if fast else 1.0) * (0.6 if fast and w.huge == "on" else 1.0) * _kept(sum(w.cores), (6, 14))


def _kept(cores: float, wanted: tuple[int, ...]) -> float:
    """Slower by how far the number is from those that the program is made for."""
    return 1 + 0.08 * min(abs(cores - n) for n in wanted)


PLANTED = {
    "six of eight cores": (machines.eight_cores, "openmp", saturating(6)),
    "five of eight processes": (machines.eight_cores, "mpi", saturating(5)),
    "eleven of fourteen": (machines.hybrid_laptop, "openmp", saturating(11)),
    "23 of 32": (machines.four_domains, "mpi", saturating(23)),
    "three of each domain's four": (machines.eight_cores, "openmp", by_domain(3)),
    "five of each domain's eight, hybrid": (machines.four_domains, "hybrid", by_domain(5)),
    "stride 3": (
        machines.eight_cores,
        "openmp",
        lambda w: 1 + 0.1 * abs(w.first - 3) + 0.2 * (w.places != 3),
    ),
    "fast cores alone": (efficient_first, "openmp", even_split),
    "fast cores alone, as processes": (efficient_first, "mpi", even_split),
    "siblings": (machines.four_domains, "openmp", siblings),
    "half the cores with huge pages": (machines.eight_cores, "openmp", huge_pages_for_few),
    "half the cores with siblings": (machines.four_domains, "openmp", siblings_for_few),
    "fast cores with huge pages": (efficient_first, "openmp", huge_pages_on_fast_cores),
}


@pytest.fixture(autouse=True)
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = {"mpi": "", "openmp": "", "command": ["./a.out"], "path": ""}
    monkeypatch.setattr(tuner, "linked", lambda front, words: program)


def best_of_all(machine: dict[str, Any], kind: str, program: Planted) -> float:
    """The least time of all layouts, by trying each with and without huge pages."""
    usable = UsableCores.of(machine)
    found = {laid(usable, c) for c in every_place(machine, kind)}
    found |= {Laid(**{**w.__dict__, "huge": "on"}) for w in found}
    return min(map(program.seconds, found))


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_layout_that_no_race_begins_with_is_found(name: str) -> None:
    make, kind, formula = PLANTED[name]
    machine, program, races, found, missed = make(), Planted(formula), 20, 0, []
    usable = UsableCores.of(machine)
    best = best_of_all(machine, kind, program)
    grid = min(program.seconds(laid(usable, c)) for c in candidates(machine, kind))
    assert best < 0.99 * grid, "the race begins with it"
    budget = 300 * program.seconds(laid(usable, tuner.default_of(usable, kind)))
    for seed in range(races):
        outcome, request = tuned(machine, kind, Simulated(program, random.Random(seed)), seed, budget)
        assert outcome.fastest is not None
        line = table.best_line(outcome, request, outcome.fastest).partition("   #")[0]
        chosen = next(c for c in outcome.races[0][0].values() if c.line(request.command) == line)
        taken = program.seconds(laid(usable, chosen))
        found += taken <= 1.005 * best
        if taken > 1.005 * best:
            missed.append((seed, chosen.id, taken / best))
    assert found >= 0.9 * races, missed


# -- false winners -----------------------------------------------------------------------------------------


def two_states(chance: random.Random) -> float:
    """A machine that is slow in one launch of five, as shared ones are."""
    return chance.lognormvariate(0, 0.02) * (1.4 if chance.random() < 0.2 else 1.0)


def raced(
    machine: dict[str, Any], kind: str, formula: Callable[[Laid], float], noise: Noise, seed: int
) -> Race:
    """A race with newcomers, as a tuning has it."""
    usable, chance = UsableCores.of(machine), random.Random(seed)
    first = candidates(machine, kind)
    search = Search(usable, kind, {c.id: c for c in first})
    race = Race([c.id for c in first], first[0].id, 250.0, seed, None, search.widen, search.plainer)
    while launches := race.next_round():
        for launch in launches:
            cost = formula(laid(usable, search.known[launch.runner])) * noise(chance)
            race.record(launch, cost, cost)
    return race


def alike(w: Laid) -> float:
    return 1.0


def two_alike(w: Laid) -> float:
    """Six and seven cores take the same time, however they lie; all others are slower."""
    return 1 + 0.1 * min(abs(sum(w.cores) - 6), abs(sum(w.cores) - 7))


TIES = {
    "eight cores, all alike": (machines.eight_cores, "openmp", alike),
    "hybrid processor, all alike": (efficient_first, "mpi", alike),
    "eight cores, two alike": (machines.eight_cores, "openmp", two_alike),
}


@pytest.mark.parametrize("noise", [usual, two_states])
@pytest.mark.parametrize("name", TIES)
def test_among_layouts_that_tie_a_winner_is_invented_in_at_most_one_race_of_twenty(
    name: str, noise: Noise
) -> None:
    """Also after many waves of newcomers, of which chance has made some look fast."""
    make, kind, formula = TIES[name]
    machine, races = make(), 150
    false, joined = 0, 0
    for seed in range(races):
        race = raced(machine, kind, formula, noise, seed)
        false += race.verdict().winner is not None
        joined += sum(standing.wave > 0 for standing in race.standings.values())
        assert race.verdict().fastest is not None
    assert joined > 10 * races
    # Three standard deviations of a binomial of 5 %.
    assert false / races <= FALSE_WINNERS + 3 * (FALSE_WINNERS * (1 - FALSE_WINNERS) / races) ** 0.5
