"""Figures of use as people read them."""

from __future__ import annotations

from strata.centre.use.account import Figure

NONE = "-"


def value(one: Figure) -> str:
    """A figure with its unit."""
    if one.value is None:
        return NONE
    if one.unit == "h":
        return duration(one.value)
    return f"{number(one.value)} {one.unit}".strip()


def interval(one: Figure) -> str:
    """A figure's 95 % interval."""
    if one.low is None and one.high is None:
        return NONE
    show = duration if one.unit == "h" else number
    return f"more than {show(one.low)}" if one.high is None else f"{show(one.low)} to {show(one.high)}"


def number(x: float | None) -> str:
    """Three digits or so."""
    if x is None:
        return NONE
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}"


def duration(hours: float | None) -> str:
    """In the unit that suits it."""
    if hours is None:
        return NONE
    if hours * 60 < 1:
        return f"{hours * 3600:.0f} s"
    if hours < 2:
        return f"{hours * 60:.1f} min"
    return f"{hours:,.1f} h" if hours < 1000 else f"{hours / 24:,.0f} days"


def one_digit(x: float | None) -> str:
    return NONE if x is None else f"{x:.1f}"


def percent(x: float | None) -> str:
    return NONE if x is None else f"{x:.2f} %"
