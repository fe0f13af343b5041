"""Counters of errors that grow: of InfiniBand's links, of memory, and of cores that were too warm.

What grew between the newest two runs of a node counts (all of a counter that was reset, or of a node that
booted). An uncorrected error of memory and a link that went down are findings by themselves. Of other errors
a few an hour are nothing: a node is named where it has MOST_AN_HOUR or more, and ten times as many as the
0.9 quantile of the other nodes. Ten symbol errors an hour is what InfiniBand's own tools allow a link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.centre.fleet.fleet import Fleet

MOST_AN_HOUR = 10.0
AT_ONCE = {"memory uncorrected": "uncorrected errors of memory", "link link_downed": "times a link went down"}
RATES = {
    "link symbol_error": "symbol errors of links",
    "link link_error_recovery": "recoveries of links",
    "link port_rcv_errors": "errors of received packets",
    "link local_link_integrity_errors": "integrity errors of links",
    "link port_rcv_remote_physical_errors": "packets marked bad at the other end",
    "link excessive_buffer_overrun_errors": "buffer overruns of links",
    "memory corrected": "corrected errors of memory",
    "core throttled": "times that cores were slowed down for heat",
}
_TIMES, _QUANTILE = 10.0, 0.9


@dataclass(frozen=True)
class Errors:
    """`count` in `hours`; `where`: the port that had the most, where it is known."""

    node: int
    counter: str
    count: int
    hours: float
    where: str

    @property
    def words(self) -> str:
        what = AT_ONCE.get(self.counter) or RATES[self.counter]
        where = f" ({self.where})" if self.where else ""
        return f"{self.count} {what}{where} in {self.hours:.0f} h"


def errors(fleet: Fleet) -> list[Errors]:
    newest = fleet.newest()
    before = np.where((newest > 0) & (fleet.node[newest - 1] == fleet.node[newest]), newest - 1, -1)
    found = []
    for counter in (*AT_ONCE, *RATES):
        if counter not in fleet.counters:
            continue
        grown, hours = _grown(fleet, fleet.counters[counter], newest, before)
        if counter in AT_ONCE:
            named = grown > 0
        else:
            rate = grown / hours
            usual = np.nanquantile(rate, _QUANTILE) if np.isfinite(rate).any() else 0.0
            named = rate >= max(MOST_AN_HOUR, _TIMES * float(usual))
        for i in np.flatnonzero(named):
            where = _where(fleet, counter, int(newest[i]))
            found.append(Errors(int(fleet.node[newest[i]]), counter, int(grown[i]), float(hours[i]), where))
    return found


def _grown(
    fleet: Fleet, values: np.ndarray, newest: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """By how much, and in how many hours."""
    now = values[newest]
    past = np.where(before >= 0, values[before], np.nan)
    again = np.isnan(past) | (fleet.booted[newest] > fleet.time[np.maximum(before, 0)] + 1) | (past > now)
    begin = np.where(again, fleet.booted[newest], fleet.time[np.maximum(before, 0)])
    grown = np.where(again, now, now - np.nan_to_num(past))
    return grown, np.maximum((fleet.time[newest] - begin) / 3600.0, 1.0 / 60)


def _where(fleet: Fleet, counter: str, run: int) -> str:
    kind, _, name = counter.partition(" ")
    ports = {
        key.split(" ")[1]: values[run]
        for key, values in fleet.counters.items()
        if key.startswith(f"{kind} ") and key.endswith(f" {name}") and key.count(" ") == 2 and values[run] > 0
    }
    return max(ports, key=lambda p: ports[p]) if ports and kind == "link" else ""
