"""Claims about small logs of jobs whose every figure was reckoned by hand, and about what was down."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from use_logs import SACCT, at, rows, sacct

from strata.centre.outages.categories import Categories
from strata.centre.outages.forms import read
from strata.centre.outages.log import Log
from strata.centre.use.analysis import Analysis, Asked, analyse, document, months

# A machine of 8 processors for 10 days from 1 January: 1920 processor-hours.
#   1  8 x 24 h = 192, waited 12 h          completed       2  4 x 48 h = 192, waited 0     failed
#   3  4 x 48 h = 192, waited 24 h          completed       4  2 x 6 h  =  12, waited 1 h   timeout
#   5  8 x 12 h =  96, waited 36 h          its node failed 6  8 x 12 h =  96, waited 0     its node failed
#   7  1 x 10 h =  10, waited 2 h           cancelled
# In all 790. Jobs 5 and 6 were not at the same time; 8 was cancelled while it waited.
SMALL = (
    SACCT
    + sacct("1", "01-01T12:00:00", "01-02T00:00:00", "01-03T00:00:00", 8, nodes=2)
    + sacct("2", "01-03T00:00:00", "01-03T00:00:00", "01-05T00:00:00", 4, "FAILED", "bob")
    + sacct("3", "01-02T00:00:00", "01-03T00:00:00", "01-05T00:00:00", 4)
    + sacct("4", "01-05T00:00:00", "01-05T01:00:00", "01-05T07:00:00", 2, "TIMEOUT", "bob")
    + sacct("5", "01-04T12:00:00", "01-06T00:00:00", "01-06T12:00:00", 8, "NODE_FAIL", nodes=2)
    + sacct("6", "01-07T00:00:00", "01-07T00:00:00", "01-07T12:00:00", 8, "NODE_FAIL", nodes=2)
    + sacct("7", "01-07T20:00:00", "01-07T22:00:00", "01-08T08:00:00", 1, "CANCELLED by 1001", "eve")
    + sacct("8", "01-07T20:00:00", "None", "01-07T21:00:00", 0, "CANCELLED by 1001", "eve")
)
TEN_DAYS = {"begin": at("01-01T00:00"), "until": at("01-11T00:00"), "parts": ((-np.inf, 8),)}


def figures(whole: Analysis) -> dict[str, float | None]:
    return {f.key: f.value for f in whole.whole.figures}


@pytest.fixture
def small(tmp_path: Path) -> Analysis:
    return analyse(rows(tmp_path, SMALL), Asked(**TEN_DAYS))


def test_every_figure_of_a_small_log(small: Analysis) -> None:
    have = figures(small)
    assert have["utilisation"] == pytest.approx(100 * 790 / 1920)
    assert have["utilisation_up"] == have["utilisation"] and have["available"] == 100
    assert have["starts"] == pytest.approx(0.7) and have["ends"] == pytest.approx(0.7)
    assert have["delivered"] == pytest.approx(79.0)
    assert have["wide"] == pytest.approx(100 * 780 / 790)  # 2 processors, a quarter, and more
    assert have["wait_mean"] == pytest.approx((12 + 0 + 24 + 1 + 36 + 0 + 2) / 7)
    assert have["wait_median"] == pytest.approx(2.0)
    assert have["wait_90"] == pytest.approx(24 + 0.4 * 12)  # of 0 0 1 2 12 24 36 the place 0.9 x 6
    slowdowns = [36 / 24, 1, 72 / 48, 7 / 6, 48 / 12, 1, 12 / 10]
    assert have["slowdown_mean"] == pytest.approx(sum(slowdowns) / 7)
    assert have["slowdown_median"] == pytest.approx(1.2)
    assert have["wasted"] == pytest.approx(100 * (192 + 12 + 96 + 96) / 790)
    assert have["between"] == pytest.approx(240 / 2)
    # Garwood's interval of 2 events: chi2 gives 0.4844 and 14.4494.
    between = small.whole.figure("between")
    assert (between.low, between.high) == pytest.approx((480 / 14.4494, 480 / 0.4844), rel=1e-4)


def test_each_day_and_month(small: Analysis) -> None:
    used = small.sums.use.used / 3600
    assert list(used) == [0, 192, 192, 192, 12, 96, 98, 8, 0, 0]
    assert small.days.days[0] == "2026-01-01" and len(small.days.days) == 10
    assert list(small.sums.starts) == [0, 1, 2, 0, 1, 1, 2, 0, 0, 0]
    (month,) = months(small)
    assert (month["month"], month["used_hours"], month["utilisation"]) == (
        "2026-01",
        790,
        pytest.approx(41.1458333),
    )
    assert small.sums.use.peak == 8


def test_widths(small: Analysis) -> None:
    have = {g.name: (g.starts, g.hours, g.wasted) for g in small.widths}
    assert have == {
        "1": (1, pytest.approx(10), 0),
        "2-3": (1, pytest.approx(12), pytest.approx(100)),
        "4-7": (2, pytest.approx(384), pytest.approx(50)),
        "8": (3, pytest.approx(384), pytest.approx(50)),
    }
    assert sum(g.share for g in small.widths) == pytest.approx(100)


def test_classes_of_ones_own_and_the_sentence_about_wide_jobs(tmp_path: Path) -> None:
    whole = analyse(rows(tmp_path, SMALL), Asked(**TEN_DAYS, wide=8, widths="1-2,8-16"))
    assert {g.name: g.starts for g in whole.widths} == {"1-2": 2, "8-16": 3, "other widths": 2}
    assert figures(whole)["wide"] == pytest.approx(100 * 384 / 790) and whole.wide == (8, 8)


def test_users_and_how_runs_ended(small: Analysis) -> None:
    users = {g.name: (g.starts, g.hours, g.wasted, g.wait) for g in small.names["user"]}
    assert users["bob"] == (2, pytest.approx(204), pytest.approx(100), pytest.approx(0.5))
    assert users["ada"] == (4, pytest.approx(576), pytest.approx(100 * 192 / 576), pytest.approx(18))
    assert [g.name for g in small.names["group"]] == ["of-ada", "of-bob", "of-eve"]
    ends = {e.kind: (e.runs, e.hours, e.node_hours) for e in small.ends}
    assert ends["node"] == (2, pytest.approx(192), pytest.approx(48))
    assert ends["completed"] == (2, pytest.approx(384), pytest.approx(24 * 2 + 48))
    assert small.still == (0, 0)


def test_what_lies_outside_of_observation_is_cut_off(tmp_path: Path) -> None:
    whole = analyse(rows(tmp_path, SMALL), Asked(at("01-02T12:00"), at("01-04T00:00"), parts=((-np.inf, 8),)))
    assert list(whole.sums.use.used / 3600) == [96, 192]
    assert figures(whole)["starts"] == pytest.approx(2 / 1.5)  # job 1 began before
    assert figures(whole)["wait_mean"] == pytest.approx(12)


def test_runs_without_an_end_last_until_observation_ends(tmp_path: Path) -> None:
    text = SMALL + sacct("9", "01-10T00:00:00", "01-10T00:00:00", "Unknown", 8, "RUNNING")
    whole = analyse(rows(tmp_path, text), Asked(**TEN_DAYS))
    assert whole.sums.use.used[-1] / 3600 == 192 and whole.still == (1, 0)
    assert figures(whole)["ends"] == pytest.approx(0.7)


def test_suspended_time_is_not_held(tmp_path: Path) -> None:
    text = SACCT + sacct("1", "01-01T00:00:00", "01-02T00:00:00", "01-03T00:00:00", 8, elapsed="43200")
    whole = analyse(rows(tmp_path, text), Asked(**TEN_DAYS))
    assert whole.sums.use.used[1] / 3600 == pytest.approx(96)


def test_jobs_that_nodes_end_at_one_moment_are_one_interrupt(tmp_path: Path) -> None:
    text = SMALL + sacct("9", "01-07T00:00:00", "01-07T11:00:00", "01-07T12:00:00", 8, "NODE_FAIL")
    whole = analyse(rows(tmp_path, text), Asked(**TEN_DAYS))
    assert figures(whole)["between"] == pytest.approx(120) and int(whole.sums.lost_jobs.sum()) == 3


def test_more_processors_in_use_than_there_are_is_said(tmp_path: Path) -> None:
    whole = analyse(rows(tmp_path, SMALL), Asked(TEN_DAYS["begin"], TEN_DAYS["until"], parts=((-np.inf, 4),)))
    assert any("Up to 8 processors" in line for line in whole.said)


def test_without_any_word_the_machine_is_what_was_in_use_at_once(tmp_path: Path) -> None:
    whole = analyse(rows(tmp_path, SMALL), Asked())
    assert whole.parts == ((-np.inf, 8),) and "most that were in use" in whole.parts_by
    assert (whole.days.begin, whole.days.end) == (at("01-02T00:00"), at("01-08T08:00"))


def test_a_machine_that_grew(tmp_path: Path) -> None:
    parts = ((-np.inf, 8), (at("01-06T00:00"), 16))
    whole = analyse(rows(tmp_path, SMALL), Asked(**{**TEN_DAYS, "parts": parts}))
    assert figures(whole)["utilisation"] == pytest.approx(100 * 790 / (5 * 192 + 5 * 384))


def outages(folder: Path, text: str, form: str | None = None) -> Log:
    path = folder / "down.csv"
    path.write_text(text if form else "system,parts,units,node,start,end,category\n" + text)
    return read([path], form, Categories(), "UTC", None)


def test_what_was_down_is_taken_into_account(tmp_path: Path) -> None:
    down = outages(
        tmp_path,
        "m,8,4,,2026-01-01,2026-01-11,observed\n"
        "m,8,4,,2026-01-01T00:00,2026-01-01T12:00,maintenance\n"  # 96 processor-hours
        "m,8,4,n1,2026-01-01T06:00,2026-01-02T00:00,hardware\n"  # 12 h of 2 beyond the first
        "m,8,4,n1,2026-01-01T18:00,2026-01-01T20:00,software\n"  # within the one before
        "m,8,4,n1,2026-01-02T00:00,2026-01-02T06:00,hardware\n"  # drained, but job 1 runs on all: up
        "m,8,4,n2,2026-01-09T00:00,2026-01-10T00:00,problem\n",  # not well, but up
    )
    whole = analyse(rows(tmp_path, SMALL), Asked(**TEN_DAYS), down, Categories())
    available = whole.sums.use.available / 3600
    assert list(available) == [192 - 96 - 24, *[192] * 9]
    assert figures(whole)["utilisation_up"] == pytest.approx(100 * 790 / 1800)
    assert figures(whole)["utilisation"] == pytest.approx(100 * 790 / 1920)
    assert figures(whole)["available"] == pytest.approx(100 * 1800 / 1920)


def test_slurms_events_of_nodes(tmp_path: Path) -> None:
    """The cluster's row says that there are 4 nodes; n1 has been down from the 9th on, and is still."""
    head = "Cluster|NodeName|TRES|TimeStart|TimeEnd|State|Reason\n"
    text = "c||billing=8,cpu=8,mem=9M,node=4|2026-01-01T00:00:00|Unknown||Cluster Registered TRES\n"
    text += "c|n1|billing=2,cpu=2|2026-01-09T00:00:00|Unknown|DOWN|Not responding\n"
    down = outages(tmp_path, head + text, "slurm")
    asked = Asked(TEN_DAYS["begin"], TEN_DAYS["until"])
    whole = analyse(rows(tmp_path, SMALL), asked, down, Categories())
    assert list(whole.sums.use.available / 3600) == [*[192] * 8, 144, 144]
    assert whole.parts_by == "the log of outages" and whole.down is not None and whole.down.units == 4
    early = analyse(rows(tmp_path, SMALL), Asked(at("01-01T00:00"), at("01-08T00:00")), down, Categories())
    assert early.down is None and figures(early)["available"] == 100  # no node was down then


def test_days_and_months_are_those_of_the_zone(tmp_path: Path) -> None:
    text = SACCT + sacct("1", "03-01T00:00:00", "03-28T00:00:00", "03-31T00:00:00", 1)
    log = rows(tmp_path, text, zone="Europe/Berlin")
    whole = analyse(log, Asked(zone="Europe/Berlin", parts=((-np.inf, 1),)))
    assert list(whole.days.length / 3600) == [24, 23, 24]  # clocks go forward on 29 March 2026
    assert whole.days.days == ["2026-03-28", "2026-03-29", "2026-03-30"]
    assert list(whole.sums.use.used) == list(whole.days.length)


def test_before_and_after_a_date(tmp_path: Path) -> None:
    lines = [SACCT]
    for day in range(1, 29):  # one job of 4 processors a day in January, of 8 in February
        for month, cores in ((1, 4), (2, 8)):
            d = f"{month:02d}-{day:02d}"
            lines.append(sacct(f"{month}{day:02d}", f"{d}T00:00:00", f"{d}T01:00:00", f"{d}T13:00:00", cores))
    asked = Asked(at("01-01T00:00"), at("03-01T00:00"), at("02-01T00:00"), parts=((-np.inf, 8),))
    whole = analyse(rows(tmp_path, "".join(lines)), asked)
    assert whole.early is not None and whole.late is not None
    assert whole.early.figure("utilisation").value == pytest.approx(100 * 28 * 48 / (31 * 192))
    assert whole.late.figure("utilisation").value == pytest.approx(50)
    said = {c.before.key: c.words for c in whole.changes}
    assert said["utilisation"] == "more" and said["wait_mean"] == "no change beyond chance"
    assert said["between"] == "too little is known"
    change = next(c for c in whole.changes if c.before.key == "utilisation")
    assert change.low is not None and change.high is not None
    assert change.low < 50 - 100 * 28 * 48 / (31 * 192) < change.high


def test_names_are_hidden(tmp_path: Path) -> None:
    whole = analyse(rows(tmp_path, SMALL), Asked(**TEN_DAYS, hide=True))
    said = str(document(whole))
    assert not any(name in said for name in ("ada", "bob", "eve", "a.out", "jobs.txt"))
    assert [g.name for g in whole.names["user"]] == ["user 1", "user 2", "user 3"]
    assert [g.name for g in whole.names["partition"]] == ["batch"]


def test_interrupts_before_and_after_are_compared_as_counts(tmp_path: Path) -> None:
    """1 in the first half and 14 in the second: 15 fall so unevenly by chance in 1 of 1000 cases."""
    ends = ["01-20", *(f"02-{d:02d}" for d in range(5, 19))]
    text = "".join(
        sacct(str(i), f"{d}T00:00:00", f"{d}T01:00:00", f"{d}T02:00:00", 8, "NODE_FAIL")
        for i, d in enumerate(ends)
    )
    asked = Asked(at("01-01T00:00"), at("03-04T00:00"), at("02-01T00:00"), parts=((-np.inf, 8),))
    whole = analyse(rows(tmp_path, SACCT + text), asked)
    said = {c.before.key: c for c in whole.changes}
    assert said["between"].words == "less"
    text = "".join(line for line in text.splitlines(True) if "-01-20T" not in line)
    whole = analyse(rows(tmp_path, SACCT + text), asked)
    assert next(c for c in whole.changes if c.before.key == "between").words == "less"
    assert (said["between"].before.value, said["between"].after.value) == (
        31 * 24,
        pytest.approx(31 * 24 / 14),
    )


def test_a_wait_begins_when_the_job_might_have_started(tmp_path: Path) -> None:
    row = sacct("1", "01-01T00:00:00", "01-02T00:00:00", "01-03T00:00:00", 8, eligible="01-01T18:00:00")
    assert figures(analyse(rows(tmp_path, SACCT + row), Asked(**TEN_DAYS)))["wait_mean"] == pytest.approx(6)


def test_many_users_are_those_with_most_hours_and_all_others(tmp_path: Path) -> None:
    text = "".join(
        sacct(str(i), "01-01T00:00:00", "01-02T00:00:00", "01-03T00:00:00", i, user=f"u{i}")
        for i in range(1, 41)
    )
    whole = analyse(rows(tmp_path, SACCT + text), Asked(TEN_DAYS["begin"], TEN_DAYS["until"]))
    users = whole.names["user"]
    assert [g.name for g in users] == [*(f"u{i}" for i in range(40, 15, -1)), "all others (15)"]
    assert users[-1].starts == 15 and sum(g.share for g in users) == pytest.approx(100)
