"""What may be said of each pair: improved, regressed, unchanged or undecided.

The ratio after/before is the Hodges-Lehmann estimate with its exact 95 % interval (strata.measure.ranks). A
change is named where it is significant among all pairs that are compared at once, at 5 % for the whole family
(strata.measure.multiple_testing), and the interval leaves out 1; so among figures that are all alike a change
is named in at most 5 % of comparisons, however many figures there are.

No change found is not the same as unchanged: that is said only where the whole interval lies within the
threshold (an equivalence test by its interval: D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from strata.compare.pairs import Pair
from strata.measure import multiple_testing, ranks

LEVEL = 0.05
HOLM, JOINT = "holm", "step-down maxT"
MOST = 1000  # launches beyond which nobody wants to know the number
_Z = NormalDist().inv_cdf(1 - LEVEL / 2)


@dataclass(frozen=True)
class Verdict:
    """What is known of one pair. `ratio`, `low` and `high` are after/before."""

    pair: Pair
    word: str  # "improved", "regressed", "unchanged", "undecided"
    ratio: float
    low: float
    high: float
    p: float  # of the exact rank test of this pair alone, two-sided
    p_family: float  # adjusted for all pairs of the comparison
    beyond: bool  # regressed by more than the threshold, which is significant too
    launches: int | None = None  # on each side, about, that would decide what is undecided; None above MOST


@dataclass(frozen=True)
class Judged:
    """All verdicts, and by which procedure."""

    verdicts: list[Verdict]
    method: str
    threshold: float

    def of(self, word: str) -> list[Verdict]:
        return [v for v in self.verdicts if v.word == word]


def judge(pairs: Sequence[Pair], threshold: float) -> Judged:
    """Verdicts in the order of the pairs. threshold is a part of the value before (0.03 is 3 %): what is
    called unchanged lies within it, and `beyond` is what is worse by more.
    """
    method = method_for([(len(p.before), len(p.after)) for p in pairs])
    alone = [ranks.p_differs(p.before, p.after) for p in pairs]
    adjusted = (
        multiple_testing.holm(alone)
        if method == HOLM
        else multiple_testing.step_down([_logs(p) for p in pairs])
    )
    worse = _beyond(pairs, threshold, method)
    verdicts = [
        _verdict(pair, p, q, pair in worse, threshold, len(pairs))
        for pair, p, q in zip(pairs, alone, adjusted, strict=True)
    ]
    return Judged(verdicts, method, threshold)


def method_for(sizes: Sequence[tuple[int, int]]) -> str:
    """Holm's method wherever the launches are enough for it. Decided by their numbers alone, so it cannot be
    chosen for its answer.
    """
    hardest = max((ranks.least_p(n, m) for n, m in sizes), default=0.0)
    return HOLM if hardest * len(sizes) <= LEVEL else JOINT


def limit(better: str, threshold: float) -> float:
    """The ratio at which a figure is worse by the threshold: a time 1.03 times as long, 0.97 of a rate."""
    return 1 + threshold if better == "lower" else 1 - threshold


def _logs(pair: Pair, shift: float = 1.0, up: bool = True) -> multiple_testing.Pair:
    sign = 1.0 if up else -1.0
    if min(*pair.before, *pair.after) <= 0:  # all are the same, or they would not be compared
        return multiple_testing.Pair([0.0] * len(pair.before), [0.0] * len(pair.after), pair.task)
    return multiple_testing.Pair(
        [sign * math.log(shift * v) for v in pair.before],
        [sign * math.log(v) for v in pair.after],
        pair.task,
    )


def _beyond(pairs: Sequence[Pair], threshold: float, method: str) -> set[Pair]:
    """The pairs that are significantly worse than the threshold allows: the same tests, with the side before
    moved to the threshold.
    """
    asked = [p for p in pairs if min(*p.before, *p.after) > 0]
    if method == HOLM:
        alone = []
        for pair in asked:
            moved = [limit(pair.better, threshold) * v for v in pair.before]
            low, high = (moved, pair.after) if pair.better == "lower" else (pair.after, moved)
            alone.append(min(1.0, 2 * ranks.p_lower(low, high)))
        adjusted = multiple_testing.holm(alone)
    else:
        moved_logs = [_logs(p, limit(p.better, threshold), p.better == "lower") for p in asked]
        adjusted = multiple_testing.step_down(moved_logs, one_sided=True)
    return {pair for pair, p in zip(asked, adjusted, strict=True) if p <= LEVEL}


def _verdict(pair: Pair, p: float, adjusted: float, worse: bool, threshold: float, family: int) -> Verdict:
    if min(*pair.before, *pair.after) <= 0:
        return Verdict(pair, "unchanged", 1.0, 1.0, 1.0, 1.0, 1.0, False)
    found = ranks.ratio(pair.after, pair.before, 1 - LEVEL)
    assert found.low is not None and found.high is not None  # six and six have an interval
    value, low, high = found.value, found.low, found.high
    if adjusted <= LEVEL and (low > 1 or high < 1):
        better = (low > 1) == (pair.better == "higher")
        near = high if high < 1 else low
        over = near > limit("lower", threshold) if low > 1 else near < limit("higher", threshold)
        word = "improved" if better else "regressed"
        return Verdict(pair, word, value, low, high, p, adjusted, worse and over and not better)
    if low >= 1 - threshold and high <= 1 + threshold:
        return Verdict(pair, "unchanged", value, low, high, p, adjusted, False)
    needed = launches(pair, math.log(value), 0.5 * math.log(high / low), threshold, family)
    return Verdict(pair, "undecided", value, low, high, p, adjusted, False, needed)


def launches(pair: Pair, shift: float, half: float, threshold: float, family: int) -> int | None:
    """About how many launches on each side would decide: as many as make the interval small enough to leave
    out 1 at the family's level, or to lie within the threshold. Widths shrink with the root of the number.
    """
    n, m = len(pair.before), len(pair.after)
    now, error, shift = 2 / (1 / n + 1 / m), half / _Z, abs(shift)
    enough = []
    if shift > 0:
        z = NormalDist().inv_cdf(1 - LEVEL / (2 * family))
        enough.append(now * (z * error / shift) ** 2)
    room = math.log(1 + threshold) - shift
    if room > 0:
        enough.append(now * (_Z * error / room) ** 2)
    wanted = max(min(enough, default=math.inf), max(n, m) + 1)
    return math.ceil(wanted) if wanted <= MOST else None
