"""A race of layouts: few launches for all, many for the best, and a winner only where the launches carry one.

Two stages. Screening launches every runner in interleaved rounds and keeps the better half after each
(successive halving; K. Jamieson, A. Talwalkar, AISTATS 2016). Then newcomers may join (`Widen`), are screened
beside what is left, and so on: a wave each, while the budget keeps its part for the final. The final launches
what is left, and the default with it, in a number of interleaved rounds that is fixed before its first
launch. Only the final's launches decide, so nothing that made a runner a finalist speaks for it a second
time, however many were tried, and there is no stopping when it looks good.

With F finalists a runner wins when it is faster than each other one at level 0.05 / F by the exact rank test.
Were all of them alike, some runner would beat a given other one with a probability of at most F x 0.05 / F:
a false winner appears in at most 5 % of races. Anything less is a tie, and is called one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from strata.measure import stats
from strata.measure.ranks import Ratio, p_lower, ratio

FALSE_WINNERS = 0.05
FINALISTS = 4  # and the default
LEAST, MOST = stats.LEAST, 24  # launches of each finalist
HOPELESS = 2.0  # times the best so far: out after one launch
WAVES = 8  # of newcomers, at most
FINAL_SHARE = 0.35  # of the budget that newcomers leave to the final

# Who joins: asked with all that were screened and how many times as slow as the fastest they are, and with
# the number of newcomers that the budget carries.
Widen = Callable[[Sequence[tuple[str, float]], int], Sequence[str]]

# Who runs in the final beside the fastest of screening: the same without its extras; None where it has none.
Plainer = Callable[[str], str | None]
NEAR_ENOUGH = 1.1  # times the fastest in screening, for that


@dataclass(frozen=True)
class Launch:
    """One launch to make."""

    runner: str
    round: int
    final: bool


@dataclass
class RunnerState:
    """What is known of one runner. Costs are such that less is better."""

    runner: str
    screening: list[float] = field(default_factory=list)
    final: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    usual_s: float | None = None  # their median
    disturbed: int = 0  # of the final's launches
    failed: str | None = None
    out: str | None = None  # why it is launched no more
    wave: int = 0  # of newcomers in which it joined; 0: from the beginning

    @property
    def racing(self) -> bool:
        return self.failed is None and self.out is None

    def cost(self) -> float:
        return stats.median(self.screening)


@dataclass(frozen=True)
class Verdict:
    """How the race ended. `margin` is winner over default, as a ratio of costs."""

    winner: str | None
    tied: tuple[str, ...]  # with the fastest, itself included; one name when there is a winner
    why: str
    margin: Ratio | None  # of the fastest finalist over the default
    fastest: str | None


class Race:
    """Say what to launch next with next_round(), and what came of it with record() or fail()."""

    def __init__(
        self,
        runners: Sequence[str],
        default: str,
        budget_s: float,
        seed: int = 0,
        known_s: float | None = None,
        widen: Widen | None = None,
        plainer: Plainer | None = None,
    ) -> None:
        """`known_s` is what the default took before the race: it limits the first round's launches.

        The runners come with those first that should run if the budget does not carry all.
        """
        if default not in runners:
            raise ValueError("the default runs too")
        self.standings = {name: RunnerState(name) for name in runners}
        self.default = default
        self._known_s, self._widen, self._plainer = known_s, widen, plainer
        self._budget_s = budget_s
        self._spent_s = 0.0
        self._order = random.Random(seed)
        self._round = 0
        self._wave, self._rounds_of_wave = 0, 0
        self._final_rounds: int | None = None  # fixed when the final begins
        self._finals_done = 0
        self._first_only_some()

    # -- what came --------------------

    def record(self, launch: Launch, cost: float, seconds: float, disturbed: bool = False) -> None:
        """A launch ended well: its cost (less is better, positive) and how long it took."""
        if not cost > 0:
            raise ValueError(f"a cost is positive: {cost}")
        standing = self.standings[launch.runner]
        (standing.final if launch.final else standing.screening).append(cost)
        standing.seconds.append(seconds)
        standing.usual_s = stats.median(standing.seconds)
        standing.disturbed += launch.final and disturbed
        self._spent_s += seconds

    def fail(self, launch: Launch, why: str, seconds: float) -> None:
        """A launch failed: its layout is not for this program."""
        self.standings[launch.runner].failed = why
        self._spent_s += seconds

    def end(self, launch: Launch, why: str, seconds: float) -> None:
        """A launch was ended by its time limit: its layout is out."""
        standing = self.standings[launch.runner]
        if launch.runner == self.default:
            standing.failed = why
        else:
            standing.out = why
        self._spent_s += seconds

    # -- what next --------------------

    def next_round(self) -> list[Launch]:
        """The launches of the next round in random order; none when the race is over."""
        if self._final_rounds is None:
            racing = self._screened()
            while not racing and self._newcomers():
                racing = self._screened()
            if racing:
                self._rounds_of_wave += 1
                return self._shuffled(racing, final=False)
            self._with_the_plainer()
            self._fewer_finalists()
            self._final_rounds = self._rounds_affordable()
        if self._finals_done >= self._final_rounds:
            return []
        self._finals_done += 1
        return self._shuffled([s.runner for s in self.finalists()], final=True)

    def finalists(self) -> list[RunnerState]:
        return [s for s in self.standings.values() if s.racing or (s.runner == self.default and not s.failed)]

    def remaining_s(self) -> float:
        """What the budget still allows."""
        return max(0.0, self._budget_s - self._spent_s)

    def progress(self) -> tuple[int, int]:
        """Launches of the final made and planned; of screening, made and the same, since its end is open."""
        if self._final_rounds is None:
            done = sum(len(s.screening) for s in self.standings.values())
            return done, done + sum(s.racing for s in self.standings.values())
        finalists = self.finalists()
        return sum(len(s.final) for s in finalists), self._final_rounds * len(finalists)

    def limit_s(self) -> float | None:
        """A launch that takes longer than this can be ended: it is out anyway."""
        known = [s.usual_s for s in self.standings.values() if s.usual_s is not None]
        known += [self._known_s] if self._known_s else []
        return 1.25 * HOPELESS * min(known) if known else None

    def _shuffled(self, runners: list[str], final: bool) -> list[Launch]:
        self._round += 1
        self._order.shuffle(runners)
        return [Launch(name, self._round, final) for name in runners]

    def _first_only_some(self) -> None:
        """Where the budget does not carry two rounds of all and a final, those that come last stay out."""
        if not self._known_s:
            return
        screening_s = self._budget_s - LEAST * 3 * self._known_s  # as _least_final_s()
        for name in list(self.standings)[max(FINALISTS + 1, int(screening_s / (2 * self._known_s))) :]:
            if name != self.default:
                self.standings[name].out = "the budget was too small to try it"

    def _screened(self) -> list[str]:
        """Who is launched in the next round of screening; empty when the finalists are known."""
        racing = [s for s in self.standings.values() if s.racing]
        self._drop_hopeless(racing)
        racing = [s for s in racing if s.racing]
        rounds = self._rounds_of_wave
        # One launch of a noisy machine tells little, and yet half of the layouts go: the budget finds more
        # near those that stay than in second launches of the others.
        if rounds >= 1 and len(racing) > FINALISTS:
            keep = max(FINALISTS, (len(racing) + 1) // 2)
            for standing in sorted(racing, key=RunnerState.cost)[keep:]:
                standing.out = f"slower in screening, n={len(standing.screening)}"
            racing = [s for s in racing if s.racing]
        if rounds >= 2 and len(racing) <= FINALISTS:
            return []
        if not self._affords_screening(racing):
            for standing in sorted(racing, key=lambda s: s.cost() if s.screening else 1e300)[FINALISTS:]:
                standing.out = "the budget was too small to try it further"
            return []
        return [s.runner for s in racing]

    def _newcomers(self) -> bool:
        """Whether others join for another wave."""
        known = [s for s in self.standings.values() if s.screening and not s.failed]
        most = self._newcomers_affordable()
        if self._widen is None or self._wave >= WAVES or not known or most < 2:
            return False
        best = min(s.cost() for s in known)
        ranked = [(s.runner, s.cost() / best) for s in sorted(known, key=RunnerState.cost)]
        names = [name for name in self._widen(ranked, most) if name not in self.standings]
        if not names:
            return False
        self._wave, self._rounds_of_wave = self._wave + 1, 0
        self.standings.update((name, RunnerState(name, wave=self._wave)) for name in names)
        return True

    def _newcomers_affordable(self) -> int:
        """How many can be screened beside the finalists: a launch, half of them a second, and so on."""
        finalists = [s.usual_s for s in self.finalists() if s.usual_s is not None]
        if not finalists:
            return 0
        final_s = max(self._least_final_s(), min(FINAL_SHARE * self._budget_s, MOST * sum(finalists)))
        launches = (self.remaining_s() - final_s) * len(finalists) / sum(finalists)
        return max(0, int(launches / 2) - FINALISTS)

    def _least_final_s(self) -> float:
        """What a final needs at least: the fastest two and the default."""
        racing = [s for s in self.standings.values() if s.racing and s.runner != self.default]
        known = sorted(s.usual_s for s in racing if s.usual_s is not None)
        default = self.standings[self.default].usual_s
        return LEAST * (sum(known[:2]) + (max(known, default=0.0) if default is None else default))

    def _drop_hopeless(self, racing: list[RunnerState]) -> None:
        known = [s for s in racing if s.screening]
        best = min((s.cost() for s in known), default=0.0)
        for standing in known:
            if standing.cost() > HOPELESS * best:
                standing.out = f"{standing.cost() / best:.1f} times as slow as the best"

    def _affords_screening(self, racing: list[RunnerState]) -> bool:
        """Whether another round leaves what the final needs at least."""
        known = [s.usual_s for s in racing if s.usual_s is not None]
        if not known:
            return True
        round_s = sum(max(known) if s.usual_s is None else s.usual_s for s in racing)
        return round_s + self._least_final_s() <= self.remaining_s()

    def _with_the_plainer(self) -> None:
        """The fastest's plainer form takes the place of the slowest finalist: chance may have put others
        of its forms before it in screening, and the question is whether these extras bring anything.
        """
        racing = sorted(
            (s for s in self.standings.values() if s.racing and s.screening), key=RunnerState.cost
        )
        name = self._plainer(racing[0].runner) if racing and self._plainer else None
        plain = self.standings.get(name) if name else None
        if plain is None or plain.racing or plain.failed or not plain.screening:
            return
        if plain.cost() > NEAR_ENOUGH * racing[0].cost():
            return
        if len(racing) >= FINALISTS and racing[-1].runner != self.default:
            racing[-1].out = f"slower in screening, n={len(racing[-1].screening)}"
        plain.out = None

    def _fewer_finalists(self) -> None:
        """Where the budget does not carry so many, the slowest in screening stay out."""
        while self._rounds_affordable() == 0:
            others = [s for s in self.finalists() if s.runner != self.default and s.screening]
            if len(others) < 2:
                return
            max(others, key=RunnerState.cost).out = "the budget was too small to try it further"

    def _rounds_affordable(self) -> int:
        seconds = [s.usual_s for s in self.finalists() if s.usual_s is not None]
        if not seconds:
            return 0
        rounds = int(self.remaining_s() / sum(seconds))
        return 0 if rounds < LEAST else min(rounds, MOST)

    # -- how it ended --------------------

    def verdict(self) -> Verdict:
        """Who won, by the final's launches alone."""
        finalists = [s for s in self.finalists() if len(s.final) >= LEAST]
        if len(finalists) < len(self.finalists()) or not finalists:
            why = f"the budget was too small for {LEAST} launches of each finalist: no winner is named"
            return Verdict(None, (), why, None, None)
        ordered = sorted(finalists, key=lambda s: stats.median(s.final))
        fastest, others = ordered[0], ordered[1:]
        level = FALSE_WINNERS / len(ordered)
        tied = tuple(s.runner for s in others if p_lower(fastest.final, s.final) > level)
        default = self.standings[self.default]
        # Chosen as the best of several: its interval is widened so that it holds all the same (Bonferroni).
        margin = (
            ratio(fastest.final, default.final, 1 - FALSE_WINNERS / len(ordered))
            if default in finalists and default is not fastest
            else None
        )
        if not others:
            return Verdict(fastest.runner, (fastest.runner,), "nothing else ran", margin, fastest.runner)
        if tied:
            names = (fastest.runner, *tied)
            return Verdict(
                None,
                names,
                f"a tie of {len(names)} in {len(fastest.final)} launches each",
                margin,
                fastest.runner,
            )
        why = f"faster than each of {len(others)} others in {len(fastest.final)} launches each"
        return Verdict(fastest.runner, (fastest.runner,), why, margin, fastest.runner)
