"""Tables of the OSU micro-benchmarks (OMB), read (written: osu_tables.py).

The form is that of OMB 5.3 and 7.4: lines of comment, `# Size` with the names of the columns, then a line a
message size (in bytes) with one number a column, in microseconds, MB/s (10^6 bytes) or messages a second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.errors import FAILED, StrataError
from strata.interop.osu_tables import MESSAGE, tables

__all__ = ["Column", "column_of", "read", "tables"]

_TITLE = re.compile(r"^# ?(?:OSU|Strata) (.*?) Test\b", re.IGNORECASE)  # of a line with single spaces
_ROW = re.compile(r"^\s*[0-9]")
_IGNORED = ("iterations", "validation", "transmit size")


@dataclass(frozen=True)
class Column:
    """What one column holds: the figure's name and unit, and which way is better."""

    name: str
    unit: str
    better: str


@dataclass
class _Table:
    title: str
    columns: list[str]  # as written, without "Size"
    sized: bool  # osu_barrier has no sizes: one line
    rows: list[tuple[float, list[str]]] = field(default_factory=list)


def read(text: str) -> dict[str, Any]:
    """What osu_latency, osu_bw, osu_bibw, osu_mbw_mr, osu_allreduce and their like printed, as the `figures`
    and `curves` of a strata.result/1.

    A column is one curve over the message size ("latency" in us, "bandwidth" in MB/s, "message rate" in
    msg/s, "latency min", "latency P99", ...), and each of its points a figure, such as "latency, 8 B". Where
    several tests are in one output, their titles stand before the names ("MPI Bandwidth: bandwidth, 8 B").
    `verified` is true where OMB was asked to validate (-c) and every size passed, null where it was not.

    Raises StrataError for a text without such a table, a line that does not fit its columns, a size that is
    there twice, and a validation that failed: a rate of wrong data is none.
    """
    _refuse_wrong_data(text)
    tables = [table for table in _tables(text.splitlines()) if table.rows]
    if not tables:
        raise StrataError(
            "no table of the OSU micro-benchmarks in the output",
            given=next((line for line in text.splitlines() if line.strip()), "no output"),
            allowed='a line "# Size ..." and lines of numbers, as osu_latency prints them',
            code=FAILED,
        )
    figures: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    validated: list[bool] = []
    for table in tables:
        before = f"{table.title}: " if len(tables) > 1 else ""
        for place, written in enumerate(table.columns):
            if written.lower() == "validation":
                validated += [_passed(table, size, values[place]) for size, values in table.rows]
            if written.lower() in _IGNORED:
                continue
            column = column_of(written)
            points = [[size, _number(values[place])] for size, values in table.rows]
            for size, value in points:
                of = f", {size:.0f} B" if table.sized else ""
                figures.append(
                    {
                        "name": f"{before}{column.name}{of}",
                        "value": value,
                        "unit": column.unit,
                        "better": column.better,
                    }
                )
            if table.sized:
                axis = {"name": column.name, "unit": column.unit}
                curves.append({"name": before + column.name, "x": dict(MESSAGE), "y": axis, "points": points})
    _refuse_twice([figure["name"] for figure in figures])
    return {
        "benchmark": tables[0].title if len(tables) == 1 else "OSU micro-benchmarks",
        "parameters": {},
        "verified": True if validated else None,
        "verification": {"what": "data of every size, by OMB itself (-c)"} if validated else None,
        "figures": figures,
        "curves": curves,
    }


def _refuse_wrong_data(text: str) -> None:
    if "DATA VALIDATION ERROR" in text:
        raise StrataError(
            "OSU's own validation found wrong data: messages did not arrive as they were sent",
            at="the output of the benchmark",
            given=_line_with(text, "DATA VALIDATION"),
            remedy="a rate of wrong data is none: look for what is wrong in the MPI or the network",
        )


def _refuse_twice(names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise StrataError("the output has this twice", given=twice, allowed="each test and size once")


def column_of(written: str) -> Column:
    """What a column of OMB's holds, by its heading such as "Avg Latency(us)". Raises StrataError."""
    word = " ".join(written.split()).lower()
    if "messages/s" in word:
        return Column("message rate", "msg/s", "higher")
    if "mb/s" in word:
        return Column("bandwidth", "MB/s", "higher")
    if "(us)" not in word:
        raise StrataError(
            "not a column of the OSU micro-benchmarks",
            given=written,
            allowed="a latency in us, a bandwidth in MB/s, Messages/s, Iterations or Validation",
        )
    what = word.replace(" (us)", "").replace("(us)", "")
    tail = re.match(r"(p[0-9]+) tail lat", what)
    if tail:
        return Column(f"latency {tail[1].upper()}", "us", "lower")
    parts = what.split()
    bounds = [part for part in parts if part in ("min", "max")]
    rest = " ".join(part for part in parts if part not in ("min", "max", "avg", "average"))
    return Column(" ".join([rest or "latency", *bounds]), "us", "lower")


def _tables(lines: Sequence[str]) -> list[_Table]:
    title, found_tables = "OSU", list[_Table]()
    table: _Table | None = None
    for line in lines:
        if line.startswith("#"):
            if found := _TITLE.match(" ".join(line.split())):
                title, table = found[1], None
            elif (columns := _heading(line)) is not None:
                table = _Table(title, columns[1:] if columns[0] == "Size" else columns, columns[0] == "Size")
                found_tables.append(table)
        elif table is not None and _ROW.match(line):
            _add_row(table, line)
    return found_tables


def _heading(line: str) -> list[str] | None:
    """The names of columns in "# Size    Avg Latency(us)   ..." (two spaces or more between them)."""
    cells = [cell.strip() for cell in re.split(r"\s{2,}|\t+", line[1:].strip())]
    if cells[0] == "Size" and len(cells) > 1:
        return cells
    return cells if all("(us)" in cell or cell.lower() in _IGNORED for cell in cells) else None


def _add_row(table: _Table, line: str) -> None:
    cells = line.split()
    wanted = len(table.columns) + table.sized
    if len(cells) != wanted:
        raise StrataError(
            "a line of the OSU table does not fit its columns",
            given=line.strip(),
            allowed=f"{wanted} values: {', '.join((['Size'] if table.sized else []) + table.columns)}",
            remedy="lines of several processes may have run into each other",
            code=FAILED,
        )
    table.rows.append((_number(cells[0]) if table.sized else 0.0, cells[table.sized :]))


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise StrataError(
            "not a number in an OSU table", given=word, allowed="a number", code=FAILED
        ) from None


def _passed(table: _Table, size: float, word: str) -> bool:
    if word.lower() == "pass":
        return True
    raise StrataError(
        "OSU's own validation found wrong data",
        given=f"{table.title}, {size:.0f} B: {word}",
        allowed="Pass",
        code=FAILED,
    )


def _line_with(text: str, part: str) -> str:
    return next(line.strip() for line in text.splitlines() if part in line)
