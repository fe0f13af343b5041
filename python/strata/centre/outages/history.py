"""From the rows of a log to what happened to each system: the rules for rows that overlap, repeat or do not
end.

Each rule that was applied is said with the number of rows, and the first of them, in `System.said`.

1. A row that is there twice counts once.
2. An outage without an end, if it is the newest of its node, lasts until observation ends. If it is not, its
   end was forgotten: it counts as an event and its time, which nobody knows, as none. Days are then a lower
   bound.
3. Time belongs to one outage: to the one that began first. Time of "up with problem" that is an outage's is
   the outage's.
4. An outage that begins while its node is down interrupts nothing: it is no event; only the time that it adds
   is its own. Nor is one that began before observation did.
5. What lies outside of observation is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from strata.centre.outages import times
from strata.centre.outages.categories import Categories
from strata.centre.outages.log import Log
from strata.errors import StrataError

if TYPE_CHECKING:
    import pandas as pd

DAY = 86400.0


@dataclass
class System:
    """What happened to one system while it was watched, from `begin` to `end` (seconds since 1970).

    Arrays have an entry for each row that is left, by start: `start`, `stop`, `own` (seconds that are this
    row's alone, of `units` nodes that fail on their own: an outage of one takes 1/units of the system's
    time), `category`, `event` (it counts), and `node` (its name, empty for the whole system). `open`: still
    down at the end.
    """

    name: str
    description: str
    parts: int | None
    units: int
    begin: float
    end: float
    start: np.ndarray
    stop: np.ndarray
    own: np.ndarray
    category: np.ndarray
    event: np.ndarray
    node: np.ndarray
    open: np.ndarray
    watched: bool = False  # the log says from when to when; else it is from the first to the last time in it
    said: list[str] = field(default_factory=list)

    @property
    def period(self) -> float:
        """Days of observation."""
        return (self.end - self.begin) / DAY


def histories(
    log: Log, categories: Categories, since: float | None = None, until: float | None = None
) -> list[System]:
    """The systems of a log in its order, cut to [since, until]. Raises StrataError where nothing is left."""
    rows = log.rows
    found = []
    for name, group in rows.groupby("system", sort=False, observed=True):
        system = _system(str(name), group, categories, since, until)
        if system is not None:
            found.append(system)
    if not found:
        raise StrataError(
            "the log says nothing of this time",
            at=log.path,
            given=_span(rows),
            allowed="systems that were watched between --since and --until",
        )
    return found


def _span(rows: pd.DataFrame) -> str:
    if not len(rows):
        return "no rows"
    last = np.nanmax(np.concatenate([rows["start"], rows["end"]]))
    return f"{len(rows)} rows from {times.text(rows['start'].min())} to {times.text(last)}"


def _system(
    name: str, group: pd.DataFrame, categories: Categories, since: float | None, until: float | None
) -> System | None:
    said: list[str] = []
    window = group[group["category"] < 0]
    outages = group[group["category"] >= 0].sort_values("start", kind="stable")
    begin, end = _observed(name, window, outages)
    if until is not None and not len(window):
        end = until  # whoever knows until when it was watched may say so
    begin, end = max(begin, since or -np.inf), min(end, until or np.inf)
    if not begin < end:
        return None
    twice = outages.duplicated(["node", "start", "end", "category"])
    _say(said, twice, outages, "there twice: counted once")
    outages = outages[~twice]
    node, names = outages["node"].factorize()
    nodes = np.asarray(names, dtype=str)
    start, stop, still = _ends(outages, node, end, said)
    before, after = stop < begin, start > end
    if (cut := int((before | after).sum())) and since is None and until is None:
        said.append(f"{cut} rows lie outside of the time of observation: left out.")
    keep = ~(before | after)
    outages, node, start, stop, still = outages[keep], node[keep], start[keep], stop[keep], still[keep]
    category = outages["category"].to_numpy()
    down = np.array([c.outage for c in categories.every])[category] if len(category) else np.zeros(0, bool)
    earlier, own = start < begin, np.zeros(len(start))
    low, high = np.maximum(start, begin), np.minimum(stop, end)
    within = _shared(node, low, high, down, own)
    _problems(node, low, high, down, own)
    event = ~earlier & ~(down & within) & ~outages["same"].to_numpy(bool)
    _say(
        said, down & within, outages, "begin while the system is down already: no events, only their own time"
    )
    units = _units(group, nodes, said)
    own[nodes[node] != ""] /= units  # a row that names no node is of the whole system
    return System(
        name,
        _last_text(group["description"]),
        _last(group, "parts", said),
        units,
        begin,
        end,
        start,
        high,
        own,
        category,
        event,
        nodes[node],
        still,
        bool(len(window)),
        said,
    )


def _observed(name: str, window: pd.DataFrame, outages: pd.DataFrame) -> tuple[float, float]:
    if len(window) > 1:
        raise StrataError(
            "a system is observed once",
            at=f"row {window['row'].iloc[1]}, system {name}",
            given=f"{len(window)} rows `observed`",
            allowed="one, from the first to the last day",
        )
    first = float(outages["start"].min()) if len(outages) else np.inf
    last = float(np.nanmax(np.r_[outages["start"], outages["end"]])) if len(outages) else -np.inf
    if len(window):
        start, end = float(window["start"].iloc[0]), float(window["end"].iloc[0])
        return start, last if np.isnan(end) else end
    return first, last


def _ends(outages: pd.DataFrame, node: np.ndarray, end: float, said: list[str]) -> tuple[np.ndarray, ...]:
    """Rule 2: starts, ends, and which are still open."""
    start, stop = outages["start"].to_numpy(float), outages["end"].to_numpy(float)
    unknown = np.isnan(stop)
    newest = np.zeros(len(start), bool)
    if unknown.any():
        last = np.zeros(node.max() + 1, int)
        np.maximum.at(last, node, np.arange(len(start)))  # rows are sorted by start
        newest[last] = True
        stop = np.where(unknown, np.where(newest, np.maximum(end, start), start), stop)
        _say(
            said,
            unknown & ~newest,
            outages,
            "do not end, and a later one does: events without time, so days are a lower bound",
        )
        _say(said, unknown & newest, outages, "do not end: down until observation ends")
    return start, stop, unknown & newest


def _shared(
    node: np.ndarray, low: np.ndarray, high: np.ndarray, down: np.ndarray, own: np.ndarray
) -> np.ndarray:
    """Rule 3 among outages, filled into `own`: and which begin while another one lasts."""
    within = np.zeros(len(low), bool)
    at = np.flatnonzero(down)
    if not len(at):
        return within
    order = at[np.lexsort((low[at], node[at]))]
    reached = _reached(node[order], high[order])
    within[order] = low[order] <= reached
    own[order] = np.maximum(0.0, high[order] - np.maximum(low[order], reached))
    return within


def _reached(node: np.ndarray, high: np.ndarray) -> np.ndarray:
    """How far the rows before reach on the same node, -inf for its first. Rows are sorted by node."""
    if not len(node):
        return np.zeros(0)
    base, span = high.min(), float(high.max() - high.min()) + 1.0
    lifted = (high - base) + node * span  # so that one running maximum serves all nodes
    most = np.maximum.accumulate(lifted)
    reached = np.r_[-np.inf, most[:-1] - node[1:] * span + base]
    reached[1:][node[1:] != node[:-1]] = -np.inf
    return reached


def _problems(node: np.ndarray, low: np.ndarray, high: np.ndarray, down: np.ndarray, own: np.ndarray) -> None:
    """Rule 3 for "up with problem": its time less what outages have of it."""
    at = np.flatnonzero(~down)
    if not len(at):
        return
    order = at[np.lexsort((low[at], node[at]))]
    first = np.maximum(low[order], _reached(node[order], high[order]))
    last = np.maximum(first, high[order])
    own[order] = last - first
    if down.any():
        own[order] -= _down_between(node, low, high, down, node[order], first, last)


def _down_between(
    node: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    down: np.ndarray,
    which: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """Seconds in which the node `which` is down between `first` and `last`."""
    order = np.flatnonzero(down)
    order = order[np.lexsort((low[order], node[order]))]
    reached = _reached(node[order], high[order])
    begin = np.maximum(low[order], reached)
    keep = high[order] > begin
    n, begin, stop = node[order][keep], begin[keep], high[order][keep]
    if not len(n):
        return np.zeros(len(which))
    base, span = min(begin.min(), first.min()), 1.0
    span += max(stop.max(), last.max()) - base
    starts, stops = begin - base + n * span, stop - base + n * span
    total = np.r_[0.0, np.cumsum(stops - starts)]

    def until(when: np.ndarray) -> np.ndarray:
        place = when - base + which * span
        k = np.searchsorted(starts, place, side="right")
        partly = np.where(k > 0, np.minimum(place, stops[k - 1]) - starts[k - 1], 0.0)
        return np.where(k > 0, total[k - 1] + partly, 0.0)

    return until(last) - until(first)


def _say(said: list[str], which: np.ndarray | pd.Series, outages: pd.DataFrame, what: str) -> None:
    which = np.asarray(which)
    if count := int(which.sum()):
        first = outages["row"].to_numpy()[np.flatnonzero(which)[0]]
        said.append(f"{count} {'row' if count == 1 else 'rows'} (the first is row {first}) {what}.")


def _last(group: pd.DataFrame, column: str, said: list[str]) -> int | None:
    values = group[column].dropna()
    if not len(values):
        return None
    if values.nunique() > 1:
        said.append(f"{column} is {int(values.min())} to {int(values.max())}: the last row's counts.")
    return int(values.iloc[-1])


def _last_text(texts: pd.Series) -> str:
    texts = texts[texts != ""]
    return str(texts.iloc[-1]) if len(texts) else ""


def _units(group: pd.DataFrame, nodes: np.ndarray, said: list[str]) -> int:
    """How many nodes there are: as the log says, at least as many as it names."""
    named = len([n for n in nodes if n])
    if not named:
        return 1
    given = _last(group, "units", said)
    if given is None or given < named:
        said.append(f"{named} nodes are named, and taken for all there are: the column units says how many.")
        return named
    return given
