"""An SQLite index over the journals: fast to ask, safe to lose.

The journals are the truth. The index remembers how far it has read each of them; when that does not fit (a
journal shrank, the index is damaged, another version wrote it) it is rebuilt. Where the folder cannot hold a
database (read-only, NFS without locks), or may be another user's, the index lives in memory.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections import Counter
from itertools import accumulate, chain, islice, repeat
from operator import le
from pathlib import Path
from typing import Any

from strata import documents, own_folders
from strata.measure.journal import read_journal
from strata.measure.store import SAMPLE, Sample, sample_from
from strata.measure.taint import UNUSABLE

NAME = "index.sqlite"
_VERSION = 3
_AT_ONCE = 2000  # samples inserted together; their rows are held in memory until then
_TABLES = """
CREATE TABLE journal (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    lines INTEGER NOT NULL);
CREATE TABLE sample (id INTEGER PRIMARY KEY, task TEXT NOT NULL, block INTEGER NOT NULL,
    attempt INTEGER NOT NULL, time TEXT NOT NULL, wall_s REAL, good INTEGER NOT NULL, failed TEXT,
    journal INTEGER NOT NULL REFERENCES journal, line INTEGER NOT NULL, UNIQUE (journal, line));
CREATE TABLE taint (sample INTEGER NOT NULL REFERENCES sample, code TEXT NOT NULL, value REAL, allowed REAL,
    text TEXT NOT NULL);
CREATE TABLE figure (sample INTEGER NOT NULL REFERENCES sample, name TEXT NOT NULL, value REAL NOT NULL,
    unit TEXT);
CREATE INDEX sample_task ON sample (task);
CREATE INDEX figure_name ON figure (sample, name);
CREATE INDEX taint_sample ON taint (sample);
"""


def open_index(results: Path, *, rebuild: bool = False) -> sqlite3.Connection:
    """A connection to an index that holds everything the journals hold now. It lies beside them where nobody
    else can have made it: SQLite removes files that a journal of its own names, and follows links.
    """
    path = results / NAME
    try:
        if not _is_own(path):
            raise PermissionError(path)
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


def _is_own(path: Path) -> bool:
    if own_folders.wrong(path.parent):
        return False
    for ending in ("", "-journal", "-wal", "-shm"):
        try:
            about = path.with_name(path.name + ending).lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_nlink != 1:
            return False
    return True


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
                connection.execute("INSERT OR IGNORE INTO journal VALUES (NULL, ?, 0, 0)", (name,))
                lines += _ingest(connection, folder / name, (read, size), lines + 1)
                now = (size, lines, name)
                connection.execute("UPDATE journal SET size = ?, lines = ? WHERE path = ?", now)


def _whole(path: Path) -> int:
    """Bytes of the journal up to its last whole line: what follows is being written, or torn."""
    with documents.opened(path) as stream:
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


def _ingest(connection: sqlite3.Connection, path: Path, part: tuple[int, int], first: int) -> int:
    """Reads this part of the journal, begin and end in bytes, where line `first` begins; the number of its
    lines. What is appended meanwhile is left to the next time.
    """
    journal = connection.execute("SELECT id FROM journal WHERE path = ?", (path.name,)).fetchone()[0]
    row = connection.execute("SELECT COALESCE(MAX(id), 0) FROM sample").fetchone()[0]
    rows, count = _Rows(), 0
    for line in read_journal(path, part[0], first, part[1]):
        count += 1
        if line.entry.get("schema") == SAMPLE:
            row += 1
            rows.add(row, journal, line.number, sample_from(line))
        if len(rows.samples) >= _AT_ONCE:
            rows.insert(connection)
    rows.insert(connection)
    return count


class _Rows:
    """Rows that wait to be inserted together: one by one they cost as much as reading their JSON."""

    def __init__(self) -> None:
        self.samples: list[tuple[Any, ...]] = []
        self.taints: list[tuple[Any, ...]] = []
        self.figures: list[tuple[Any, ...]] = []

    def add(self, row: int, journal: int, line: int, s: Sample) -> None:
        wall = (s.record or {}).get("wall_s")
        self.samples.append((row, s.task, s.block, s.attempt, s.time, wall, s.good, s.failed, journal, line))
        self.taints += [(row, r["code"], r["value"], r["limit"], r["text"]) for r in s.tainted]
        for figure in (s.result or {}).get("figures") or []:
            if figure.get("value") is not None:
                self.figures.append((row, figure["name"], figure["value"], figure.get("unit")))

    def insert(self, connection: sqlite3.Connection) -> None:
        for table, rows, marks in (
            ("sample", self.samples, 10),
            ("taint", self.taints, 5),
            ("figure", self.figures, 4),
        ):
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * marks)})", rows)
            rows.clear()


def figure_samples(
    connection: sqlite3.Connection, task: str, figure: str, disturbed: bool = False
) -> list[float]:
    """The undisturbed values of one figure in the order in which they were measured, warm-up left out; with
    `disturbed` also those of disturbed launches that have a figure of their layout.
    """
    unusable = ", ".join(f"'{code}'" for code in sorted(UNUSABLE))
    usable = (
        "failed IS NULL AND NOT EXISTS "
        f"(SELECT 1 FROM taint WHERE taint.sample = sample.id AND code IN ({unusable}))"
    )
    rows = connection.execute(
        "SELECT value FROM figure JOIN sample ON sample.id = figure.sample "
        f"WHERE task = ? AND name = ? AND {usable if disturbed else 'good = 1'} AND block > 0 ORDER BY time",
        (task, figure),
    )
    return [row[0] for row in rows]


_OF_SAMPLE = ("id", "task", "block", "attempt", "time", "good", "failed", "wall_s")


def every_sample(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    """By columns, a row for each figure of each launch in the order in which they were taken: task, block,
    attempt, time, good, failed (why), wall_s, tainted (reasons, joined by ';'), figure, value, unit. A launch
    without figures has one row, with None for them.
    """
    samples = _columns(connection, ", ".join(_OF_SAMPLE), "sample ORDER BY id")
    of, *figures = _columns(connection, "sample, name, value, unit", "figure ORDER BY rowid")
    number = Counter(of)
    in_order = all(map(le, samples[4], islice(samples[4], 1, None)))
    if not in_order:  # by several processes, each with its own journal
        order = sorted(range(len(samples[4])), key=samples[4].__getitem__)
        samples = [[column[i] for i in order] for column in samples]
    if not in_order or len(number) < len(samples[0]):  # else the figures stand as they are wanted
        figures = _arranged(figures, number, samples[0])
    often = [number[row] or 1 for row in samples[0]]
    table: dict[str, list[Any]] = {}
    for name, column in zip(_OF_SAMPLE, samples, strict=True):
        once = len(of) <= len(often) and max(often, default=1) == 1
        table[name] = column if once else list(chain.from_iterable(map(repeat, column, often)))
    table |= dict(zip(("figure", "value", "unit"), figures, strict=True))
    tainted: dict[int, str] = {}
    for row, code in connection.execute("SELECT sample, code FROM taint ORDER BY rowid"):
        tainted[row] = f"{tainted[row]};{code}" if row in tainted else code
    table["tainted"] = [tainted.get(row, "") for row in table.pop("id")]
    table["good"] = list(map(bool, table["good"]))
    return table


def _arranged(figures: list[list[Any]], number: Counter[int], rows: list[int]) -> list[list[Any]]:
    """Columns of figures, which stand by sample and `number` of each, in the order of these samples; None for
    one without.
    """
    first = dict(zip(number, accumulate(number.values(), initial=0), strict=False))
    last = len(figures[0])
    begins = [(first.get(row, last), number[row] or 1) for row in rows]
    where = [at for begin, count in begins for at in range(begin, begin + count)]
    return [list(map([*column, None].__getitem__, where)) for column in figures]


def _columns(connection: sqlite3.Connection, names: str, what: str) -> list[list[Any]]:
    """A query by columns. Only some of its rows are in memory at once: 100 000 tuples would keep Python's
    collector busy for longer than the query takes.
    """
    cursor = connection.execute(f"SELECT {names} FROM {what}")
    columns: list[list[Any]] = [[] for _ in cursor.description]
    while rows := cursor.fetchmany(1000):
        for column, part in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(part)
    return columns


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
