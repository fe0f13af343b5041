"""The table of a measuring command, for `--verbose`: the headline figures with intervals and grades, and
what was disturbed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from strata.advice.words import list_some
from strata.characterize.bounds import headline
from strata.measure.disturbances import counted
from strata.measure.grade import UNDISTURBED
from strata.scripts import visible


def number(value: float | None) -> str:
    """Four significant digits: more than any interval here carries."""
    if value is None:
        return "-"
    text = f"{value:.4g}"
    return f"{value:.0f}" if "e" in text and abs(value) < 1e7 else text


def interval(figure: Mapping[str, Any]) -> str:
    """A figure's interval as text, or why it has none."""
    if figure["low"] is None:
        return str(figure.get("note") or "")
    return f"[{number(figure['low'])}, {number(figure['high'])}]"


def rows(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One row a task: id, figure, median, unit, interval, n, bound, disturbed launches, grade."""
    result: list[tuple[str, ...]] = []
    for task in tasks:
        figure = headline(task)
        disturbed = f"{task['tainted']}/{task['launches']}" if task["tainted"] else ""
        grade = "" if task["grade"] == UNDISTURBED else task["grade"]
        if figure is None:
            status = "curves only" if task["status"] == "ok" else _short(task["status"])
            result.append(
                (
                    task["id"],
                    "",
                    "",
                    "",
                    status,
                    str(task["launches"] - task["tainted"] - task["failed"]),
                    "",
                    disturbed,
                    grade,
                )
            )
            continue
        bound = task.get("bound")
        beside = f"{bound['reached']:.0%} of {number(bound['value'])}" if bound else ""
        status = interval(figure) if task["answered"] else _short(task["status"])
        result.append(
            (
                task["id"],
                figure["name"],
                number(figure["median"]),
                str(figure["unit"]),
                status,
                str(figure["n"]),
                beside,
                disturbed,
                grade,
            )
        )
    return result


def _short(text: str) -> str:
    """The first line, cut to what a column holds; the report has the rest."""
    line = text.splitlines()[0]
    return line if len(line) <= 60 else line[:57] + "..."


_COLUMNS = ("task", "figure", "median", "unit", "interval", "n", "of its bound", "disturbed", "grade")


def show(summary: Mapping[str, Any], stream: TextIO | None = None) -> None:
    """The table, and one line on what was disturbed."""
    out = stream if stream is not None else sys.stdout
    # What is in a summary anybody may have written.
    table = [tuple(map(visible, row)) for row in rows(summary["tasks"])]
    try:
        _show_rich(table, out)
    except ImportError:
        _show_plain(table, out)
    counts = summary["counts"]
    line = f"{counts['launches']} launches counted, {counts['warm_up']} to warm up"
    if counts["tainted"]:
        line += f"; {counts['tainted']} disturbed ({counted(counts['reasons'])})"
    else:
        line += "; none disturbed"
    if counts["failed"]:
        line += f"; {counts['failed']} failed"
    confidence = next(
        (f["confidence"] for t in summary["tasks"] for f in t["figures"] if f["confidence"]), None
    )
    if confidence:
        line += f". Intervals of the median at {confidence:.1%}, distribution-free"
    out.write(visible(line) + "\n")
    if left := [entry["task"] for entry in summary["left_out"]]:
        out.write(visible(f"left out to end in time: {list_some(left, 4)}") + "\n")
    out.flush()


def _show_rich(table: Sequence[tuple[str, ...]], out: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    view = Table(box=None, pad_edge=False, header_style="bold")
    for column in _COLUMNS:
        view.add_column(
            column,
            justify="right" if column in ("median", "n", "of its bound", "disturbed") else "left",
            no_wrap=column != "interval",
        )
    for row in table:
        view.add_row(*(Text(cell) for cell in row))
    width = None if out.isatty() else 140
    Console(file=out, width=width, highlight=False).print(view)


def _show_plain(table: Sequence[tuple[str, ...]], out: TextIO) -> None:
    widths = [max(len(row[i]) for row in [_COLUMNS, *table]) for i in range(len(_COLUMNS))]
    for row in [_COLUMNS, *table]:
        out.write(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
        )
