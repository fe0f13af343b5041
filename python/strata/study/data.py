"""The samples of a results folder as a table: for other programs, a notebook, and questions of one's own.

One row for each figure of each launch; disturbed and failed launches and the warm-up are there, and marked.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strata import csv_cells, paths
from strata.errors import FAILED, StrataError
from strata.measure import index, store
from strata.measure.files import write_named
from strata.measure.plan import Task

if TYPE_CHECKING:
    import pandas

FORMATS = ("csv", "json", "parquet")
# What stands after the task, the labels of the study (program, setting, its values) and the layout.
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
        measured = index.every_sample(connection)
    finally:
        connection.close()
    _wall(measured)
    known = {task.id: task for task in plan.tasks}
    values: dict[str, Callable[[Task], Any]] = {
        **{key: lambda t, key=key: t.labels.get(key) for key in labels},  # type: ignore[misc]
        "layout": lambda t: t.layout,
        "processes": lambda t: int(t.layout.split("x")[0]),
        "threads": lambda t: int(t.layout.split("x")[1]),
        "stride": lambda t: t.stride,
        "bind": lambda t: t.bind,
    }
    table: Columns = {"task": measured["task"]}
    for name, ask in values.items():
        answers = {key: ask(task) for key, task in known.items()}
        table[name] = list(map(answers.get, measured["task"]))
    return {**table, **{name: measured[name] for name in _AFTER}}


def _wall(measured: Columns) -> None:
    """A launch that left no figures, though it ended well, has its wall time as the figure."""
    figure, value, unit = (measured[name] for name in ("figure", "value", "unit"))
    for i, wall in enumerate(measured["wall_s"]):
        if figure[i] is None and wall is not None and measured["failed"][i] is None:
            figure[i], value[i], unit[i] = "wall", wall, "s"


def frame(source: Path | str | Columns) -> pandas.DataFrame:
    """The table of a results folder, or one that was read already, as a DataFrame, `time` in UTC."""
    try:
        import pandas as pd
    except ImportError:
        raise _without("a DataFrame", "pandas") from None
    table = pd.DataFrame(source if isinstance(source, dict) else columns(Path(source)))
    table["time"] = pd.to_datetime(table["time"], utc=True)
    return table


def export(folder: Path, form: str, out: Path | None) -> Path | None:
    """Writes the table to `out`, whole or not at all; without it text to standard output."""
    if form not in FORMATS:
        raise StrataError("unknown format", at="--format", given=form, allowed=", ".join(FORMATS))
    if form == "parquet" and out is None:
        raise StrataError(
            "Parquet is no text", at="--format parquet", remedy="name a file: --out FILE.parquet"
        )
    table = columns(folder)
    if out is None:
        print(_encoded(table, form).decode(), end="")
        return None
    return write(table, form, out)


def write(table: Columns, form: str, out: Path) -> Path:
    """Writes a table to `out`, whole or not at all; into what is no file, as it is."""
    content = _encoded(table, form)
    write_named(out, content)
    return out


def _encoded(table: Columns, form: str) -> bytes:
    return {"csv": _csv, "json": _json, "parquet": _parquet}[form](table)


def _without(form: str, package: str) -> StrataError:
    """A checkout gets the package when it is first asked for, and the command then starts anew."""
    for front in paths.fronts():
        paths.need_programs(front, ["data"])
    return StrataError(
        f"{form} needs the package {package}",
        allowed=", ".join(f for f in FORMATS if f != "parquet"),
        remedy=f"./strata setup --all installs it; or pip install {package}",
        code=FAILED,
    )


def _csv(table: Mapping[str, list[Any]]) -> bytes:
    return csv_cells.text_of(list(table.values()), table).encode()


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
        raise _without("Parquet", "pyarrow") from None
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(dict(table)), buffer)
    return buffer.getvalue()
