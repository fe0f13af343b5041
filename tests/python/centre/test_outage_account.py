"""Claims about a small log whose figures were reckoned by hand, and about each rule for messy rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from strata.centre.outages.categories import Categories
from strata.centre.outages.history import DAY, System, histories
from strata.centre.outages.log import Log
from strata.centre.reliability.account import Account, account, interrupts
from strata.centre.reliability.uptimes import NODE, SYSTEM, between, up_times

CATEGORIES = Categories()
# 100 days, 1 January to 11 April 2026. Hardware 12 h and 36 h, software 6 h, network 3 h, maintenance 24 h,
# one problem of 48 h of which the second hardware outage takes 12.
SMALL = """\
a,64,2026-01-01,2026-04-11,observed,
a,64,2026-01-11T00:00,2026-01-11T12:00,hardware,
a,64,2026-02-10T06:00,2026-02-10T12:00,software,
a,64,2026-02-20T00:00,2026-02-20T03:00,Network Caused Outage,
a,64,2026-03-01T00:00,2026-03-02T00:00,maintenance,
a,64,2026-03-10T12:00,2026-03-12T00:00,hardware,
a,64,2026-03-09T00:00,2026-03-11T00:00,problem,
"""


def rows(found: Account) -> dict[str, tuple[float, float | None, int | None, float | None]]:
    return {r.title: (r.days, r.percent, r.events, r.mtti) for r in found.rows}


def test_every_figure_of_a_small_log(system: Callable[..., System]) -> None:
    found = account(system(SMALL), CATEGORIES)
    have = rows(found)
    assert have["Hardware Outage"] == pytest.approx((2.0, 2.0, 2, 50.0))
    assert have["Software Outage"] == pytest.approx((0.25, 0.25, 1, 100.0))
    assert have["Network Caused Outage"] == pytest.approx((0.125, 0.125, 1, 100.0))
    assert have["Sched Preventative Maint"] == pytest.approx((1.0, 1.0, 1, 100.0))
    assert have["System up with problem"] == pytest.approx((1.5, 1.5, 1, 100.0))
    assert have["System up without problem"][:2] == pytest.approx((95.125, 95.125))
    assert have["Total of All Outages"][2:] == (5, 20.0)
    assert have["Total All Unsched Outages"][2:] == (4, 25.0)
    assert have["Total of HW/SW Outages"][2:] == (3, pytest.approx(100 / 3))
    assert found.available == pytest.approx(1 - 3.375 / 100)
    assert "Cause Unknown" not in have
    # Garwood's interval of 3 events: chi2 gives 0.6187 and 8.7673.
    row = found.row("Total of HW/SW Outages")
    assert (row.low, row.high) == pytest.approx((100 / 8.7673, 100 / 0.6187), rel=1e-4)


def test_interrupts_are_those_that_count_for_the_mtti(system: Callable[..., System]) -> None:
    assert interrupts(system(SMALL), CATEGORIES) == pytest.approx([10.0, 40.25, 68.5])


def test_up_times_are_from_end_to_start_without_other_outages(system: Callable[..., System]) -> None:
    found = up_times(system(SMALL), CATEGORIES)
    # From the end of 11 January 12:00 to 10 February 06:00; then less 3 hours of the network and a day of
    # maintenance; the last, from 12 March on, is not over.
    assert found.of == SYSTEM
    assert found.complete == pytest.approx([29.75, 28.0 - 0.125 - 1.0])
    assert found.censored == pytest.approx([30.0])
    starts = between(interrupts(system(SMALL), CATEGORIES), 100.0)
    assert starts.complete == pytest.approx([30.25, 28.25]) and starts.censored == pytest.approx([31.5])


def test_up_times_of_a_system_of_nodes_are_each_nodes(system: Callable[..., System]) -> None:
    text = """\
system,parts,node,start,end,category
c,8,n1,2026-01-11,2026-01-12,hardware
c,8,n2,2026-01-11T12:00,2026-01-13,hardware
c,8,n1,2026-01-21,2026-01-22,hardware
c,8,n1,2026-01-21T12:00,2026-01-23,software
c,8,,2026-01-25,2026-01-27,maintenance
c,8,,2026-01-28,2026-01-29,software
c,8,n1,2026-01-29,2026-01-30,hardware
c,8,n2,2026-01-28T12:00,2026-02-02,hardware
c,8,,2026-01-01,2026-02-10,observed
"""
    found = up_times(system(text), CATEGORIES)
    # n1: 12 to 21 January; 23 to 29 less two days of maintenance and one of the whole system's panic; then up
    # to 10 February. n2: 13 to 28 January, less the same and the half day that it shares with the panic.
    assert found.of == NODE
    assert found.complete == pytest.approx([9.0, 6.0 - 3.0, 15.5 - 2.5])
    assert found.censored == pytest.approx([11.0, 8.0])


def test_since_cuts_time_but_counts_no_outage_that_had_begun(log: Callable[..., Log]) -> None:
    (one,) = histories(log(SMALL), CATEGORIES, since=1773252000.0)  # 2026-03-11T18:00
    have = rows(account(one, CATEGORIES))
    assert one.period == pytest.approx(30.25)
    assert have["Hardware Outage"][0::2] == (pytest.approx(0.25), 0)


def test_a_row_that_is_there_twice_counts_once(system: Callable[..., System]) -> None:
    twice = system(SMALL + "a,64,2026-01-11T00:00,2026-01-11T12:00,hardware,again\n")
    assert rows(account(twice, CATEGORIES)) == rows(account(system(SMALL), CATEGORIES))
    assert twice.said == ["1 row (the first is row 9) there twice: counted once."]


def test_the_newest_outage_without_an_end_lasts(system: Callable[..., System]) -> None:
    one = system(SMALL + "a,64,2026-04-10T00:00,,software,\n")
    have = rows(account(one, CATEGORIES))
    assert have["Software Outage"][0::2] == (pytest.approx(1.25), 2)
    assert int(one.open.sum()) == 1 and "down until observation ends" in one.said[0]


def test_a_forgotten_end_is_an_event_without_time(system: Callable[..., System]) -> None:
    one = system(SMALL + "a,64,2026-01-20T00:00,,software,\n")
    assert rows(account(one, CATEGORIES))["Software Outage"][0::2] == (pytest.approx(0.25), 2)
    assert "lower bound" in one.said[0]


def test_time_is_of_the_outage_that_began_first_and_the_other_is_no_event(
    system: Callable[..., System],
) -> None:
    one = system(
        SMALL
        + "a,64,2026-01-11T06:00,2026-01-11T18:00,software,\na,64,2026-01-11T07:00,2026-01-11T08:00,nfs,\n"
    )
    have = rows(account(one, CATEGORIES))
    assert have["Hardware Outage"][0::2] == (pytest.approx(2.0), 2)
    assert have["Software Outage"][0::2] == (pytest.approx(0.5), 1)  # 6 h more, no event
    assert have["NFS Caused Outage"][0::2] == (0.0, 0)
    assert "2 rows (the first is row 9) begin while the system is down already" in one.said[0]


def test_an_outage_of_one_node_of_four_takes_a_quarter(system: Callable[..., System]) -> None:
    one = system(
        "system,units,node,start,end,category\n"
        "a,4,,2026-01-01,2026-01-11,observed\n"
        "a,4,n1,2026-01-02,2026-01-04,hardware\n"
        "a,4,n2,2026-01-03,2026-01-04,hardware\n"  # overlaps n1's, which is another node
        "a,4,,2026-01-08,2026-01-09,software\n"  # all of them
    )
    have = rows(account(one, CATEGORIES))
    assert have["Hardware Outage"][0::2] == (pytest.approx(0.75), 2)
    assert have["Software Outage"][0::2] == (pytest.approx(1.0), 1)


def test_the_rules_on_many_rows_agree_with_marking_each_minute(system: Callable[..., System]) -> None:
    random = np.random.default_rng(5)
    begin, minutes = 1767225600, 20000  # 2026-01-01
    lines, marks = [], np.full((3, minutes), -1)
    starts = np.sort(random.choice(minutes - 500, 300, replace=False))
    names = CATEGORIES.keys
    spans = []
    for start in starts:
        node, kind, length = random.integers(3), random.integers(len(names)), random.integers(1, 400)
        lines.append(f"a,3,n{node},{begin + start * 60},{begin + (start + length) * 60},{names[kind]}")
        spans.append((node, start, start + length, kind))
    for outage in (True, False):  # outages first, each minute to the one that began first
        for node, start, stop, kind in spans:
            if CATEGORIES.every[kind].outage == outage:
                part = marks[node, start:stop]
                part[part < 0] = kind
    head = f"system,units,node,start,end,category\na,3,,{begin},{begin + minutes * 60},observed\n"
    found = rows(account(system(head + "\n".join(lines) + "\n"), CATEGORIES))
    for kind, one in enumerate(CATEGORIES.every):
        expected = (marks == kind).sum() * 60 / DAY / 3
        assert found.get(one.title, (0.0,))[0] == pytest.approx(expected, abs=1e-6), one.key
