"""The account of a system: days, share of time, events and MTTI of each category, as the Origin2000's tables.

MTTI is the time of observation over the number of events, as there: scheduled time and time of repair count
as time of observation. Its interval is exact for events of a constant rate counted over a fixed time: with n
events in T days, 2T/chi2(0.975, 2n+2) to 2T/chi2(0.025, 2n) (F. Garwood, Biometrika 28 (1936) 437).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.centre.outages.categories import TOTALS, UP, Categories
from strata.centre.outages.history import DAY, System

LEVEL = 0.95


@dataclass(frozen=True)
class Row:
    """A row of the account. `days` of the whole system; a total's are the days of observation. `percent` of
    observation. None: the row has no such figure. `low`, `high`: the interval of the MTTI.
    """

    key: str
    title: str
    days: float
    percent: float | None
    events: int | None
    mtti: float | None
    low: float | None = None
    high: float | None = None
    total: bool = False


@dataclass(frozen=True)
class Account:
    """A system's rows, and its gross availability: the share of time in which it was up, well or not."""

    system: System
    rows: tuple[Row, ...]
    available: float

    def row(self, title: str) -> Row:
        return next(r for r in self.rows if r.title == title)


def account(system: System, categories: Categories) -> Account:
    """The rows of one system, in the order of the categories, then "up" and the totals."""
    count = len(categories.every)
    seconds = np.bincount(system.category, weights=system.own, minlength=count)
    events = np.bincount(system.category, weights=system.event, minlength=count).astype(int)
    period = system.period
    rows = [
        _row(c.key, c.title, seconds[i] / DAY, int(events[i]), period)
        for i, c in enumerate(categories.every)
        if c.key != "unknown" or events[i] or seconds[i]
    ]
    up = period - seconds.sum() / DAY
    rows.append(Row("up", UP, up, 100 * up / period, None, None))
    down = np.array([c.outage for c in categories.every])
    unscheduled = np.array([c.kind == "unscheduled" for c in categories.every])
    interrupts = np.array([c.interrupt for c in categories.every])
    for title, key, which in zip(
        TOTALS, ("all", "unscheduled", "interrupts"), (down, unscheduled, interrupts), strict=True
    ):
        rows.append(_total(key, title, int(events[which].sum()), period))
    return Account(system, tuple(rows), 1.0 - seconds[down].sum() / DAY / period)


def _row(key: str, title: str, days: float, events: int, period: float) -> Row:
    return Row(key, title, days, 100 * days / period, events, *mtti(period, events))


def _total(key: str, title: str, events: int, period: float) -> Row:
    return Row(key, title, period, None, events, *mtti(period, events), total=True)


def mtti(period: float, events: int) -> tuple[float | None, float | None, float | None]:
    """Days between interrupts with their 95 % interval; without an event the lower end alone."""
    from scipy.special import gammaincinv

    low = period / gammaincinv(events + 1, 0.5 + LEVEL / 2)  # chi2(p, 2n) is twice that of the gamma function
    if events == 0:
        return None, float(low), None
    return period / events, float(low), float(period / gammaincinv(events, 0.5 - LEVEL / 2))


def interrupts(system: System, categories: Categories) -> np.ndarray:
    """Starts of the events that count for the MTTI, in days since observation began, ascending."""
    counts = np.array([c.interrupt for c in categories.every])
    which = system.event & counts[system.category] if len(system.category) else np.zeros(0, bool)
    return np.sort((system.start[which] - system.begin) / DAY)
