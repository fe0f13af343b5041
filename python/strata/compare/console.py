"""What `strata report compare` prints: what differs beside the figures, the table, the sentences."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from strata.advice.words import count, list_some
from strata.compare import words
from strata.scripts import visible

_COLUMNS = ("task", "figure", "before", "after", "change", "interval", "n", "verdict")
_RIGHT = ("before", "after", "change", "n")
_COLOURS = {"regressed": "bold red", "improved": "bold green", "undecided": "yellow", "unchanged": "dim"}
Row = tuple[str, ...]


def rows(whole: Mapping[str, Any]) -> list[Row]:
    """One row a figure: what changed first, the largest change first."""
    result = []
    for e in sorted(whole["comparisons"], key=words.sort_key):
        before, after = e["before"], e["after"]
        result.append(
            (
                visible(e["task"]),
                visible(e["figure"]),
                words.value(before, after, visible(e["unit"])),
                words.value(after, before, visible(e["unit"])),
                words.change(e["ratio"]),
                words.interval(e),
                words.sizes(e),
                words.note(e, whole["regressed"]),
            )
        )
    return result


def show(whole: Mapping[str, Any], stream: TextIO | None = None) -> None:
    """The comparison in text; colours and box characters only on a terminal."""
    out = stream if stream is not None else sys.stdout
    for name in ("before", "after"):
        side = whole[name]
        _say(out, f"{name + ':':<8}{side['path']} ({side['kind']}, {side['hostname']}, {side['started']})\n")
    _differences(whole, out)
    table = rows(whole)
    if table:
        _say(out, "\n")
        _table(table, out)
    _not_compared(whole, out)
    _say(out, "\n")
    for text in words.statements(whole):
        _say(out, text.replace("**", "").replace("`", "") + "\n")
    if table:
        _say(out, f"{words.method_sentence(whole)} Intervals: 95 % for each figure, of after/before.\n")
    out.flush()


def _differences(whole: Mapping[str, Any], out: TextIO) -> None:
    found = whole["differences"]
    if not found:
        _say(out, "beside the figures nothing that was recorded differs\n")
        return
    _say(out, "beside the figures these differ:\n")
    for d in found:
        _say(out, f"  {d['about'] + ':':<13}{d['what']}: {_cut(d['before'])} -> {_cut(d['after'])}\n")


def _not_compared(whole: Mapping[str, Any], out: TextIO) -> None:
    for why, names in words.not_compared(whole).items():
        _say(out, f"not compared: {list_some(names, 4)}: {_cut(why, 200)}\n")
    for name in ("before", "after"):
        ids = whole[f"only_{name}"]
        if ids:
            _say(out, f"only {name}: {count(len(ids), 'task')}: {list_some(ids, 8)}\n")


def _say(out: TextIO, text: str) -> None:
    """Names of tasks and machines come from files that anybody may have written."""
    out.write("\n".join(visible(line) for line in text.split("\n")))


def _cut(text: str, most: int = 100) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _table(table: Sequence[Row], out: TextIO) -> None:
    if out.isatty():
        try:
            _rich(table, out)
            return
        except ImportError:
            pass
    widths = [max(len(row[i]) for row in [_COLUMNS, *table]) for i in range(len(_COLUMNS))]
    for row in [_COLUMNS, *table]:
        cells = [
            cell.rjust(width) if column in _RIGHT else cell.ljust(width)
            for cell, width, column in zip(row, widths, _COLUMNS, strict=True)
        ]
        _say(out, "  ".join(cells).rstrip() + "\n")


def _rich(table: Sequence[Row], out: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    view = Table(box=None, pad_edge=False, header_style="bold")
    for column in _COLUMNS:
        folds = column in ("task", "figure")  # a name is folded, never cut: two ids may share their beginning
        side = "right" if column in _RIGHT else "left"
        view.add_column(column, justify=side, no_wrap=not folds, overflow="fold" if folds else "ellipsis")
    for row in table:
        verdict = row[-1]
        style = _COLOURS.get(verdict.split(",")[0], "")
        view.add_row(*(Text(cell) for cell in row[:-1]), Text(verdict, style=style))
    Console(file=out, highlight=False).print(view)
