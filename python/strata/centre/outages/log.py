"""A log of outages, read: strata.outages/1 as CSV or JSON.

CSV has a header and a row for each outage. A row whose category is `observed` says from when to when a system
was watched; without one it is from its first to its last time.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strata import csv_cells, documents
from strata.centre.outages import times
from strata.centre.outages.categories import OBSERVED, Categories
from strata.errors import StrataError, why

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "strata.outages/1"
NEEDED = ("system", "start", "end", "category")
TIMES = ("start", "end")
OPTIONAL = ("parts", "note", "node", "units", "description")
_DIGITS = 15  # of the largest number: a whole one of so many is exact as a float
SAME = "same"  # importers: not empty where a row belongs to the event of another row
COLUMNS = (*NEEDED, *OPTIONAL)


@dataclass
class Log:
    """Outages as read: `rows` has system, node, start, end (seconds, NaN for none), category (its place in
    the categories, -1 for `observed`), parts, units, description, same (its event is another row's) and row
    (where it was, for messages). `said`: what a reader should know of how it was read.
    """

    path: str
    rows: pd.DataFrame
    zone: str = times.UTC
    generated: str = ""  # not empty: these outages never were, and why they are here
    said: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Cells:
    """A log as text, before any of it is understood: columns of COLUMNS. `rows`: where each stood in the
    file, the first line being 1 as a spreadsheet counts; None for a JSON list.
    """

    path: str
    text: pd.DataFrame
    rows: np.ndarray | None
    generated: str = ""
    names: Mapping[str, str] = field(default_factory=dict)  # of columns that the file calls otherwise
    said: list[str] = field(default_factory=list)

    def at(self, index: int, column: str) -> str:
        if self.rows is None:
            return f"{self.path}: outages[{index}].{column}"
        return f"{self.path}: row {self.rows[index]}, column {self.names.get(column, column)}"


def read_cells(path: Path) -> Cells:
    """The log in a file, CSV or by its name JSON. Raises StrataError with the place of what is damaged."""
    text = contents(path)
    return _json(path, text) if path.suffix == ".json" else _csv(path, text)


def contents(path: Path) -> str:
    """The text of a log. Raises StrataError where it cannot be read, or is not in UTF-8."""
    try:
        data = documents.named(path)
    except OSError as error:
        raise StrataError("cannot read the log", at=str(path), given=why(error)) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise StrataError(
            "the log is not in UTF-8",
            at=f"{path}: row {row}",
            given=f"byte 0x{data[error.start]:02x}",
            allowed="UTF-8",
            remedy=f"iconv -f LATIN1 -t UTF-8 {path} > log.csv",
        ) from None


def _csv(path: Path, text: str) -> Cells:
    import pyarrow as arrow
    from pyarrow import csv as table

    generated, first = "", 2
    if text.startswith("#"):  # a first line that says what the log is
        generated, _, text = text.partition("\n")
        first = 3
    try:
        head = next(csv.reader(io.StringIO(text.partition("\n")[0])), [])
    except csv.Error:
        raise _no_csv(path) from None
    head = [name.strip().lower() for name in head]
    _check_columns(f"{path}: row {first - 1}", head)
    if "\n\n" in text or "\n\r\n" in text or text.count('"') % 2:  # PyArrow lets these pass
        _check_whole(path, text, len(head), first)
    texts, words = arrow.string(), arrow.dictionary(arrow.int32(), arrow.string())
    try:
        read = table.read_csv(
            arrow.BufferReader(text.encode() + (b"" if text.endswith("\n") else b"\n")),
            table.ReadOptions(column_names=head, skip_rows=1, use_threads=False),
            table.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            table.ConvertOptions(
                column_types={name: texts if name in TIMES else words for name in head},
                include_columns=[name for name in head if name != "note"],
                strings_can_be_null=False,
            ),
        )
    except arrow.ArrowInvalid:
        _check_whole(path, text, len(head), first)
        raise _no_csv(path) from None
    rows = np.arange(first, first + len(read))
    frame = read.to_pandas()
    for name in (name for name in frame if name not in TIMES):
        _read_words(frame, name)
    return Cells(str(path), frame, rows, generated.lstrip("# ").strip())


def _read_words(frame: pd.DataFrame, name: str) -> None:
    """A column as it was before csv_cells.cell(): another word for each cell that has changed."""
    cells = frame[name].cat
    words = [csv_cells.read_cell(cell) for cell in cells.categories]
    if words != list(cells.categories):
        frame[name] = frame[name].astype(str).map(csv_cells.read_cell).astype("category")


def _check_columns(at: str, head: Sequence[str]) -> None:
    missing = [name for name in NEEDED if name not in head]
    unknown = [name for name in head if name not in COLUMNS]
    if missing or unknown or len(set(head)) < len(head):
        raise StrataError(
            f"column {missing[0]} is missing" if missing else "an unknown column, or one that is there twice",
            at=at,
            given=", ".join(head) or "nothing",
            allowed=f"{', '.join(NEEDED)}; and where known {', '.join(OPTIONAL)}",
            remedy="--from lanl, slurm or nagios, where it is a log of theirs",
        )


def _check_whole(path: Path, text: str, columns: int, first: int) -> None:
    """Each row has a cell for each column, and quotes end."""
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error:
        raise _no_csv(path) from None
    for number, row in enumerate(rows, start=first - 1):
        if len(row) != columns:
            cut = number == len(rows) + first - 2 and not text.endswith("\n")
            what = "fewer cells" if len(row) < columns else "another number of cells"
            raise StrataError(
                "the file ends within a row" if cut else f"a row has {what} than the header",
                at=f"{path}: row {number}",
                given=f"{len(row)}: {','.join(row)[:60]}",
                allowed=f"{columns}, texts with commas in quotes",
                remedy="get the whole file again" if cut else None,
            )


def _no_csv(path: Path) -> StrataError:
    return StrataError(
        "not a CSV file",
        at=str(path),
        given="a quote that does not end, or text after one",
        allowed='cells with commas between them; a text with commas or quotes as "he said ""no"""',
    )


def _json(path: Path, text: str) -> Cells:
    import pandas as pd

    try:
        given = documents.from_json(text)
    except ValueError as error:
        raise documents.not_json(error, str(path), text) from None
    if not isinstance(given, Mapping) or given.get("schema") != SCHEMA:
        raise StrataError(
            "not a log of outages",
            at=f"{path}: schema",
            allowed=f'"{SCHEMA}"',
            given=repr(given.get("schema")) if isinstance(given, Mapping) else "no object",
        )
    systems, outages = given.get("systems", {}), given.get("outages")
    if not isinstance(outages, list) or not isinstance(systems, Mapping):
        raise StrataError(
            "not a log of outages",
            at=str(path),
            given=f"the keys {', '.join(given)}",
            allowed='"outages": a list, and "systems": an object, if there is one',
        )
    rows = []
    for name, about in systems.items():
        if not isinstance(about, Mapping):
            raise StrataError(
                "not a system",
                at=f"{path}: systems.{name}",
                given=documents.shown(about),
                allowed="an object",
            )
        if window := about.get("observed"):
            if not isinstance(window, list) or len(window) != 2:
                raise StrataError(
                    "not a time of observation",
                    at=f"{path}: systems.{name}.observed",
                    given=repr(window),
                    allowed="[start, end]",
                )
            row = {"system": name, "category": OBSERVED, "start": window[0], "end": window[1]}
            rows.append(_row(f"{path}: systems.{name}", row, systems))
    outages = [_row(f"{path}: outages[{i}]", one, systems) for i, one in enumerate(outages)]
    frame = pd.DataFrame([*outages, *rows], columns=list(COLUMNS), dtype=str)
    return Cells(str(path), frame, None, str(given.get("generated", "")))


def _row(at: str, one: Any, systems: Mapping[str, Any]) -> dict[str, str]:
    if not isinstance(one, Mapping) or not set(one) <= set(COLUMNS):
        raise StrataError("not an outage", at=at, given=repr(one)[:80], allowed=", ".join(COLUMNS))
    about = systems.get(str(one.get("system")), {})
    whole = {**{k: about[k] for k in ("parts", "units", "description") if k in about}, **one}
    return {name: "" if whole.get(name) is None else str(whole[name]) for name in COLUMNS}


def understood(cells: Cells, categories: Categories, zone: str) -> Log:
    """Times, categories and numbers of the cells; the first cell that cannot be understood is refused."""
    import pandas as pd

    text = cells.text
    said = list(cells.said)
    kind = _categories(cells, categories)
    start, end = times.read(text["start"], zone), times.read(text["end"], zone)
    for column, found in (("start", start), ("end", end)):
        for bad, skipped in ((found.skipped, True), (found.wrong, False)):
            if bad.any():
                i = int(np.flatnonzero(bad)[0])
                raise times.refusal(skipped, cells.at(i, column), text[column].iloc[i], zone)
    missing = np.isnan(start.seconds)
    if missing.any():
        i = int(np.flatnonzero(missing)[0])
        raise StrataError(
            "an outage without a start", at=cells.at(i, "start"), given="nothing", allowed=times.FORMS
        )
    ends = np.where(end.seconds < start.seconds, end.second, end.seconds)
    if (ends < start.seconds).any():
        i = int(np.flatnonzero(ends < start.seconds)[0])
        raise StrataError(
            "an outage that ends before it starts",
            at=cells.at(i, "end"),
            given=f"{text['start'].iloc[i]} to {text['end'].iloc[i]}",
            allowed="an end after the start",
            remedy="times of several zones need their offsets, such as +01:00",
        )
    if count := int((start.twice | end.twice).sum()):
        said.append(f"{count} times came twice, when clocks of {zone} went back: the first was taken.")
    rows = pd.DataFrame(
        {
            "system": _systems(cells),
            "node": _words(cells, "node"),
            "start": start.seconds,
            "end": ends,
            "category": kind,
            "parts": _numbers(cells, "parts"),
            "units": _numbers(cells, "units"),
            "description": _words(cells, "description"),
            "same": (text[SAME] != "").to_numpy() if SAME in text else False,
            "row": np.arange(len(text)) if cells.rows is None else cells.rows,
        }
    )
    return Log(cells.path, rows, zone, cells.generated, said)


def _words(cells: Cells, column: str) -> pd.Categorical:
    """A column of texts of which few differ, without spaces around them; empty where there is none."""
    import pandas as pd

    if column not in cells.text:
        return pd.Categorical.from_codes(np.zeros(len(cells.text), np.int8), [""])
    codes, texts = cells.text[column].factorize()
    places, names = pd.factorize(pd.Series(texts, dtype=str).str.strip())
    return pd.Categorical.from_codes(places[codes], names)


def _systems(cells: Cells) -> pd.Categorical:
    names = _words(cells, "system")
    if len(nameless := np.flatnonzero(names == "")):
        raise StrataError(
            "an outage without a system",
            at=cells.at(int(nameless[0]), "system"),
            given="nothing",
            allowed="the name of a system",
        )
    return names


def _categories(cells: Cells, categories: Categories) -> np.ndarray:
    codes, names = cells.text["category"].factorize()
    places = np.empty(len(names), dtype=np.int64)
    for k, name in enumerate(names):
        place = -1 if name.strip().lower() == OBSERVED else categories.index(name)
        if place is None:
            i = int(np.flatnonzero(codes == k)[0])
            raise StrataError(
                "an unknown category",
                at=cells.at(i, "category"),
                given=name or "nothing",
                allowed=", ".join([*categories.keys, OBSERVED]),
                remedy="--categories FILE has your own",
            )
        places[k] = place
    return places[codes]


def _numbers(cells: Cells, column: str) -> np.ndarray:
    """A column of whole numbers above 0; NaN where a cell is empty."""
    if column not in cells.text:
        return np.full(len(cells.text), np.nan)
    words = _words(cells, column)
    codes = words.codes
    values = np.full(len(words.categories), np.nan)
    for k, text in enumerate(words.categories):
        if text == "":
            continue
        if not text.isdecimal() or len(text) > _DIGITS or int(text) == 0:
            i = int(np.flatnonzero(codes == k)[0])
            raise StrataError(
                "not a number of parts" if column == "parts" else "not a number",
                at=cells.at(i, column),
                given=text,
                allowed="a whole number above 0",
            )
        values[k] = int(text)
    return values[codes]
