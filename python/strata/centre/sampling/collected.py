"""What another collector measured, as CSV: a row for each node, or each job on it, and each stretch of time.

`time` is its end, `seconds` how long it was, `node` where. `job` is empty in rows of a whole node. `program`,
`cores` (of the node), the rates `cpu` (processors busy), `read`, `written`, `traffic` (bytes a second) and
`flops`, and `memory` (bytes) may be left out; an empty cell was not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from strata.centre.outages import times
from strata.centre.outages.tables import table
from strata.centre.sampling.ring import CPU, IO, JOB, MEMORY, NODE, OPERATIONS, TRAFFIC
from strata.errors import StrataError

if TYPE_CHECKING:
    import pandas as pd

NEEDED = (("time",), ("seconds",), ("node",))
RATES = {"flops": OPERATIONS, "traffic": TRAFFIC, "cpu": CPU, "read": IO, "written": IO}
_NUMBERS = ("seconds", "cores", "memory", *RATES)


@dataclass(frozen=True)
class Collected:
    """Columns of a file, an entry for each row; `rates` in the order of RATES."""

    node: np.ndarray
    job: np.ndarray
    program: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    rates: np.ndarray
    columns: np.ndarray

    @property
    def kind(self) -> np.ndarray:
        return np.where(self.job == "", NODE, JOB)


def read(path: Path) -> Collected:
    """A file's rows. Raises StrataError with row and column for what is damaged."""
    found, rows = table(path, NEEDED, what="table of samples")
    end = times.read(found["time"], times.UTC)
    bad = np.isnan(end.seconds)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise times.refusal(False, f"{path}: row {rows[i]}, column time", found["time"].iloc[i], times.UTC)
    numbers = {name: _numbers(path, found, rows, name) for name in _NUMBERS}
    seconds = numbers["seconds"]
    if not (seconds > 0).all():
        i = int(np.flatnonzero(~(seconds > 0))[0])
        raise StrataError(
            "not a stretch of time",
            at=f"{path}: row {rows[i]}, column seconds",
            given=found["seconds"].iloc[i] or "nothing",
            allowed="a number above 0",
        )
    columns = np.zeros(len(found), int)
    for name, bit in {**RATES, "memory": MEMORY}.items():
        columns |= np.where(np.isnan(numbers[name]), 0, bit)
    blank = np.full(len(found), "", dtype=object)
    job, program = (found[n].to_numpy(object) if n in found else blank for n in ("job", "program"))
    rates = np.stack([np.nan_to_num(numbers[name]) for name in RATES], axis=1)
    return Collected(
        found["node"].to_numpy(object),
        job,
        program,
        end.seconds - seconds,
        end.seconds,
        np.nan_to_num(numbers["cores"]),
        np.nan_to_num(numbers["memory"]),
        rates,
        columns,
    )


def _numbers(path: Path, found: pd.DataFrame, rows: np.ndarray, name: str) -> np.ndarray:
    """A column of numbers of 0 and more, NaN where a cell is empty or the column is not there."""
    import pandas as pd

    if name not in found:
        return np.full(len(found), np.nan)
    values = pd.to_numeric(found[name], errors="coerce").to_numpy(float)
    bad = (np.isnan(values) & (found[name] != "").to_numpy()) | (values < 0)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise StrataError(
            "not a number of 0 or more",
            at=f"{path}: row {rows[i]}, column {name}",
            given=found[name].iloc[i],
            allowed="a number, or nothing where it was not counted",
        )
    return values
