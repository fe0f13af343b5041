"""Races whose best runner is known: how often it is found, and how often a winner is invented."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from strata.measure import stats
from strata.tune.race import FINAL_SHARE, LEAST, WAVES, Race, Verdict

Noise = Callable[[random.Random], float]


def lognormal(chance: random.Random) -> float:
    return chance.lognormvariate(0, 0.03)


def two_states(chance: random.Random) -> float:
    """A machine that is slow in one launch of five, as shared ones are."""
    return chance.lognormvariate(0, 0.02) * (1.4 if chance.random() < 0.2 else 1.0)


def run(truth: dict[str, float], noise: Noise, seed: int, budget_s: float = 1e6) -> tuple[Race, Verdict]:
    chance = random.Random(seed)
    race = Race(list(truth), next(iter(truth)), budget_s, seed)
    while launches := race.next_round():
        for launch in launches:
            cost = truth[launch.runner] * noise(chance)
            race.record(launch, cost, cost)
    return race, race.verdict()


@pytest.mark.parametrize("noise", [lognormal, two_states])
def test_among_identical_layouts_a_winner_is_invented_in_at_most_one_race_of_twenty(noise: Noise) -> None:
    races = 600
    false = sum(
        run({f"r{i}": 1.0 for i in range(9)}, noise, seed)[1].winner is not None for seed in range(races)
    )
    # Three standard deviations of a binomial of 5 %.
    assert false / races <= 0.05 + 3 * (0.05 * 0.95 / races) ** 0.5


@pytest.mark.parametrize("noise", [lognormal, two_states])
def test_the_fastest_is_within_three_percent_of_the_best_in_nine_of_ten(noise: Noise) -> None:
    chance, close, races = random.Random(7), 0, 200
    for seed in range(races):
        truth = {f"r{i}": chance.uniform(1.0, 1.6) for i in range(16)}
        _, verdict = run(truth, noise, seed)
        assert verdict.fastest is not None
        close += truth[verdict.fastest] <= 1.03 * min(truth.values())
    assert close / races >= 0.9


def test_a_clear_best_wins_and_its_margin_holds_the_truth() -> None:
    held = 0
    for seed in range(100):
        verdict = run({"default": 1.0, "a": 0.7, "b": 0.9, "c": 1.1}, lognormal, seed)[1]
        assert verdict.winner == "a"
        assert (
            verdict.margin is not None and verdict.margin.low is not None and verdict.margin.high is not None
        )
        held += verdict.margin.low <= 0.7 <= verdict.margin.high
    assert held >= 95


def test_a_tie_is_called_one_and_names_who_is_in_it() -> None:
    ties = 0
    for seed in range(100):
        verdict = run({"default": 1.5, "a": 1.0, "b": 1.0, "c": 2.5}, lognormal, seed)[1]
        ties += verdict.winner is None and set(verdict.tied) == {"a", "b"} and "tie" in verdict.why
    assert ties >= 90


def test_a_budget_too_small_for_six_launches_names_no_winner() -> None:
    race, verdict = run({"default": 1.0, "a": 0.2, "b": 3.0}, lognormal, 1, budget_s=8.0)
    assert verdict.winner is None
    assert "too small" in verdict.why
    assert sum(sum(s.seconds) for s in race.standings.values()) <= 10.0


def test_the_budget_is_kept() -> None:
    for seed in range(20):
        truth = {f"r{i}": 1.0 + 0.1 * i for i in range(12)}
        race, _ = run(truth, lognormal, seed, budget_s=80.0)
        spent = sum(sum(s.seconds) for s in race.standings.values())
        assert spent <= 85.0


def test_a_layout_that_fails_is_out_and_the_rest_race_on() -> None:
    race, seconds = Race(["default", "a", "b", "c"], "default", 1e6), 0.0
    while launches := race.next_round():
        for launch in launches:
            if launch.runner == "b":
                race.fail(launch, "exit code 1", took := 0.25)
            elif launch.runner == "c":
                race.end(launch, "it took too long", took := 4.0)
            else:
                took = 1.0
                race.record(launch, 1.0 if launch.runner == "default" else 0.5 + 0.001 * launch.round, took)
            seconds += took
    assert race.standings["b"].failed == "exit code 1"
    assert race.standings["c"].out == "it took too long"
    assert race.verdict().winner == "a"
    assert race.remaining_s() == 1e6 - seconds  # what failed has cost time as well


def test_finalists_have_equal_launches_in_random_order() -> None:
    race, _ = run({f"r{i}": 1.0 + 0.02 * i for i in range(10)}, lognormal, 5)
    finals = {len(s.final) for s in race.finalists()}
    assert len(finals) == 1 and finals.pop() >= LEAST
    assert all(len(s.final) == 0 for s in race.standings.values() if s.out and s.runner != "r0")


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="default"):
        Race(["a"], "b", 1.0)
    race = Race(["a"], "a", 1.0)
    with pytest.raises(ValueError, match="positive"):
        race.record(race.next_round()[0], 0.0, 1.0)
    assert stats.LEAST == LEAST


def steady(race: Race, truth: dict[str, float]) -> Race:
    while launches := race.next_round():
        for launch in launches:
            race.record(launch, truth[launch.runner] + 1e-3 * launch.round, 1.0)
    return race


def test_a_budget_for_two_finalists_has_two() -> None:
    truth = {"default": 1.0, "a": 0.6, "b": 0.8}
    assert steady(Race(list(truth), "default", 12.0), truth).verdict().fastest is None
    small = steady(Race(list(truth), "default", 20.0), truth)
    assert small.verdict().winner == "a"
    assert small.standings["b"].out == "the budget was too small to try it further"


def test_between_two_that_are_alike_a_winner_is_invented_in_at_most_one_race_of_twenty() -> None:
    """The case that comes nearest to the promise: of more finalists each must be beaten."""
    races = 1000
    false = sum(
        run({"default": 1.0, "a": 1.0}, lognormal, seed)[1].winner is not None for seed in range(races)
    )
    assert 0.01 <= false / races <= 0.05 + 3 * (0.05 * 0.95 / races) ** 0.5


class Nearer:
    """Newcomers are half as far from the best as what there is, two at a time."""

    def __init__(self, truth: dict[str, float]) -> None:
        self.truth, self.asked = truth, [0]

    def __call__(self, ranked: Sequence[tuple[str, float]], most: int) -> list[str]:
        self.asked.append(most)
        assert ranked[0][1] == 1.0 and [f for _, f in ranked] == sorted(f for _, f in ranked)
        wave = len(self.asked)
        joining = {f"{wave}{i}": 0.5 + 0.5 ** (wave + 1) + i for i in range(2)}
        self.truth.update(joining)
        return list(joining)


def test_newcomers_join_until_the_final_needs_what_is_left() -> None:
    widen = Nearer({"default": 1.0, "a": 0.9})
    race = steady(Race(["default", "a"], "default", 120.0, widen=widen), widen.truth)
    waves = {s.wave for s in race.standings.values()}
    assert waves == set(range(len(widen.asked))) and 4 < len(waves) <= WAVES
    assert race.verdict().fastest == f"{len(widen.asked)}0"
    assert sum(sum(s.seconds) for s in race.standings.values()) <= 122.0
    assert sum(len(s.final) for s in race.finalists()) >= 0.9 * FINAL_SHARE * 120.0
    rich = Nearer({"default": 1.0, "a": 0.9})
    assert (
        len(steady(Race(["default", "a"], "default", 1e4, widen=rich), rich.truth).standings) == 2 + 2 * WAVES
    )
    poor = Nearer({"default": 1.0, "a": 0.9})
    assert steady(Race(["default", "a"], "default", 18.0, widen=poor), poor.truth).verdict().winner == "a"
    assert poor.asked == [0]


def test_the_plainer_form_of_the_fastest_runs_in_the_final_in_place_of_the_slowest() -> None:
    truth = {"default": 1.5, "plain": 1.04, **{f"plain, {i}": 1.0 + 0.01 * i for i in range(4)}}
    without = steady(Race(list(truth), "default", 1e4), truth)
    assert not without.standings["plain"].final
    with_it = steady(Race(list(truth), "default", 1e4, plainer=lambda name: "plain"), truth)
    assert with_it.standings["plain"].final and not with_it.standings["plain, 3"].final
    truth["plain"] = 1.2
    far = steady(Race(list(truth), "default", 1e4, plainer=lambda name: "plain"), truth)
    assert not far.standings["plain"].final and far.standings["plain, 3"].final


def test_where_the_budget_does_not_carry_all_those_that_come_last_stay_out() -> None:
    truth = {f"r{i}": 1.0 + 0.1 * i for i in range(20)}
    race = steady(Race(list(truth), "r0", 38.0, known_s=1.0), truth)
    tried = [name for name, s in race.standings.items() if s.seconds]
    assert tried == [f"r{i}" for i in range(10)]
    assert race.standings["r19"].out == "the budget was too small to try it"
    assert race.verdict().fastest == "r0"
