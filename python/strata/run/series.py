"""The series.csv of a run as NumPy arrays (docs/run-output.md)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strata import documents
from strata.errors import FAILED, StrataError, why

NAME = "series.csv"
_MOST_STEPS = 1e15  # larger numbers are not whole ones any longer


@dataclass(frozen=True)
class Series:
    """Columns by name, with their units. `series["temperature"]` is an array over the rows."""

    path: Path
    units: dict[str, str]
    columns: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise StrataError(
                "the series has no such column",
                at=str(self.path),
                given=name,
                allowed=", ".join(self.columns),
            )
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns["step"])

    def after(self, row: int) -> Series:
        """From this row on."""
        return Series(self.path, self.units, {name: values[row:] for name, values in self.columns.items()})


def read(path: Path | str) -> Series:
    """The series of a run: of its folder, or of the file. A last row that was cut off is left out."""
    file = Path(path)
    if file.is_dir():
        file /= NAME
    try:
        text = documents.contents(file, documents.LARGE).decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StrataError(
            f"cannot read the series: {why(error)}",
            at=str(file),
            remedy="give the folder that `strata run CASE --out FOLDER` has written",
            code=FAILED,
        ) from None
    head, _, rest = text.partition("\n")
    names, units = [], {}
    for word in _words(head):
        name, inside, unit = word.removesuffix("]").rpartition(" [") if word.endswith("]") else (word, "", "")
        name = name if inside else word
        names.append(name)
        units[name] = unit
    if names[:2] != ["step", "time"]:
        raise StrataError("not a time series", at=f"{file}:1", given=head[:80], allowed="step,time [...],...")
    lines = rest.split("\n")[:-1]  # what has no end of line was cut off
    table = rows_of_numbers(file, names, lines, "series")
    columns = {name: table[:, i] for i, name in enumerate(names)}
    steps = columns["step"]
    if len(odd := np.flatnonzero(~(np.abs(steps) <= _MOST_STEPS))):
        raise StrataError(
            "not a step",
            at=f"{file}:{odd[0] + 2}",
            given=f"{steps[odd[0]]:g}",
            allowed="a whole number",
            code=FAILED,
        )
    columns["step"] = steps.astype(int)
    return Series(file, units, columns)


def _words(head: str) -> list[str]:
    """The fields of a header, quoted where a name contains a comma (RFC 4180). None where csv refuses it: a
    field of more than 131,072 characters.
    """
    try:
        return [word.strip() for word in next(csv.reader([head]), [])]
    except csv.Error:
        return []


def rows_of_numbers(file: Path, names: list[str], lines: list[str], what: str) -> np.ndarray:
    """The lines below a head as rows, with a number for each name. StrataError with the line of a row that is
    damaged. `what`: "series", for its message.
    """
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            values = [float(word) for word in line.split(",")]
        except ValueError:
            values = []
        if len(values) != len(names):
            raise StrataError(
                f"a row of the {what} is damaged",
                at=f"{file}:{number}",
                given=line[:80],
                allowed=f"{len(names)} numbers",
                code=FAILED,
            )
        rows.append(values)
    return np.array(rows).reshape(len(rows), len(names))
