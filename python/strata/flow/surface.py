"""The walls of a run: surface-STEP.csv, with Cp, Cf and y+ of each wall face; recorded curves beside them."""

from __future__ import annotations

import lzma
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strata.errors import FAILED, StrataError
from strata.run.series import rows_of_numbers

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
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StrataError(f"cannot read the surface: {error.strerror}", at=str(path), code=FAILED) from None
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
    also .xz. The columns x and cp or cf are taken; of a rotor's sections r/R and cl.
    """
    try:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode("utf-8")
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise StrataError("cannot read the curves", at=str(path), given=str(error)) from None
    names: list[str] = []
    found: list[tuple[str, list[list[float]]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        plain = line.strip()
        if not plain or plain.startswith("#"):
            continue
        if plain.lower().startswith("variables"):
            names = [name.lower() for name in re.findall(r'"([^"]*)"', plain)]
        elif plain.lower().startswith("zone"):
            title = re.search(r't\s*=\s*"([^"]*)"', plain, re.IGNORECASE)
            found.append((title[1] if title else "", []))
        else:
            try:
                row = [float(word) for word in plain.split()]
            except ValueError:
                row = []
            if not names or len(row) != len(names):
                raise StrataError(
                    "a row of the curves is not one of its columns",
                    at=f"{path}:{number}",
                    given=plain[:80],
                    allowed=f"{len(names)} numbers" if names else 'variables="x","cp" first',
                )
            if not found:
                found.append(("", []))
            found[-1][1].append(row)
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
    for name, rows in found:
        table = np.array(rows).reshape(len(rows), len(names))
        x, values = table[:, names.index(over)], table[:, names.index(quantity)]
        curves.append(Curve(name or path.name.split(".")[0], quantity, x, values))
    return curves
