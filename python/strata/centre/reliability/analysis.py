"""All that is found out about the systems of a log, as data: what the report and the JSON are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strata.centre.outages.categories import TOTALS, Categories
from strata.centre.outages.history import DAY, System, histories
from strata.centre.outages.log import Log
from strata.centre.outages.times import text
from strata.centre.reliability import availability, published
from strata.centre.reliability.account import Account, account, interrupts
from strata.centre.reliability.fits import Fit, fit
from strata.centre.reliability.growth import Growth, growth
from strata.centre.reliability.jobs import Interval, interval
from strata.centre.reliability.parts import PartLaw, part_law
from strata.centre.reliability.uptimes import between, up_times

SCHEMA = "strata.reliability/1"
AHEAD = 30.0  # days for which the number of interrupts is forecast


@dataclass(frozen=True)
class Asked:
    """What the report is to be about: times in seconds since 1970, `checkpoint` and `restart` in minutes."""

    since: float | None = None
    until: float | None = None
    parts: int | None = None  # of a system whose MTTI is forecast
    checkpoint: float = 5.0
    restart: float = 10.0
    published: Path | None = None


@dataclass(frozen=True)
class Forecast:
    """Interrupts in the next AHEAD days: expected at the present rate, and the 95 % prediction interval."""

    days: float
    mtti: float  # days, present: of the growth model where there is a trend, else over all time
    trend: bool
    expected: float
    low: int
    high: int


@dataclass(frozen=True)
class Finding:
    """One system."""

    account: Account
    starts: np.ndarray
    available: tuple[float, float | None, float]
    fit: Fit | None  # of times up
    between: Fit | None  # of times from start to start, as published tables have them
    growth: Growth | None
    forecast: Forecast | None

    @property
    def system(self) -> System:
        return self.account.system


@dataclass
class Analysis:
    """`late`: accounts from --since on. `jobs`: of the system that was asked for, or the largest."""

    log: Log
    asked: Asked
    categories: Categories
    findings: list[Finding]
    late: list[Account]
    law: PartLaw | None
    larger: tuple[int, tuple[float, float, float] | None] | None
    jobs: list[tuple[str, list[Interval]]]
    compared: int = 0
    differences: list[published.Difference] = field(default_factory=list)
    prints: list[published.Difference] = field(default_factory=list)  # contradictions of the published tables


def analyse(log: Log, categories: Categories, asked: Asked) -> Analysis:
    """Everything about the systems of a log. Raises StrataError where nothing is left of it."""
    systems = histories(log, categories, until=asked.until)
    findings = [_finding(s, categories) for s in systems]
    late = (
        []
        if asked.since is None
        else [account(s, categories) for s in histories(log, categories, asked.since, asked.until)]
    )
    law = _law(findings)
    whole = Analysis(
        log, asked, categories, findings, late, law, _larger(asked, findings, law), _jobs(asked, findings)
    )
    if asked.published is not None:
        printed = published.read(asked.published)
        whole.compared, whole.differences = published.compare(printed, [f.account for f in findings], late)
        whole.prints = published.contradictions(printed)
    return whole


def _finding(system: System, categories: Categories) -> Finding:
    found, starts = account(system, categories), interrupts(system, categories)
    outages = np.array([c.outage for c in categories.every])
    down = outages[system.category] if len(system.category) else np.zeros(0, bool)
    grown = growth(starts, system.period)
    return Finding(
        found,
        starts,
        availability.interval(system.own[down] / DAY, system.period),
        fit(up_times(system, categories)),
        fit(between(starts, system.period)),
        grown,
        _forecast(found, grown),
    )


def _forecast(found: Account, grown: Growth | None) -> Forecast | None:
    """Of a Poisson count with a rate that is estimated from n events: negative binomial."""
    row = found.row(TOTALS[2])
    if not row.events or row.mtti is None:
        return None
    trend = grown is not None and max(grown.p_189, grown.p_laplace) < 0.05
    mtti = grown.now if trend and grown is not None else row.mtti
    n = row.events / 2 if trend else row.events  # the present rate of a trend has twice the variance
    share = n / (n + AHEAD / mtti)
    return Forecast(
        AHEAD,
        mtti,
        trend,
        AHEAD / mtti,
        _negative_binomial(0.025, n, share),
        _negative_binomial(0.975, n, share),
    )


def _negative_binomial(q: float, n: float, share: float) -> int:
    """The least count that is not exceeded with a probability of at least q."""
    from scipy.special import betainc, nbdtrik

    count = max(0, int(np.floor(nbdtrik(q, n, share))) - 1)
    while betainc(n, count + 1, share) < q:
        count += 1
    return count


def _law(findings: Sequence[Finding]) -> PartLaw | None:
    known = [f for f in findings if f.system.parts]
    rows = [f.account.row(TOTALS[2]) for f in known]
    return part_law(
        [f.system.parts or 1 for f in known], [r.events or 0 for r in rows], [f.system.period for f in known]
    )


def _larger(
    asked: Asked, findings: Sequence[Finding], law: PartLaw | None
) -> tuple[int, tuple[float, float, float] | None] | None:
    """A larger system's MTTI: by the law over systems, else from the largest as if each part failed by
    itself.
    """
    known = [f for f in findings if f.system.parts and f.account.row(TOTALS[2]).events]
    if not known:
        return None
    most = max(known, key=lambda f: f.system.parts or 0)
    parts = asked.parts or 2 * (most.system.parts or 1)
    if law is not None:
        return parts, law.mtti(parts)
    row, ratio = most.account.row(TOTALS[2]), (most.system.parts or 1) / parts
    if row.mtti is None or row.low is None or row.high is None:
        return parts, None
    return parts, (row.mtti * ratio, row.low * ratio, row.high * ratio)


def _jobs(asked: Asked, findings: Sequence[Finding]) -> list[tuple[str, list[Interval]]]:
    """Jobs on the whole of each system, a half and an eighth of it: each part is taken to fail alike."""
    found = []
    for one in findings:
        parts = one.system.parts or one.system.units
        if one.forecast is None:
            continue
        sizes = sorted({max(1, parts // k) for k in (1, 2, 8)}, reverse=True)
        found.append(
            (
                one.system.name,
                [
                    interval(size, one.forecast.mtti * parts / size, asked.checkpoint, asked.restart)
                    for size in sizes
                ],
            )
        )
    return found


# --- as JSON


def document(whole: Analysis) -> dict[str, Any]:
    """The analysis as strata.reliability/1: days and shares unrounded, times as text in UTC."""
    return {
        "schema": SCHEMA,
        "log": whole.log.path,
        "generated": whole.log.generated,
        "zone": whole.log.zone,
        "said": whole.log.said,
        "categories": [{k: v for k, v in asdict(c).items() if k != "match"} for c in whole.categories.every],
        "systems": [_system(f) for f in whole.findings],
        "since": None if whole.asked.since is None else text(whole.asked.since),
        "systems_since": [
            {
                "name": a.system.name,
                "days": a.system.period,
                "available": a.available,
                "rows": [asdict(r) for r in a.rows],
            }
            for a in whole.late
        ],
        "part_law": None
        if whole.law is None
        else {
            "systems": whole.law.systems,
            "exponent": whole.law.exponent,
            "low": whole.law.low,
            "high": whole.law.high,
            "dispersion": whole.law.dispersion,
        },
        "larger": None
        if whole.larger is None or whole.larger[1] is None
        else dict(zip(("parts", "mtti", "low", "high"), (whole.larger[0], *whole.larger[1]), strict=True)),
        "jobs": {name: [asdict(i) for i in every] for name, every in whole.jobs},
        "published": None
        if whole.asked.published is None
        else {
            "file": str(whole.asked.published),
            "compared": whole.compared,
            "differences": [asdict(d) for d in whole.differences],
            "contradictions": [asdict(d) for d in whole.prints],
        },
    }


def _system(one: Finding) -> dict[str, Any]:
    s = one.system
    return {
        "name": s.name,
        "description": s.description,
        "parts": s.parts,
        "units": s.units,
        "observed": [text(s.begin), text(s.end)],
        "observed_by": "the log" if s.watched else "its first and last time",
        "days": s.period,
        "still_down": int(s.open.sum()),
        "said": s.said,
        "rows": [asdict(r) for r in one.account.rows],
        "available": dict(zip(("value", "low", "high"), one.available, strict=True)),
        "fit": None if one.fit is None else asdict(one.fit),
        "fit_start_to_start": None if one.between is None else asdict(one.between),
        "growth": None if one.growth is None else asdict(one.growth),
        "forecast": None if one.forecast is None else asdict(one.forecast),
    }
