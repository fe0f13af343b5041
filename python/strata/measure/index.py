"""An SQLite index over the journals: fast to ask, safe to lose.

The journals are the truth. The index remembers how far it has read each of them; when that does not fit (a
journal shrank, the index is damaged, another version wrote it) it is rebuilt. Where the folder cannot hold a
database (read-only, NFS without locks) the index lives in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from strata.measure.journal import Line, read_journal
from strata.measure.store import SAMPLE, Sample, sample_from

NAME = "index.sqlite"
_VERSION = 2
_TABLES = """
CREATE TABLE journal (path TEXT PRIMARY KEY, size INTEGER NOT NULL, lines INTEGER NOT NULL);
CREATE TABLE sample (id INTEGER PRIMARY KEY, task TEXT NOT NULL, block INTEGER NOT NULL,
    attempt INTEGER NOT NULL, time TEXT NOT NULL, wall_s REAL, good INTEGER NOT NULL, failed TEXT,
    journal TEXT NOT NULL, line INTEGER NOT NULL, UNIQUE (journal, line));
CREATE TABLE taint (sample INTEGER NOT NULL REFERENCES sample, code TEXT NOT NULL, value REAL, allowed REAL,
    text TEXT NOT NULL);
CREATE TABLE figure (sample INTEGER NOT NULL REFERENCES sample, name TEXT NOT NULL, value REAL NOT NULL,
    unit TEXT);
CREATE INDEX sample_task ON sample (task);
CREATE INDEX figure_name ON figure (sample, name);
"""


def open_index(results: Path, *, rebuild: bool = False) -> sqlite3.Connection:
    """A connection to an index that holds everything the journals hold now."""
    path = results / NAME
    try:
        if rebuild:
            path.unlink(missing_ok=True)
        connection = _connect(path)
        try:
            _refresh(connection, results / "journal")
            return connection
        except sqlite3.DatabaseError:
            connection.close()
            path.unlink(missing_ok=True)
            connection = _connect(path)
            _refresh(connection, results / "journal")
            return connection
    except (sqlite3.Error, OSError):
        connection = _connect(None)
        _refresh(connection, results / "journal")
        return connection


def _connect(path: Path | None) -> sqlite3.Connection:
    return sqlite3.connect(path if path is not None else ":memory:", timeout=10.0)


def _refresh(connection: sqlite3.Connection, folder: Path) -> None:
    with connection:  # one transaction: another process sees the old index or the new one
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            _recreate(connection)
        sizes = {str(p.name): _whole(p) for p in sorted(folder.glob("*.jsonl"))}
        rows = connection.execute("SELECT path, size, lines FROM journal")
        known = {path: (size, lines) for path, size, lines in rows}
        if any(name not in sizes or size > sizes[name] for name, (size, _) in known.items()):
            _recreate(connection)
            known = {}
        for name, size in sizes.items():
            read, lines = known.get(name, (0, 0))
            if read != size:
                lines += _ingest(connection, folder / name, read, lines + 1)
                connection.execute("INSERT OR REPLACE INTO journal VALUES (?, ?, ?)", (name, size, lines))


def _whole(path: Path) -> int:
    """Bytes of the journal up to its last whole line: what follows is being written, or torn."""
    with path.open("rb") as stream:
        end = stream.seek(0, 2)
        while end:
            begin = max(0, end - 65536)
            stream.seek(begin)
            at = stream.read(end - begin).rfind(b"\n")
            if at >= 0:
                return begin + at + 1
            end = begin
    return 0


def _recreate(connection: sqlite3.Connection) -> None:
    for table in ("figure", "taint", "sample", "journal"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _ingest(connection: sqlite3.Connection, path: Path, offset: int, first: int) -> int:
    """Reads what the journal has from this byte on, where line `first` begins; the number of its lines."""
    count = 0
    for line in read_journal(path, offset, first):
        count += 1
        if line.entry.get("schema") == SAMPLE:
            _insert(connection, line, sample_from(line))
    return count


def _insert(connection: sqlite3.Connection, line: Line, sample: Sample) -> None:
    wall = (sample.record or {}).get("wall_s")
    row = connection.execute(
        "INSERT INTO sample (task, block, attempt, time, wall_s, good, failed, journal, line) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            sample.task,
            sample.block,
            sample.attempt,
            sample.time,
            wall,
            sample.good,
            sample.failed,
            line.path.name,
            line.number,
        ),
    ).lastrowid
    connection.executemany("INSERT INTO taint VALUES (?, ?, ?, ?, ?)", _taints(row, sample))
    figures = (sample.result or {}).get("figures") or []
    connection.executemany(
        "INSERT INTO figure VALUES (?, ?, ?, ?)",
        [(row, f["name"], f["value"], f.get("unit")) for f in figures if f.get("value") is not None],
    )


def _taints(row: int | None, sample: Sample) -> Iterable[tuple[Any, ...]]:
    return [(row, r["code"], r["value"], r["limit"], r["text"]) for r in sample.tainted]


def figure_samples(connection: sqlite3.Connection, task: str, figure: str) -> list[float]:
    """The undisturbed values of one figure in the order in which they were measured, warm-up left out."""
    rows = connection.execute(
        "SELECT value FROM figure JOIN sample ON sample.id = figure.sample "
        "WHERE task = ? AND name = ? AND good = 1 AND block > 0 ORDER BY time",
        (task, figure),
    )
    return [row[0] for row in rows]


def every_sample(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """One row for each figure of each launch, in the order in which they were taken: task, block, attempt,
    time, good, reasons of taint (joined by ';'), failure, wall seconds, figure, value, unit. A launch without
    figures has one row without them.
    """
    reasons: dict[int, list[str]] = {}
    for row, code in connection.execute("SELECT sample, code FROM taint ORDER BY rowid"):
        reasons.setdefault(row, []).append(code)
    rows = connection.execute(
        "SELECT sample.id, task, block, attempt, time, good, failed, wall_s, name, value, unit FROM sample "
        "LEFT JOIN figure ON figure.sample = sample.id ORDER BY time, sample.id, figure.rowid"
    )
    return [
        (
            task,
            block,
            attempt,
            at,
            bool(good),
            ";".join(reasons.get(row, ())),
            failed,
            wall,
            name,
            value,
            unit,
        )
        for row, task, block, attempt, at, good, failed, wall, name, value, unit in rows
    ]


def tasks(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Per task: launches, undisturbed ones, disturbed and failed ones (warm-up left out)."""
    rows = connection.execute(
        "SELECT task, COUNT(*), SUM(good), SUM(EXISTS (SELECT 1 FROM taint WHERE taint.sample = sample.id)), "
        "SUM(failed IS NOT NULL) FROM sample WHERE block > 0 GROUP BY task ORDER BY task"
    )
    return [dict(zip(("task", "launches", "good", "tainted", "failed"), row, strict=True)) for row in rows]


def figure_names(connection: sqlite3.Connection, task: str) -> list[tuple[str, str | None]]:
    """Names and units of a task's figures."""
    rows = connection.execute(
        "SELECT name, unit FROM figure JOIN sample ON sample.id = figure.sample "
        "WHERE task = ? GROUP BY name ORDER BY MIN(figure.rowid)",
        (task,),
    )
    return list(rows)


def reasons(connection: sqlite3.Connection, task: str) -> dict[str, int]:
    """How often each reason tainted a launch of this task."""
    rows = connection.execute(
        "SELECT code, COUNT(DISTINCT sample.id) FROM taint JOIN sample ON sample.id = taint.sample "
        "WHERE task = ? AND block > 0 GROUP BY code",
        (task,),
    )
    return dict(rows)
