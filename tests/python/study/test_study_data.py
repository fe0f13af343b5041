"""Claims about the table of samples: what other programs read is what was measured, marked as it was."""

from __future__ import annotations

import csv
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import busy_record, plan, record, result

from strata.errors import StrataError
from strata.measure import index, store
from strata.measure.journal import encode
from strata.measure.plan import Plan
from strata.measure.store import Sample
from strata.study import data

REASON = {"code": "others-share", "value": 0.5, "limit": 0.02, "text": "others used 50 %"}
PRESSED = {"code": "cpu-pressure", "value": 0.9, "limit": 0.1, "text": "it waited"}
AFTER = ["block", "attempt", "time", "good", "tainted", "failed", "wall_s", "figure", "value", "unit"]


def sample(task: str, second: int, block: int = 1, **changes: Any) -> Sample:
    at = f"2026-01-01T00:00:{second:02d}.000Z"
    made = Sample(f"{task}/1x1/core/s1", block, 0, at, record(), result(float(second)), (), None, {})
    return replace(made, **changes)


def folder_of(path: Path, *samples: Sample) -> Path:
    """A results folder of two programs whose labels differ, with these samples."""
    base = plan(["a", "b"])
    labels = ({"program": "a", "n": "1", "setting": "pinned"}, {"program": "b", "setting": 'a, "free" one'})
    shape = ({"layout": "2x4", "stride": 2, "bind": "none"}, {})
    tasks = [replace(t, labels=said, **s) for t, said, s in zip(base.tasks, labels, shape, strict=True)]
    made: Plan = replace(base, tasks=tuple(tasks), kind="study")
    opened = store.create(path, made, {"schema": "strata.machine/1"}, {"schema": "strata.provenance/1"})
    for one in samples:
        opened.add(one)
    opened.close()
    return path


def mixed(path: Path) -> Path:
    """One of each: a warm-up, a good one, disturbed by two reasons, failed, without figures."""
    two = {**result(3.5), "figures": [*result(3.5)["figures"], {"name": "rate", "value": 7, "unit": None}]}
    return folder_of(
        path,
        sample("a", 1, block=0),
        sample("a", 2, result=two),
        sample("b", 3, record=busy_record(), tainted=(REASON, PRESSED)),
        sample("a", 4, record=record(exit_code=3), result=None, failed='exit code 3: no\nroom for "it"'),
        sample("b", 5, block=2, record=record(wall_s=0.25), result=None),
    )


def test_a_row_for_each_figure_of_each_launch_marked_as_it_was(tmp_path: Path) -> None:
    table = data.columns(mixed(tmp_path))
    place = ["layout", "processes", "threads", "stride", "bind"]
    assert list(table) == ["task", "program", "n", "setting", *place, *AFTER]
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    assert [(r["figure"], r["value"], r["unit"]) for r in rows] == [
        ("triad", 1.0, "GB/s"),
        ("triad", 3.5, "GB/s"),
        ("rate", 7.0, None),
        ("triad", 3.0, "GB/s"),
        (None, None, None),  # failed: it has no figure, also no wall time
        ("wall", 0.25, "s"),
    ]
    assert [r["block"] for r in rows] == [0, 1, 1, 1, 1, 2]
    assert [r["good"] for r in rows] == [True, True, True, False, False, True]
    assert [r["tainted"] for r in rows] == ["", "", "", "others-share;cpu-pressure", "", ""]
    assert rows[4]["failed"].startswith("exit code 3") and rows[5]["failed"] is None
    assert rows[0] | {"n": "1", "layout": "2x4", "processes": 2, "threads": 4, "stride": 2} == rows[0]
    assert rows[3]["n"] is None and rows[3]["setting"] == 'a, "free" one' and rows[3]["bind"] == "core"


def test_rows_are_in_the_order_of_time_whoever_measured_them(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, sample("a", 5), sample("b", 1, result=None), sample("a", 3))
    other = store.open_existing(folder)  # a second process has a journal of its own
    other.add(sample("b", 2))
    other.add(sample("b", 4, result=None))
    other.close()
    table = data.columns(folder)
    assert [at[17:19] for at in table["time"]] == ["01", "02", "03", "04", "05"]
    assert table["value"] == [1.0, 2.0, 3.0, 1.0, 5.0]
    assert table["figure"] == ["wall", "triad", "triad", "wall", "triad"]
    assert [task[0] for task in table["task"]] == ["b", "b", "a", "b", "a"]


def read_csv(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_csv_comes_back_from_its_reader(tmp_path: Path) -> None:
    table = data.columns(mixed(tmp_path / "r"))
    rows = read_csv(data.write(table, "csv", tmp_path / "x.csv"))
    assert list(rows[0]) == list(table) and len(rows) == 6
    for name, column in table.items():
        assert [row[name] for row in rows] == ["" if v is None else str(v) for v in column]


def test_json_comes_back_from_its_reader(tmp_path: Path) -> None:
    table = data.columns(mixed(tmp_path / "r"))
    whole = json.loads(data.write(table, "json", tmp_path / "x.json").read_text())
    assert whole["schema"] == "strata.samples/1" and whole["columns"] == list(table)
    assert whole["rows"] == [list(row) for row in zip(*table.values(), strict=True)]


def test_parquet_and_a_dataframe_come_back_with_their_types(tmp_path: Path) -> None:
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    folder = mixed(tmp_path / "r")
    table = data.columns(folder)
    path = data.export(folder, "parquet", tmp_path / "x.parquet")
    assert parquet.read_table(path).to_pydict() == table
    frame = data.frame(folder)
    assert frame["time"].iloc[0] == pandas.Timestamp("2026-01-01T00:00:01Z")
    assert frame[frame["good"] & (frame["block"] > 0)]["value"].tolist() == [3.5, 7.0, 0.25]
    assert list(data.frame(table)) == list(frame) == list(table)


@pytest.mark.parametrize("form", data.FORMATS)
def test_a_folder_without_samples_is_a_table_without_rows(tmp_path: Path, form: str) -> None:
    folder = folder_of(tmp_path / "r")
    table = data.columns(folder)
    assert not any(table.values()) and list(table)[-len(AFTER) :] == AFTER
    path = data.export(folder, form, tmp_path / f"x.{form}")
    assert path is not None
    if form == "csv":
        assert path.read_text() == ",".join(table) + "\n"
    elif form == "json":
        assert json.loads(path.read_text())["rows"] == []
    else:
        assert pytest.importorskip("pyarrow.parquet").read_table(path).num_rows == 0
    assert len(data.frame(folder)) == 0


def test_what_cannot_be_exported_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    folder = mixed(tmp_path / "r")
    with pytest.raises(StrataError, match="unknown format"):
        data.export(folder, "xls", tmp_path / "x.xls")
    with pytest.raises(StrataError, match="no text"):
        data.export(folder, "parquet", None)
    with pytest.raises(StrataError) as caught:
        data.export(folder, "csv", tmp_path / "nowhere" / "x.csv")
    assert "nowhere" in str(caught.value) and caught.value.code == 1
    with pytest.raises(StrataError, match="there is no such folder"):
        data.export(tmp_path / "nothing", "csv", tmp_path / "x.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["r"]


# -- the index below it ------------------------------------------------------------------------------------


def journal_of(folder: Path) -> Path:
    (path,) = (folder / "journal").glob("*.jsonl")
    return path


def test_a_torn_last_line_is_no_sample_until_it_is_whole(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, sample("a", 1), sample("a", 2))
    path = journal_of(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert data.columns(folder)["value"] == [1.0]
    path.write_bytes(whole)
    assert data.columns(folder)["value"] == [1.0, 2.0]


def test_only_what_was_appended_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, *(sample("a", n) for n in (1, 2, 3)))
    read: list[int] = []
    original = index.read_journal

    def counted(*given: Any) -> Any:
        for line in original(*given):
            read.append(line.number)
            yield line

    monkeypatch.setattr(index, "read_journal", counted)
    assert data.columns(folder)["value"] == [1.0, 2.0, 3.0] and read == [1, 2, 3, 4]
    assert data.columns(folder)["value"] == [1.0, 2.0, 3.0] and read == [1, 2, 3, 4]
    with journal_of(folder).open("ab") as stream:
        stream.write(encode(sample("a", 4).to_dict()))
    assert data.columns(folder)["value"] == [1.0, 2.0, 3.0, 4.0] and read == [1, 2, 3, 4, 5]


def test_what_is_appended_while_the_index_reads_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path, sample("a", 1))
    original = index._whole

    def then_grows(path: Path) -> int:
        size = original(path)
        with path.open("ab") as stream:
            stream.write(encode(sample("a", 2).to_dict()))
        return size

    with monkeypatch.context() as patched:
        patched.setattr(index, "_whole", then_grows)
        assert data.columns(folder)["value"] == [1.0]
    assert data.columns(folder)["value"] == [1.0, 2.0]
    lines = sqlite3.connect(folder / index.NAME).execute("SELECT line FROM sample ORDER BY line")
    assert [line for (line,) in lines] == [2, 3]


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, sample("a", 1))
    data.columns(folder)
    with sqlite3.connect(folder / index.NAME) as connection:
        connection.execute("UPDATE figure SET value = 99")
        connection.execute("ALTER TABLE sample DROP COLUMN failed")
        connection.execute(f"PRAGMA user_version = {index._VERSION - 1}")
    connection.close()
    assert data.columns(folder)["value"] == [1.0]
    version = sqlite3.connect(folder / index.NAME).execute("PRAGMA user_version").fetchone()
    assert version == (index._VERSION,)


def test_more_samples_than_are_inserted_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_AT_ONCE", 3)
    folder = folder_of(
        tmp_path, *(sample("a" if n % 2 else "b", n, tainted=(REASON,) * (n == 5)) for n in range(8))
    )
    table = data.columns(folder)
    assert table["value"] == [float(n) for n in range(8)]
    assert [n for n, why in enumerate(table["tainted"]) if why] == [5]


def test_a_damaged_line_is_one_error_and_the_index_keeps_what_it_had(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, sample("a", 1))
    data.columns(folder)
    path = journal_of(folder)
    path.write_bytes(path.read_bytes() + encode(sample("a", 2).to_dict()).replace(b'"block":1', b'"block":9'))
    before = path.read_bytes()
    with pytest.raises(StrataError) as caught:
        data.columns(folder)
    assert f"{path}:3" in str(caught.value) and "nothing was changed" in str(caught.value)
    assert path.read_bytes() == before
    rows = sqlite3.connect(folder / index.NAME).execute("SELECT value FROM figure").fetchall()
    assert rows == [(1.0,)]
