"""The samples of a results folder as a table: for other programs, a notebook, and questions of one's own.

One row for each figure of each launch; disturbed and failed launches and the warm-up are there, and marked.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strata.errors import FAILED, StrataError
from strata.measure import index, store
from strata.measure.files import storage_error

if TYPE_CHECKING:
    import pandas

FORMATS = ("csv", "json", "parquet")
# What every row has; the labels of the study (program, setting, its values) stand between task and layout.
_BEFORE, _PLACE = ("task",), ("layout", "processes", "threads", "stride", "bind")
_AFTER = ("block", "attempt", "time", "good", "tainted", "failed", "wall_s", "figure", "value", "unit")
Columns = dict[str, list[Any]]


def columns(folder: Path) -> Columns:
    """The table by columns, rows in the order in which they were measured.

    `block` 0 is the warm-up; `good` is whether the launch counts; `tainted` names what disturbed it; a
    program without figures of its own has the figure `wall`.
    """
    plan = store.read_plan(folder)
    labels = list(dict.fromkeys(key for task in plan.tasks for key in task.labels))
    connection = index.open_index(folder)
    try:
        rows = index.every_sample(connection)
    finally:
        connection.close()
    table: Columns = {name: [] for name in (*_BEFORE, *labels, *_PLACE, *_AFTER)}
    if not rows:
        return table
    task_of, *rest = (list(column) for column in zip(*rows, strict=True))
    known = {task.id: task for task in plan.tasks}
    table["task"] = task_of
    wanted: dict[str, Callable[[Any], Any]] = {
        **{key: lambda t, key=key: t.labels.get(key) for key in labels},  # type: ignore[misc]
        "layout": lambda t: t.layout,
        "processes": lambda t: int(t.layout.split("x")[0]),
        "threads": lambda t: int(t.layout.split("x")[1]),
        "stride": lambda t: t.stride,
        "bind": lambda t: t.bind,
    }
    for name, ask in wanted.items():
        answers = {key: ask(task) for key, task in known.items()}
        table[name] = [answers.get(key) for key in task_of]
    for name, column in zip(_AFTER, rest, strict=True):
        table[name] = column
    _wall(table)
    return table


def _wall(table: Columns) -> None:
    """A launch that left no figures, though it ended well, has its wall time as the figure."""
    for i, name in enumerate(table["figure"]):
        if name is None and table["failed"][i] is None and table["wall_s"][i] is not None:
            table["figure"][i], table["value"][i], table["unit"][i] = "wall", table["wall_s"][i], "s"


def frame(folder: Path) -> pandas.DataFrame:
    """The table as a DataFrame, `time` in UTC."""
    import pandas as pd

    table = pd.DataFrame(columns(Path(folder)))
    table["time"] = pd.to_datetime(table["time"], utc=True)
    return table


def export(folder: Path, form: str, out: Path | None) -> Path | None:
    """Writes the table to `out`, whole or not at all; without it text to standard output."""
    if form not in FORMATS:
        raise StrataError("unknown format", at="--format", given=form, allowed=", ".join(FORMATS))
    table = columns(folder)
    if form == "parquet" and out is None:
        raise StrataError(
            "Parquet is no text", at="--format parquet", remedy="name a file: --out FILE.parquet"
        )
    content = {"csv": _csv, "json": _json, "parquet": _parquet}[form](table)
    if out is None:
        os.write(1, b"")  # a closed pipe is told here, as for every command
        print(content.decode(), end="")
        return None
    scratch = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        scratch.write_bytes(content)
        scratch.replace(out)
    except OSError as error:
        raise storage_error(error, out) from error
    finally:
        scratch.unlink(missing_ok=True)
    return out


def _csv(table: Mapping[str, list[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return text.getvalue().encode()


def _json(table: Mapping[str, list[Any]]) -> bytes:
    """{"schema": "strata.samples/1", "columns": [...], "rows": [[...], ...]}, a row a line."""
    head = json.dumps({"schema": "strata.samples/1", "columns": list(table)})[:-1]
    rows = ",\n".join(json.dumps(row) for row in zip(*table.values(), strict=True))
    return f'{head}, "rows": [\n{rows}\n]}}\n'.encode()


def _parquet(table: Mapping[str, list[Any]]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise StrataError(
            "Parquet needs the package pyarrow",
            allowed=", ".join(f for f in FORMATS if f != "parquet"),
            remedy="./strata setup installs it; or pip install pyarrow",
            code=FAILED,
        ) from None
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(dict(table)), buffer)
    return buffer.getvalue()
