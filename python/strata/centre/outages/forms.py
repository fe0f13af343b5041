"""Logs in whatever form they come, read into one."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from strata.centre.outages import lanl, nagios, slurm
from strata.centre.outages.categories import Categories
from strata.centre.outages.log import Cells, Log, read_cells, understood
from strata.errors import StrataError

FORMS: Mapping[str, Callable[[Path, Categories], Cells]] = {
    "lanl": lanl.read,
    "slurm": slurm.read,
    "nagios": nagios.read,
}


def read(
    paths: Sequence[Path], form: str | None, categories: Categories, zone: str, systems: str | None
) -> Log:
    """The logs as one, with the systems that a pattern of a shell matches (`systems`: several with commas).

    Raises StrataError for unknown forms, damaged logs, and patterns that match none.
    """
    if form is not None and form not in FORMS:
        raise StrataError("an unknown form of logs", at="--from", given=form, allowed=", ".join(FORMS))
    reader = FORMS[form] if form is not None else lambda path, _: read_cells(path)
    logs = [understood(reader(path, categories), categories, zone) for path in paths]
    log = logs[0] if len(logs) == 1 else _joined(logs)
    return log if systems is None else _chosen(log, systems)


def _joined(logs: Sequence[Log]) -> Log:
    import pandas as pd

    words = ("system", "node", "description")
    rows = pd.concat([log.rows.astype(dict.fromkeys(words, str)) for log in logs], ignore_index=True)
    rows = rows.astype(dict.fromkeys(words, "category"))
    said = [f"{log.path}: {line}" for log in logs for line in log.said]
    generated = next((log.generated for log in logs if log.generated), "")
    return Log(", ".join(log.path for log in logs), rows, logs[0].zone, generated, said)


def _chosen(log: Log, systems: str) -> Log:
    every = list(log.rows["system"].cat.categories)
    wanted = {n for pattern in systems.split(",") for n in fnmatch.filter(every, pattern.strip())}
    if not wanted:
        raise StrataError(
            "no such system in the log", at="--systems", given=systems, allowed=", ".join(every[:30])
        )
    rows = log.rows[log.rows["system"].isin(wanted)].copy()
    rows["system"] = rows["system"].cat.remove_unused_categories()
    return Log(log.path, rows, log.zone, log.generated, log.said)
