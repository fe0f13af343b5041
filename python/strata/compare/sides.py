"""One side of a comparison: a results folder, or the summary.json of one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.characterize import session
from strata.errors import USAGE, StrataError
from strata.measure import stats, summary
from strata.measure.files import read_json

_REMEDY = "give a results folder, or the summary.json of one"


@dataclass(frozen=True)
class Side:
    """What was measured on one side."""

    path: Path
    summary: Mapping[str, Any]  # strata.summary/1

    @property
    def tasks(self) -> dict[str, Mapping[str, Any]]:
        """The tasks that were launched at all, by id. The plan of a race holds all that might have been."""
        return {t["id"]: t for t in self.summary["tasks"] if t["launches"]}


def load(path: Path) -> Side:
    """Reads one side; nothing in its folder is changed.

    Of a results folder the journals are read, not summary.json: they are the truth, also of a run that has
    not ended. Raises StrataError, always with the exit code of bad input.
    """
    try:
        side = Side(path, _checked(_summary(path), path))
    except StrataError as error:
        error.code = USAGE
        if path.is_dir() and (path / "summary.json").exists():  # such as a plan that another version wrote
            error.remedy = f"{error.remedy}; or give {path / 'summary.json'}, made when it was measured"
        raise
    if not side.tasks:
        raise StrataError("nothing was measured in these results", at=str(path), remedy=_REMEDY)
    return side


def _summary(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        raise StrataError("no such results", at=str(path), remedy=_REMEDY)
    if not path.is_dir():
        return read_json(path, summary.SCHEMA, _REMEDY)
    if (path / "plan.json").exists():
        return session.from_journals(path)
    if (path / "summary.json").exists():
        return read_json(path / "summary.json", summary.SCHEMA, _REMEDY)
    raise StrataError(
        "not a results folder: it has neither plan.json nor summary.json", at=str(path), remedy=_REMEDY
    )


def _checked(whole: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Refuses a summary that lacks what a comparison reads, whoever wrote it."""
    try:
        for task in whole["tasks"]:
            for key in ("id", "benchmark", "layout", "command", "launches", "figures"):
                task[key]
            for figure in task["figures"]:
                figure["unit"], figure["better"]
                if not all(math.isfinite(s) for s in figure["samples"]):
                    raise ValueError(f"a sample of {figure['name']} in {task['id']} is not a finite number")
        dict(whole["machine"]), dict(whole["provenance"])
    except (KeyError, TypeError, ValueError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise StrataError("damaged summary", at=str(path), given=why, remedy=_REMEDY) from None
    return whole


LEAST = stats.LEAST  # launches on each side below which nothing is said
