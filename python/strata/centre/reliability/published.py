"""Published totals of systems beside those of a log, and logs generated to such totals.

A file of totals is CSV with the columns table, system, description, category, days, percent_time, events,
mtti_days; table 1 is all data, table 2 that from a date forward; `1 text` is a figure from the prose about
table 1. An empty cell is a printed dash: zero after rounding.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from strata import documents
from strata.centre.outages.categories import OBSERVED, TOTALS, Categories
from strata.centre.outages.history import DAY
from strata.centre.reliability.account import Account
from strata.errors import StrataError, why

HEAD = ("table", "system", "description", "category", "days", "percent_time", "events", "mtti_days")
FIGURES = HEAD[4:]
_DECIMALS = {"days": 2, "percent_time": 1, "events": 0, "mtti_days": 1}
_NAMES = {"days": "days", "percent_time": "% time", "events": "events", "mtti_days": "MTTI"}


@dataclass(frozen=True)
class Printed:
    """One row of a published table; cells as printed."""

    table: str
    system: str
    description: str
    category: str
    cells: Mapping[str, str]

    def value(self, figure: str) -> float:
        return float(self.cells[figure] or 0)


@dataclass(frozen=True)
class Difference:
    """A printed cell that is not what it should be. `contradicts`: its own table says otherwise."""

    table: str
    system: str
    category: str
    figure: str
    printed: str
    found: str
    contradicts: bool

    @property
    def sentence(self) -> str:
        why = "contradicted by rows of its own table" if self.contradicts else "another figure in the log"
        return (
            f"table {self.table}, {self.system}, {self.category}, {_NAMES[self.figure]}: "
            f"printed {self.printed or '-'}, {self.found or '-'} found; {why}"
        )


def read(path: Path) -> list[Printed]:
    """The rows of a file of totals. Raises StrataError with row and column for what is none."""
    try:
        # As one text: what is no UTF-8 is told with its line, which a part of a file does not know.
        lines = csv.reader(io.StringIO(documents.named(path).decode(), newline=""))
        rows = [(lines.line_num, row) for row in lines if row and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StrataError(
            "cannot read the published totals", at=str(path), given=why(error), allowed="a file of CSV"
        ) from None
    number, head = rows[0] if rows else (1, [])
    if tuple(head) != HEAD:
        raise StrataError(
            "not a file of published totals",
            at=f"{path}: row {number}",
            given=",".join(head) or "nothing",
            allowed=",".join(HEAD),
        )
    return [_printed(path, number, row) for number, row in rows[1:]]


def _printed(path: Path, number: int, row: Sequence[str]) -> Printed:
    at = f"{path}: row {number}"
    if len(row) != len(HEAD):
        raise StrataError(
            "a row has another number of cells than the header",
            at=at,
            given=str(len(row)),
            allowed=str(len(HEAD)),
        )
    cells = dict(zip(FIGURES, row[4:], strict=True))
    for figure, text in cells.items():
        if not _is_number(text or "0"):
            raise StrataError(
                "not a number", at=f"{at}, column {figure}", given=text, allowed="a number, or nothing"
            )
    return Printed(row[0], row[1], row[2], row[3], cells)


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _shown(value: float, printed: str, figure: str) -> str:
    """A figure as the table prints it: with the decimals of the printed cell, and zero as nothing."""
    decimals = len(printed.partition(".")[2]) if printed else _DECIMALS[figure]
    text = f"{value:.{decimals}f}"
    return "" if not printed and float(text) == 0 else text


# --- a log beside what was printed


def compare(
    printed: Sequence[Printed], accounts: Sequence[Account], since: Sequence[Account]
) -> tuple[int, list[Difference]]:
    """How many printed cells were compared, and those that are not what the log gives."""
    sides = {"1": {a.system.name: a for a in accounts}, "2": {a.system.name: a for a in since}}
    own = {(d.table, d.system, d.category, d.figure) for d in contradictions(printed)}
    found, count = [], 0
    for row in printed:
        account = sides.get(row.table[:1], {}).get(row.system)
        if account is None:
            continue
        figures = _figures(account, row.category)
        for figure, text in row.cells.items():
            if row.table[1:] and not text:
                continue  # prose has one figure
            value = figures.get(figure)
            if value is None and not text:
                continue
            count += 1
            shown = "" if value is None else _shown(value, text, figure)
            if shown != text:
                key = (row.table, row.system, row.category, figure)
                found.append(Difference(*key, text, shown, key in own))
    return count, found


def _figures(account: Account, title: str) -> dict[str, float | None]:
    row = next((r for r in account.rows if r.title == title), None)
    if row is None:
        return {}
    return {"days": row.days, "percent_time": row.percent, "events": row.events, "mtti_days": row.mtti}


# --- what was printed beside itself


def contradictions(printed: Sequence[Printed]) -> list[Difference]:
    """Printed cells that no figures within the rounding of the other cells of their table give."""
    groups: dict[tuple[str, str], list[Printed]] = {}
    for row in printed:
        groups.setdefault((row.table, row.system), []).append(row)
    found = []
    for (table, system), rows in groups.items():
        own = groups.get((table[:1], system), [])
        found += [d for row in rows for d in _contradicted(row, own)]
    return found


def _contradicted(row: Printed, rows: Sequence[Printed]) -> list[Difference]:
    total = next((r for r in rows if r.category == TOTALS[0]), None)
    if total is None:
        return []
    period, found = total.value("days"), []
    events = _events(row, rows)
    for figure, text in row.cells.items():
        if row.table[1:] and not text:
            continue
        if figure == "days":
            # Of the printed days only the sum says anything: all rows together are the time of observation.
            parts = sum(r.value("days") for r in rows if r.category not in TOTALS)
            wrong = row.category in TOTALS and abs(row.value("days") - parts) > 0.005 * (len(rows) - 2)
            value = parts
        elif figure == "percent_time":
            value = 100 * row.value("days") / period
            slack = 100 * 0.005 / period * (1 + row.value("days") / period)
            wrong = text != "" and not _may_print(value - slack, value + slack, text)
        elif figure == "events":
            value, wrong = float(events), row.value("events") != events
        else:
            if not events:
                value, wrong = 0.0, text != ""
            else:
                value, slack = period / events, 0.005 / events
                wrong = not _may_print(value - slack, value + slack, text)
        if wrong:
            found.append(
                Difference(
                    row.table, row.system, row.category, figure, text, _shown(value, text, figure), True
                )
            )
    return found


def _may_print(low: float, high: float, text: str) -> bool:
    decimals = len(text.partition(".")[2])
    half = 0.5 * 10.0**-decimals * (1 + 1e-9)
    return low - half <= float(text or 0) <= high + half


def _events(row: Printed, rows: Sequence[Printed]) -> int:
    """Events of a row: a total's are the sum of its rows, whatever was printed."""
    of = {r.category: int(r.value("events")) for r in rows}
    every = Categories().every
    if row.category == TOTALS[0]:
        return sum(of.get(c.title, 0) for c in every if c.outage)
    if row.category == TOTALS[1]:
        return sum(of.get(c.title, 0) for c in every if c.kind == "unscheduled")
    if row.category == TOTALS[2]:
        return sum(of.get(c.title, 0) for c in every if c.interrupt)
    return of.get(row.category, 0)


# --- a log generated to what was printed


def generate(printed: Sequence[Printed], since: float, last: float) -> list[list[str]]:
    """Rows of a log (its header first) that has the totals: systems of table 2 from `since` (seconds) on,
    those of table 1 alone until `last`. Order and lengths of the outages are drawn, the same each time.
    """
    out = [["system", "parts", "description", "category", "start", "end", "note"]]
    tables: dict[str, dict[str, dict[str, Printed]]] = {}
    for row in printed:
        if not row.table[1:]:
            tables.setdefault(row.system, {}).setdefault(row.table, {})[row.category] = row
    for name, of in tables.items():
        out += _generated(name, of.get("1"), of.get("2"), since, last)
    return out


def _generated(
    name: str,
    whole: Mapping[str, Printed] | None,
    late: Mapping[str, Printed] | None,
    since: float,
    last: float,
) -> list[list[str]]:
    some = whole or late or {}
    about = next(iter(some.values())).description
    digits = "".join(c for c in about.partition("p ")[0] if c.isdigit())
    end = since + late[TOTALS[0]].value("days") * DAY if late else last
    begin = end - (whole or some)[TOTALS[0]].value("days") * DAY
    head = [name, digits, about]
    rows = [[*head, OBSERVED, _iso(begin), _iso(end), ""]]
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if late and begin < since:
        rows += _segment(head, random, begin, since, _left(whole or {}, late))
        rows += _segment(head, random, since, end, _amounts(late))
    else:
        rows += _segment(head, random, begin, end, _amounts(some))
    return rows


def _amounts(of: Mapping[str, Printed]) -> dict[str, tuple[int, float]]:
    """Events and days of each category."""
    period = of[TOTALS[0]].value("days")
    return {
        c.key: (int(of[c.title].value("events")), _days(of[c.title], period))
        for c in Categories().every
        if c.title in of
    }


def _days(row: Printed, period: float) -> float:
    """Days that print as printed and, where any such do, give the printed percentage too."""
    days, percent = row.value("days"), row.cells["percent_time"]
    near = sorted((days + k * 0.0005 for k in range(-9, 10)), key=lambda d: abs(d - days))
    fits = (d for d in near if _shown(100 * d / period, percent, "percent_time") == percent)
    return next(fits, days)


def _left(whole: Mapping[str, Printed], late: Mapping[str, Printed]) -> dict[str, tuple[int, float]]:
    later = _amounts(late)
    return {k: (n - later[k][0], d - later[k][1]) for k, (n, d) in _amounts(whole).items()}


def _segment(
    head: list[str],
    random: np.random.Generator,
    begin: float,
    end: float,
    amounts: Mapping[str, tuple[int, float]],
) -> list[list[str]]:
    """Outages one after the other between `begin` and `end`, in an order that is drawn."""
    pieces: list[tuple[str, float]] = []
    for key, (events, days) in amounts.items():
        if events:  # a printed dash is less than half a hundredth of a day
            shares = random.exponential(size=events)
            pieces += [(key, s) for s in max(days, 0.001) * DAY * shares / shares.sum()]
    order = random.permutation(len(pieces))
    gaps = random.exponential(size=len(pieces) + 1)
    gaps *= (end - begin - sum(d for _, d in pieces)) / gaps.sum()
    at, rows = begin, []
    for gap, i in zip(gaps, order, strict=False):
        key, seconds = pieces[i]
        at += gap
        rows.append([*head, key, _iso(at), _iso(at + seconds), "generated"])
        at += seconds
    return rows


def _iso(seconds: float) -> str:
    return str(np.datetime64(round(seconds * 1000), "ms")) + "Z"
