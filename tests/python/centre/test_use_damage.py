"""Claims about damaged logs of jobs: refused with row and reason, or left out and counted."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from use_logs import SACCT, at, rows, sacct, swf

from strata.centre.jobs import forms, text
from strata.errors import StrataError

GOOD = sacct("1", "01-01T00:00:00", "01-02T00:00:00", "01-02T12:00:00", 4)
NAMED = "JobID|JobName|Start|End|State|NCPUS\n"
BACKWARDS = sacct("2", "01-01T00:00:00", "01-02T00:00:00", "01-01T12:00:00", 4)


@pytest.mark.parametrize(
    ("name", "log", "message", "at"),
    [
        ("a.txt", SACCT + GOOD + BACKWARDS, "ends before it starts", "row 3, End"),
        ("a.txt", SACCT + GOOD + GOOD[:-20], "the file ends within a row", "row 3"),
        ("a.txt", SACCT + GOOD + "1|2\n" + GOOD, "a row has 2 cells, the header 14", "row 3"),
        ("a.txt", f"{NAMED}1|a|b|2026-01-02|2026-01-03|COMPLETED|4\n", "a row has 7 cells", "row 2"),
        ("a.txt", SACCT + GOOD + GOOD[:-1] + GOOD, "a row has 27 cells", "row 3"),
        (
            "a.txt",
            SACCT + GOOD.replace("a.out", "a|b") + "1|2\n",
            "a row has 2 cells, the header 14",
            "row 3",
        ),
        ("a.txt", SACCT + GOOD.replace("a.out", "a|\x01"), "a name with a control character", "row 2"),
        ("a.txt", SACCT + GOOD.replace("2026-01-02T00", "yesterday T00"), "not a time", "row 2, Start"),
        ("a.txt", SACCT + GOOD.replace("COMPLETED", "EXPLODED"), "unknown state", "row 2, State"),
        ("a.txt", SACCT + GOOD.replace("|4|1|", "|-4|1|"), "negative number", "row 2, processors"),
        ("a.txt", SACCT + GOOD.replace("|4|1|", "|0|1|"), "ran on no processor", "row 2, processors"),
        ("a.txt", "JobID|Start|End|State\n", "not a table of `sacct -P`", "row 1"),
        ("a.txt", SACCT + "1.0|" + "|" * 12 + "\n", "no job in the log", "a.txt"),
        ("a.txt", "hello\n", "not a log of jobs", "row 1"),
        ("a.txt", "", "not a log of jobs", "row 1"),
        (
            "a.swf",
            swf(1, 0, 0, 9, 4) + swf(2, 0, 0, -9, 4),
            "a negative duration",
            "row 2, field 4 (run time)",
        ),
        ("a.swf", "; x\n" + swf(1, 0, -7, 9, 4), "a negative duration", "row 2, field 3 (wait time)"),
        ("a.swf", swf(1, 0, 0, 9, 4) + "2 0 0 9 4 -1 -1", "ends within a row: a row has 7 fields", "row 2"),
        ("a.swf", swf(1, 0, 0, 9, 4).replace("4", "four", 1), "field 5 is no number", "row 1"),
        ("a.swf", "; MaxProcs: many\n" + swf(1, 0, 0, 9, 4), "not a number", "header MaxProcs"),
        ("a.swf", "; only comments\n", "no job in the log", "a.swf"),
        (
            "20260102",
            "01/02/2026 00:00:00;E;1.s;user=a start=1767225600\n",
            "record E without end",
            "row 1, end",
        ),
        ("20260102", "01/02/2026 00:00:00;S;1.s;user=a\nfoo\n", "not a record", "row 2"),
        ("20260102", "13/02/2026 00:00:00;S;1.s;user=a\n", "not a date", "row 1, date"),
    ],
)
def test_damage_is_refused_with_its_row(tmp_path: Path, name: str, log: str, message: str, at: str) -> None:
    with pytest.raises(StrataError, match=message.replace("(", r"\(")) as refused:
        rows(tmp_path, log, name)
    assert str(refused.value.at).endswith(at)


def test_damaged_rows_are_left_out_and_counted_where_that_is_asked_for(tmp_path: Path) -> None:
    found = rows(tmp_path, SACCT + GOOD + BACKWARDS + BACKWARDS, lenient=True)
    assert list(found.key) == [1]
    assert found.said == ["2 rows (the first is row 3) left out: a job that ends before it starts (End)."]
    found = rows(
        tmp_path, swf(1, 0, 0, 9, 4) + swf(2, 0, 0, -9, 4) + swf(3, 0, 0, 9, 4), "a.swf", lenient=True
    )
    assert list(found.key) == [1, 3]
    pbs = "01/02/2026 00:00:00;S;1.s;user=a start=1767225600 exec_host=n/0\n"
    pbs += "foo\n01/02/2026 00:00:00;E;2.s;user=a start=1767225600 exec_host=n/0\n"
    found = rows(tmp_path, pbs, "20260102", lenient=True)
    assert (list(found.key), len(found.said)) == ([1], 2)
    found = rows(tmp_path, SACCT + GOOD.replace("02T12:00:00||", "02T12:00:00|-5|") + GOOD, lenient=True)
    assert found.said[0].startswith("1 row (the first is row 2) left out: not a duration")


def test_another_encoding_and_zero_bytes(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_bytes((SACCT + GOOD + GOOD.replace("ada", "jörg")).encode("latin-1"))
    with pytest.raises(StrataError, match="not in UTF-8") as refused:
        forms.read([path], None, "UTC")
    assert str(refused.value.at).endswith("row 3") and "iconv" in str(refused.value.remedy)
    path.write_bytes((SACCT + GOOD).encode() + bytes(512))
    with pytest.raises(StrataError, match="zero bytes") as refused:
        forms.read([path], None, "UTC")
    assert str(refused.value.at).endswith("row 3")


def test_a_gzipped_log_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.swf.gz"
    path.write_bytes(gzip.compress("".join(swf(i, i, 0, 9, 4) for i in range(5000)).encode())[:-2000])
    with pytest.raises(StrataError, match="cut short"):
        forms.read([path], None, "UTC")
    path.write_bytes(b"no gzip")
    with pytest.raises(StrataError, match="cannot read the log"):
        forms.read([path], None, "UTC")


def test_a_time_that_never_was(tmp_path: Path) -> None:
    line = "1|2026-03-29T02:30:00|2026-03-29T04:00:00|COMPLETED|4\n"
    with pytest.raises(StrataError, match="never was") as refused:
        rows(tmp_path, "JobID|Start|End|State|NCPUS\n" + line, zone="Europe/Berlin")
    assert str(refused.value.at).endswith("row 2, Start")


def test_rows_are_found_in_later_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log is parsed a block at a time; damage in a later one has the number of its own row."""
    monkeypatch.setattr(text, "BLOCK", 300)
    whole = SACCT + "".join(
        sacct(str(i), "01-01T00:00:00", "01-02T00:00:00", "01-02T12:00:00", 4) for i in range(40)
    )
    assert len(rows(tmp_path, whole)) == 40
    with pytest.raises(StrataError) as refused:
        rows(tmp_path, whole + BACKWARDS + GOOD)
    assert str(refused.value.at).endswith("row 42, End")
    with pytest.raises(StrataError) as refused:
        rows(
            tmp_path, "; c\n" + "".join(swf(i, i, 0, 9, 4) for i in range(40)) + swf(1, 0, 0, -2, 1), "a.swf"
        )
    assert str(refused.value.at).endswith("row 42, field 4 (run time)")
    assert at("01-02T00:00") == rows(tmp_path, whole).start[-1]
