"""What no run of a job can be: refused with its row, or left out and counted where that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strata.centre.jobs.rows import RUNNING
from strata.centre.outages import times
from strata.errors import StrataError

REMEDY = "--leave-out-damaged leaves such rows out and says how many"


@dataclass
class Checks:
    """Of one file: `where` gives number and text of a data row, `names` what the file calls a column."""

    path: Path
    where: Callable[[int], tuple[int, str]]
    zone: str = times.UTC
    lenient: bool = False
    left_out: dict[str, list[int]] = field(default_factory=dict)  # why: how many, and the first row
    seen: int = 0  # data rows of blocks before

    def wrong(self, mask: np.ndarray, place: np.ndarray, why: str, column: str, allowed: str) -> np.ndarray:
        """Refuses the first row of a mask. Where damage is left out, counts the rows and gives the mask back.
        `place`: the data row of each entry.
        """
        if mask.any():
            first = int(place[int(np.flatnonzero(mask)[0])])
            if not self.lenient:
                number, line = self.where(first)
                raise StrataError(
                    why,
                    at=f"{self.path}: row {number}, {column}",
                    given=line.strip()[:160],
                    allowed=allowed,
                    remedy=REMEDY,
                )
            entry = self.left_out.setdefault(f"{why} ({column})", [0, first])
            entry[0] += int(mask.sum())
        return mask

    def said(self) -> list[str]:
        return [
            f"{n} {'row' if n == 1 else 'rows'} (the first is row {self.where(first)[0]}) left out: {why}."
            for why, (n, first) in self.left_out.items()
        ]


def sound(piece: dict[str, Any], place: np.ndarray, checks: Checks, ends: str = "end") -> dict[str, Any]:
    """The rows of a piece that may be: none ends before it starts, or held a negative number of cores."""
    with np.errstate(invalid="ignore"):
        bad = checks.wrong(
            piece["end"] < piece["start"],
            place,
            "a job that ends before it starts",
            ends,
            "an end after the start",
        )
        bad = bad | checks.wrong(
            piece["cores"] < 0,
            place,
            "a negative number of processors, or one of too many digits",
            "processors",
            "0 or more",
        )
        ran = (piece["end"] > piece["start"]) | (piece["state"] == RUNNING)
        bad = bad | checks.wrong(
            ran & (piece["cores"] == 0),
            place,
            "a job that ran on no processor",
            "processors",
            "1 or more",
        )
    return without(piece, bad)


def without(piece: dict[str, Any], bad: np.ndarray) -> dict[str, Any]:
    """A piece less some of its rows."""
    if not bad.any():
        return piece
    return {
        name: (value[0][~bad], value[1]) if isinstance(value, tuple) else value[~bad]
        for name, value in piece.items()
        if value is not None
    }
