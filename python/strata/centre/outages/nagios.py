"""Histories of host states by Nagios and Icinga: their log, or a table of state changes.

The log has a line for each change, `[1140000000] HOST ALERT: n17;DOWN;HARD;3;reason`; archives begin with
`CURRENT HOST STATE` lines, and a planned downtime has `HOST DOWNTIME ALERT: n17;STARTED; ...`. Icinga writes
the same form. A table (CSV) has the columns host, time, state (up, down, unreachable, or 0, 1, 2) and where
known state_type, output.

Only hard states count: soft ones are retries. A host that is down or unreachable is out of service: for
maintenance where it began in a planned downtime, else by the first pattern of the categories that the reason
has, else for a cause unknown. A service that is critical is "up with problem". All hosts are one system,
named as the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from strata.centre.outages.categories import OBSERVED, Categories
from strata.centre.outages.log import Cells, contents
from strata.centre.outages.tables import table
from strata.errors import StrataError

_LINE = re.compile(r"\[(\d{9,10})\] (?:(CURRENT|INITIAL) )?(HOST|SERVICE)( DOWNTIME)? (?:ALERT|STATE): (.*)")
_TIME = re.compile(r"\[(\d{9,10})\] ")
_STATES = {"up": 0, "down": 1, "unreachable": 2, "0": 0, "1": 1, "2": 2}
TABLE = (
    ("host", "host_name", "hostname"),
    ("time", "event_time", "state_time", "timestamp"),
    ("state", "hard_state"),
)


@dataclass
class _Open:
    start: str
    row: int
    category: str
    note: str


@dataclass
class _History:
    """Outages as they end; those that are still open at the end have none."""

    categories: Categories
    rows: list[tuple[str, str, str, str, str, int]] = field(default_factory=list)
    down: dict[str, _Open] = field(default_factory=dict)
    planned: set[str] = field(default_factory=set)

    def change(self, what: str, time: str, bad: bool, service: bool, note: str, row: int) -> None:
        if bad and what not in self.down:
            if service:
                category = "problem"
            elif what in self.planned:
                category = "maintenance"
            else:
                category = self.categories.of_reason(note)
            self.down[what] = _Open(time, row, category, note)
        elif not bad and what in self.down:
            self._close(what, self.down.pop(what), time)

    def _close(self, what: str, one: _Open, end: str) -> None:
        self.rows.append((what.partition("\0")[0], one.start, end, one.category, one.note, one.row))

    def finish(self) -> None:
        for what, one in self.down.items():
            self._close(what, one, "")


def read(path: Path, categories: Categories) -> Cells:
    """The outages of a log or a table. Raises StrataError for what is neither."""
    text = contents(path)
    history = _History(categories)
    hosts: set[str] = set()
    times = re.findall(_TIME, text)
    if times:
        for row, line in enumerate(text.splitlines(), start=1):
            if not _line(line, row, history, hosts):
                raise StrataError(
                    "a change of state without its state",
                    at=f"{path}: row {row}",
                    given=line[:100],
                    allowed="[1140000000] HOST ALERT: n17;DOWN;HARD;3;reason",
                )
        first, last = times[0], times[-1]
    else:
        seen = []
        for host, time, bad, note, row in _table(path):
            hosts.add(host)
            seen.append(time)
            history.change(host, time, bad, False, note, row)
        first, last = min(seen, default=""), max(seen, default="")
    history.finish()
    if not hosts:
        raise StrataError(
            "no state of a host in it",
            at=str(path),
            given="other lines",
            allowed="lines such as [1140000000] HOST ALERT: n17;DOWN;HARD;3;reason",
        )
    return _cells(path, history, hosts, first, last)


def _line(line: str, row: int, history: _History, hosts: set[str]) -> bool:
    """False where the line is one of ours and ends too early."""
    found = _LINE.match(line)
    if not found:
        return True
    time, _, kind, downtime, rest = found.groups()
    cells = rest.split(";")
    hosts.add(cells[0])
    if downtime:
        if kind == "HOST" and len(cells) > 1:
            planned = cells[1].strip().upper() == "STARTED"
            (history.planned.add if planned else history.planned.discard)(cells[0])
        return True
    service = kind == "SERVICE"
    what = f"{cells[0]}\0{cells[1]}" if service and len(cells) > 1 else cells[0]
    words = cells[2 if service else 1 :]
    if len(words) < 2:
        return False
    state, hard, *more = words
    if hard.strip().upper() == "HARD":
        bad = state.strip().upper() == "CRITICAL" if service else _STATES.get(state.strip().lower(), 1) > 0
        history.change(what, time, bad, service, more[-1] if more else "", row)
    return True


def _table(path: Path) -> Iterator[tuple[str, str, bool, str, int]]:
    found, rows = table(path, TABLE, what="log of Nagios or table of Icinga")
    for row, cells in zip(rows, found.to_dict("records"), strict=True):
        if cells.get("state_type", "hard").lower() in ("soft", "0"):
            continue
        state = _STATES.get(cells["state"].lower())
        if state is None:
            raise StrataError(
                "not a state of a host",
                at=f"{path}: row {row}, column state",
                given=cells["state"],
                allowed=", ".join(_STATES),
            )
        yield cells["host"], cells["time"], state > 0, cells.get("output", ""), int(row)


def _cells(path: Path, history: _History, hosts: set[str], first: str, last: str) -> Cells:
    import pandas as pd

    system, units = path.stem, str(len(hosts))
    made = [(system, units, *cells) for cells in history.rows]
    made.append((system, units, "", first, last, OBSERVED, "", 1))
    text = pd.DataFrame(made, columns=["system", "units", "node", "start", "end", "category", "note", "row"])
    rows = text.pop("row").to_numpy(int)
    return Cells(
        str(path),
        text,
        np.asarray(rows),
        names={"start": "time", "end": "time"},
        said=[f"{units} hosts are one system: all that the log names."],
    )
