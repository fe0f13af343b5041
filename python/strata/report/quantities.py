"""Figures as text: a median with its interval, the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from strata.advice.samples import SECONDS, Interval, kind_of_unit
from strata.advice.words import digits, percent, unit_text

_FLOPS = {"mflop/s": 1e6, "gf/s": 1e9, "gflop/s": 1e9, "gflops": 1e9, "tf/s": 1e12, "tflop/s": 1e12}
_BYTES = {"mb/s": 1e6, "gb/s": 1e9, "tb/s": 1e12}


def shown(value: float | None, *beside: float | None) -> str:
    """Three significant digits, four or five where the interval's ends would look the same with three."""
    if value is None:
        return "—"
    others = [b for b in beside if b is not None and b != value]
    for significant in (3, 4, 5):
        text = digits(value, significant, strip=False)
        if all(digits(b, significant, strip=False) != text for b in others):
            return text
    return digits(value, 4, strip=False)


def with_interval(f: Interval, unit: bool = True) -> str:
    """'31.2 [30.9, 31.6] GB/s, n=7', or the median with the reason why there is no interval."""
    if f.median is None or f.n == 0:
        return "no measurement"
    tail = f" {unit_text(f.unit)}" if unit else ""
    if f.low is None or f.high is None:
        return f"{shown(f.median)}{tail} ({f.note})"
    low, high = shown(f.low, f.median), shown(f.high, f.median)
    return f"{shown(f.median, f.low, f.high)} [{low}, {high}]{tail}, n={f.n}{graded(f)}"


def graded(f: Interval) -> str:
    """', disturbed' behind a figure whose launches others disturbed."""
    return "" if f.grade == "undisturbed" else f", {f.grade}"


def interval_only(f: Interval) -> str:
    """The interval as text, or why there is none."""
    if f.low is None or f.high is None:
        return f.note or ""
    return f"[{shown(f.low, f.median)}, {shown(f.high, f.median)}]"


def base(value: float, unit: str) -> float | None:
    """In flop/s, B/s or s; None for other units."""
    plain = unit.strip().lower().replace("µ", "u")
    for table in (_FLOPS, _BYTES, {k.replace("µ", "u"): v for k, v in SECONDS.items()}):
        if plain in table:
            return value * table[plain]
    return None


def part_of_bound(f: Interval, bound: Mapping[str, Any] | None) -> float | None:
    """How much of the bound is reached: value/bound for rates, bound/value for times; None where the units do
    not compare.
    """
    if not bound or not bound.get("value") or not f.median:
        return None
    meant = bound.get("figure")
    if meant and ("process" in str(meant)) != ("process" in f.name):
        return None  # the bound of all processes together says nothing about one of them
    unit = str(bound.get("unit") or f.unit)
    if kind_of_unit(unit) != kind_of_unit(f.unit):
        return None
    a, b = base(f.median, f.unit), base(float(bound["value"]), unit)
    if a is None or b is None or not a or not b:
        return None
    return b / a if f.better == "lower" else a / b


def beside(task: Mapping[str, Any], f: Interval) -> Mapping[str, Any]:
    """What a figure of a task stands beside: a bound with `reached`, or `why` there is none. Summaries of
    before have the bound of the headline alone.
    """
    for known in task.get("bounds") or []:
        if known["figure"] == f.name:
            return dict(known)
    bound = task.get("bound")
    part = part_of_bound(f, bound)
    return {**bound, "reached": part} if bound and part is not None else {}


def bound_text(bound: Mapping[str, Any] | None) -> str:
    """A bound with its unit and name, or a dash."""
    if not bound or bound.get("value") is None:
        return "—"
    return (
        f"{digits(float(bound['value']))} {unit_text(str(bound.get('unit', '')))} "
        f"({bound.get('name', 'bound')})"
    )


def part_text(part: float | None) -> str:
    """Which part of its bound a figure reaches, in per cent, or a dash."""
    return "—" if part is None or not math.isfinite(part) else percent(part)
