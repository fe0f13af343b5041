"""Words in files of CSV that people open: a spreadsheet takes what begins as a formula for one and carries it
out, and names of jobs, nodes and programs may be a stranger's.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def cell(value: Any) -> Any:
    """What stands for a value: numbers are themselves, also those that are given as text. A text that a
    spreadsheet would carry out has a ' before it, as people type it there; read_cell() takes it off.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def read_cell(text: str) -> str:
    """The text that cell() was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def text_of(columns: Sequence[Sequence[Any]], head: Iterable[str]) -> str:
    """A table by columns as CSV, with lines that end in \\n; None is an empty cell."""
    lines: list[str] = []
    # With this end of lines a word with a carriage return is quoted: else it would begin a row of its own.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    writer.writerow(map(cell, head))
    writer.writerows(zip(*map(_cells, columns), strict=True))
    return "".join(f"{line[:-2]}\n" for line in lines)


def _cells(column: Sequence[Any]) -> Sequence[Any]:
    """Each of the words once, as few of a column differ."""
    changed = {word: new for word in set(column) if isinstance(word, str) and (new := cell(word)) != word}
    return [changed.get(each, each) for each in column] if changed else column
