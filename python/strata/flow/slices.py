"""Cuts through the flow that a run wrote: slice-NAME-STEP.csv, a row for each piece of a cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strata import documents
from strata.errors import FAILED, StrataError, why
from strata.run.series import rows_of_numbers

_NEEDED = ("x", "y", "z", "size", "rho", "p")
VORTEX = "q_criterion"


@dataclass(frozen=True)
class Slice:
    """Columns by name, an entry a piece: x, y, z, size, rho, u, v, w, p, zone, i, j, k; with output.vortices
    vorticity_x, vorticity_y, vorticity_z and q_criterion as well.
    """

    path: Path
    name: str  # "x-0.5", "azimuth-60", "q-0.01", "zone-2-k-5"
    step: int
    columns: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return len(self.columns["x"])

    @property
    def kind(self) -> str:
        """ "x", "y", "z": a plane; "azimuth", "q" or "zone"."""
        return self.name.partition("-")[0]

    @property
    def value(self) -> float:
        """The coordinate, the angle in degrees or the value of Q."""
        return float(self.name.partition("-")[2])

    @property
    def places(self) -> np.ndarray:
        """(pieces, 3)"""
        return np.stack([self["x"], self["y"], self["z"]], axis=1)


def newest(folder: Path) -> list[Slice]:
    """Of each slice of a run the last one that it wrote, by name."""
    last: dict[str, tuple[int, Path]] = {}
    for path in folder.glob("slice-*.csv"):
        found = re.fullmatch(r"slice-(.+)-(\d+)\.csv", path.name)
        if found and int(found[2]) >= last.get(found[1], (-1, path))[0]:
            last[found[1]] = int(found[2]), path
    return [read(path) for _, (_, path) in sorted(last.items())]


def read(path: Path) -> Slice:
    """One file."""
    found = re.fullmatch(r"slice-(.+)-(\d+)\.csv", path.name)
    try:
        head, *lines = documents.contents(path, documents.LARGE).decode().splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        raise StrataError("cannot read the slice", at=str(path), given=why(error), code=FAILED) from None
    names = [word.strip() for word in head.split(",")]
    if found is None or any(name not in names for name in _NEEDED):
        raise StrataError(
            "not a slice of a run",
            at=f"{path}:1",
            given=head[:80],
            allowed=f"slice-NAME-STEP.csv with columns {', '.join(_NEEDED)}",
        )
    rows = rows_of_numbers(path, names, lines, "slice")
    return Slice(path, found[1], int(found[2]), dict(zip(names, rows.T, strict=True)))
