"""Claims about the Origin2000's published totals: a log that has them gives its tables cell by cell, and the
cells that contradict each other are named.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from strata.centre.outages.categories import Categories
from strata.centre.outages.forms import read
from strata.centre.reliability import published
from strata.centre.reliability.analysis import Analysis, Asked, analyse
from strata.centre.reliability.command import generate
from strata.errors import StrataError

TOTALS = Path(__file__).parents[3] / "cases" / "centre" / "origin2000_outages.csv"
SINCE = 933465600.0  # 1999-08-01

# By hand: its rows give sunrise 16+8+4+3 = 31 and 16+8 = 24 events, with which its MTTI agree; 807.18 / 46 =
# 17.55, 526.47 / 54 = 9.75; 4.35 / 976.52 = 0.45 %, 5.77 / 372.62 = 1.549 %, 576.36 / 584.86 = 98.547 %.
CONTRADICTED = {
    ("1", "sunrise", "Total All Unsched Outages", "events", "146", "31"),
    ("1", "sunrise", "Total of HW/SW Outages", "events", "134", "24"),
    ("1", "hopper", "Total of HW/SW Outages", "mtti_days", "17.6", "17.5"),
    ("1", "eagle", "Total of All Outages", "mtti_days", "9.8", "9.7"),
    ("1", "jimpf0", "Sched Dedicated Time", "percent_time", "0.5", "0.4"),
    ("1", "sunrise", "Sched Facility Shutdown", "percent_time", "1.6", "1.5"),
    ("1", "kalnay", "System up without problem", "percent_time", "98.6", "98.5"),
    ("1 text", "vn", "Total of HW/SW Outages", "mtti_days", "14.55", "15.93"),
    ("1 text", "eagle", "Total of HW/SW Outages", "mtti_days", "29.9", "31.0"),
    ("1 text", "steger", "Total of HW/SW Outages", "mtti_days", "9.27", "9.40"),
    ("2 text", "vn", "Total of HW/SW Outages", "mtti_days", "14.9", "15.0"),
    ("2 text", "steger", "Total of HW/SW Outages", "mtti_days", "21.7", "21.8"),
}


def as_set(found: list[published.Difference]) -> set[tuple[str, ...]]:
    return {(d.table, d.system, d.category, d.figure, d.printed, d.found) for d in found}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    path = tmp_path_factory.mktemp("log") / "log.csv"
    generate(TOTALS, "1999-08-01", path)
    log = read([path], None, Categories(), "UTC", None)
    return analyse(log, Categories(), Asked(since=SINCE, published=TOTALS))


def test_each_cell_is_as_printed_but_for_those_that_are_contradicted(whole: Analysis) -> None:
    printed = published.read(TOTALS)
    cells = sum(bool(text) for row in printed for text in row.cells.values())
    assert whole.compared >= cells > 600
    assert as_set(whole.differences) == CONTRADICTED
    assert all(d.contradicts for d in whole.differences)


def test_what_contradicts_itself_is_found_without_a_log() -> None:
    assert as_set(published.contradictions(published.read(TOTALS))) == CONTRADICTED


def test_a_generated_log_says_so(whole: Analysis) -> None:
    assert "never were" in whole.log.generated


def test_a_changed_cell_is_seen(tmp_path: Path) -> None:
    text = TOTALS.read_text()
    row = "1,vn,16p C90,Hardware Outage,4.76,0.8,23,25.6"
    assert row in text
    changed = tmp_path / "totals.csv"
    changed.write_text(text.replace(row, "1,vn,16p C90,Hardware Outage,4.76,0.8,24,25.6"))
    found = as_set(published.contradictions(published.read(changed))) - CONTRADICTED
    assert ("1", "vn", "Hardware Outage", "mtti_days", "25.6", "24.6") in found
    assert ("1", "vn", "Total of HW/SW Outages", "events", "37", "38") in found


HEAD = ",".join(published.HEAD) + "\n"
ROW = "1,vn,16p C90,Hardware Outage,4.76,0.8,23,25.6\n"


@pytest.mark.parametrize(
    ("data", "at", "given"),
    [
        (f"# printed in 2000\n{HEAD}\n{ROW}{ROW.replace('23', 'nan')}", ": row 5, column events", "nan"),
        (f"# printed in 2000\n{ROW}", ": row 2", ROW.strip()),
        (HEAD + ROW * 1000 + "1,\xff", "", "byte 0xff in line 1002 is no text in UTF-8"),
        (HEAD + "a" * 200_000, "", "field larger than field limit (131072)"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path: Path, data: str, at: str, given: str) -> None:
    path = tmp_path / "totals.csv"
    path.write_bytes(data.encode("latin-1"))
    with pytest.raises(StrataError) as refused:
        published.read(path)
    assert (refused.value.at, refused.value.given) == (f"{path}{at}", given)
