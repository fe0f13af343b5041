"""The states and figures that LAMMPS wrote (lammps/README.md), as arrays."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).resolve().parent / "lammps"


def recorded(name: str) -> dict[str, Any]:
    """What LAMMPS says of a state."""
    return json.loads((RECORDED / f"{name}.json").read_text())


def lines_of(name: str) -> list[str]:
    """Those of the data file."""
    return gzip.decompress((RECORDED / f"{name}.data.gz").read_bytes()).decode().splitlines()


def state(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of the box (which begins at 0), species from 0, positions; by the atoms' numbers."""
    lines = lines_of(name)
    edges = []
    for axis in "xyz":
        low, high, *_ = next(line for line in lines if line.endswith(f"{axis}lo {axis}hi")).split()
        assert float(low) == 0
        edges.append(float(high))
    count = int(next(line for line in lines if line.endswith(" atoms")).split()[0])
    begin = lines.index("Atoms # atomic") + 2
    rows = np.array([line.split()[:5] for line in lines[begin : begin + count]], dtype=float)
    rows = rows[np.argsort(rows[:, 0])]
    return np.array(edges), rows[:, 1].astype(int) - 1, rows[:, 2:]


def masses(name: str) -> np.ndarray:
    """Of each species."""
    lines = lines_of(name)
    begin = lines.index("Masses") + 2
    count = int(next(line for line in lines if line.endswith(" atom types")).split()[0])
    return np.array([float(line.split()[1]) for line in lines[begin : begin + count]])
