"""One sentence for one comparison of two figures; everything that the report and the advice say about
'better' comes from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from strata.advice.samples import Interval, factor, winner, within_blocks
from strata.advice.words import digits


@dataclass(frozen=True)
class Statement:
    """better: 'a', 'b', or None when the samples do not tell; `known` is False when an interval is
    missing.
    """

    text: str
    better: str | None
    known: bool = True


def compare(
    what: str, label_a: str, a: Interval, label_b: str, b: Interval, comparisons: int = 1
) -> Statement:
    """What the launches of a and b carry, as one of so many comparisons: a factor with its range, 'no
    difference measured', or why there is no answer.
    """
    if not a.known or not b.known:
        short = a if not a.known else b
        label = label_a if not a.known else label_b
        return Statement(f"{what}: no answer, {label} has {short.note or 'no interval'}.", None, False)
    won = winner(a, b, comparisons)
    if won is None:
        paired = within_blocks(a, b, comparisons) is not None
        why = "the interval of their ratio holds 1" if paired else "their intervals overlap"
        return Statement(f"{what}: no difference measured between {label_a} and {label_b}; {why}.", None)
    first, second = (a, b) if won == "a" else (b, a)
    best, other = (label_a, label_b) if won == "a" else (label_b, label_a)
    ratio = factor(first, second, comparisons)
    other += beside(a, b)
    if ratio is None:
        return Statement(f"{what}: {best} is better than {other}; their intervals are apart.", won)
    middle, low, high = ratio
    span = f"{times(middle)} (between {times(low)} and {times(high)})"
    if first.better == "lower":
        return Statement(f"{what}: {best} takes {span} times the time of {other}.", won)
    return Statement(f"{what}: {best} reaches {span} times what {other} reaches.", won)


def beside(*every: Interval) -> str:
    """' beside this neighbour' where one core had a neighbour: without it another setting may be the better
    one.
    """
    return " beside this neighbour" if any(f.beside for f in every) else ""


def times(ratio: float) -> str:
    """A factor; near 1 with enough digits to see which side it is on."""
    return f"{ratio:.3f}" if 0.9 < ratio < 1.1 else digits(ratio)
