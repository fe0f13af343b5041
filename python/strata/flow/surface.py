"""The walls of a run: surface-STEP.csv, with Cp, Cf and y+ of each wall face; recorded curves beside them."""

from __future__ import annotations

import io
import math
import re
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strata import documents, unpacked
from strata.errors import FAILED, StrataError, why
from strata.run.series import rows_of_numbers

MOST = 8 << 20  # bytes of a file of recorded curves: those of the documents have some thousand
_NEEDED = ("x", "y", "cp", "cfx", "cfy", "yplus")


@dataclass(frozen=True)
class Surface:
    """Columns by name, an entry a wall face: x, y, z, cp, cfx, cfy, cfz, yplus, zone, i, j, k."""

    path: Path
    step: int
    columns: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    @property
    def cf(self) -> np.ndarray:
        """The size of friction, whichever way it points."""
        parts = [self.columns[name] for name in ("cfx", "cfy", "cfz") if name in self.columns]
        return np.sqrt(sum(part**2 for part in parts))

    def at(self, x: float, of: np.ndarray) -> float:
        """Between the two face centres around x, of walls with one face at each x (a plate)."""
        order = np.argsort(self["x"])
        return float(np.interp(x, self["x"][order], of[order]))


def newest(folder: Path) -> Surface:
    """The last surface that a run wrote."""
    found = sorted(folder.glob("surface-*.csv"), key=_step)
    if not found:
        raise StrataError(
            "the run wrote no surfaces",
            at=str(folder),
            given="no surface-STEP.csv",
            remedy='a run of solver "flow" with walls writes one at its end',
            code=FAILED,
        )
    return read(found[-1])


def read(path: Path) -> Surface:
    """One file."""
    try:
        text = documents.contents(path, documents.LARGE).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise StrataError("cannot read the surface", at=str(path), given=why(error), code=FAILED) from None
    names, rows = _rows(path, text)
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise StrataError(
            "not a surface of a run",
            at=f"{path}:1",
            given=", ".join(names)[:80],
            allowed=f"columns {', '.join(_NEEDED)}",
        )
    return Surface(path, _step(path), dict(zip(names, rows.T, strict=True)))


def _rows(path: Path, text: str) -> tuple[list[str], np.ndarray]:
    head, *lines = text.splitlines() or [""]
    names = [word.strip() for word in head.split(",")]
    return names, rows_of_numbers(path, names, lines, "surface")


def _step(path: Path) -> int:
    found = re.search(r"surface-(\d+)", path.name)
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class Curve:
    """A recorded curve: values over x, or of a rotor over shares of its radius."""

    name: str
    quantity: str  # cp or cf; cl: the lift of sections
    x: np.ndarray
    values: np.ndarray


def recorded(path: Path) -> list[Curve]:
    """Curves in a file of Tecplot's words, such as NASA's (`variables="x","cp"`, a `zone, t="..."` each),
    also .gz and .xz. The columns x and cp or cf are taken; of a rotor's sections r/R and cl.
    """
    data = unpacked.contents(path, "recorded curves", MOST)
    names: list[str] = []
    found: list[tuple[str, array[float]]] = []
    for number, line in enumerate(io.BytesIO(data), start=1):
        plain = _text(path, number, line)
        if not plain or plain.startswith("#"):
            continue
        if plain.lower().startswith("variables"):
            again = [name.lower() for name in re.findall(r'"([^"]*)"', plain)]
            if names and again != names:
                raise StrataError(
                    "the columns of the curves change",
                    at=f"{path}:{number}",
                    given=plain[:80],
                    allowed=f"{', '.join(names)[:80]} in all zones",
                )
            names = again
        elif plain.lower().startswith("zone"):
            title = re.search(r't\s*=\s*"([^"]*)"', plain, re.IGNORECASE)
            found.append((title[1] if title else "", array("d")))
        else:
            if not found:
                found.append(("", array("d")))
            found[-1][1].extend(_row(path, number, plain, len(names)))
    quantity = next((name for name in names if name in ("cp", "cf", "cl")), None)
    over = "r/r" if quantity == "cl" else "x"
    if quantity is None or over not in names:
        raise StrataError(
            "no curves of Cp or Cf over x, or of a rotor's sections",
            at=str(path),
            given=", ".join(names) or "no variables",
            allowed='variables="x","cp" or "x","cf" or "r/R","cl"',
        )
    curves = []
    for name, values in found:
        table = np.array(values).reshape(-1, len(names))
        x, of = table[:, names.index(over)], table[:, names.index(quantity)]
        curves.append(Curve(name or path.name.split(".")[0], quantity, x, of))
    return curves


def _text(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise StrataError(
            "the curves are not in UTF-8",
            at=f"{path}:{number}",
            given=f"byte 0x{line[error.start]:02x}",
            allowed="UTF-8",
        ) from None


def _row(path: Path, number: int, plain: str, columns: int) -> list[float]:
    try:
        row = [float(word) for word in plain.split()]
    except ValueError:
        row = []
    if not columns or len(row) != columns or not all(map(math.isfinite, row)):
        raise StrataError(
            "a row of the curves is not one of its columns",
            at=f"{path}:{number}",
            given=plain[:80],
            allowed=f"{columns} numbers" if columns else 'variables="x","cp" first',
        )
    return row
