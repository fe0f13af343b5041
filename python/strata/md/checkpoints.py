"""Atoms of a checkpoint, as NumPy arrays in the order of their numbers (the form: docs/run-output.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from strata import documents
from strata.errors import FAILED, StrataError, why

_SCALE = "scale of the box"
_TYPES = {"f64": "<f8", "f32": "<f4", "i64": "<i8", "i32": "<i4", "u8": "u1"}


@dataclass(frozen=True)
class State:
    """What was kept of each atom at one step, by the labels' names; `ids` says which atom a row is."""

    step: int
    time: float
    ids: np.ndarray
    labels: dict[str, np.ndarray]
    scale: float = 1.0  # of the box, beside a barostat: places are so many times `position`

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.labels:
            raise StrataError(
                "the checkpoint has no such label", given=name, allowed=", ".join(sorted(self.labels))
            )
        return self.labels[name]


def newest(run: Path) -> Path:
    """The last checkpoint in a run's folder."""
    found = [path for path in run.glob("checkpoint-*") if path.name.rpartition("-")[2].isdecimal()]
    if not found:
        raise StrataError("the run has no checkpoint", at=str(run), remedy="strata run CASE --checkpoint N")
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]))


def read(folder: Path | str, ids: str = "atoms.id") -> State:
    """The labels on atoms: those with as many values on each patch as the label `ids` has."""
    at = Path(folder)
    try:
        return _read(at, ids)
    except (OSError, *documents.ODD) as error:
        known = isinstance(error, (OSError, ValueError))
        raise StrataError(
            "cannot read the checkpoint",
            at=str(at),
            given=why(error) if known else f"it lacks what a checkpoint has ({error})",
            allowed="a folder checkpoint-STEP of a run of molecular dynamics",
            code=FAILED,
        ) from None


def _read(at: Path, ids: str) -> State:
    head = documents.from_json(documents.contents(at / "checkpoint.json"))
    parts: dict[tuple[str, int], np.ndarray] = {}
    for index in sorted(at.glob("part-*.index")):
        # Not mapped: reading the memory of a file that somebody else makes shorter kills the reader.
        with documents.opened(index.with_suffix(".data")) as data:
            for line in documents.contents(index, documents.LARGE).decode().splitlines():
                chunk = documents.from_json(line)
                if "label" not in chunk or chunk["generation"] != 0:
                    continue
                label = head["labels"][chunk["label"]]
                if label["element"] in _TYPES and chunk["bytes"]:
                    values = np.frombuffer(_piece(data, chunk), _TYPES[label["element"]])
                    width = label["components"]  # all values of one, then all of the next
                    shaped = values.reshape(width, -1).T if width > 1 else values
                    parts[label["name"], chunk["patch"]] = shaped
    patches = sorted(patch for name, patch in parts if name == ids)
    if not patches:
        labels = ", ".join(sorted({name for name, _ in parts}))
        raise StrataError(
            "the checkpoint has no atoms",
            at=str(at),
            given=f"no label {ids!r} among {labels or 'none'}",
            allowed="a checkpoint of a run of molecular dynamics",
            code=FAILED,
        )
    numbers = np.concatenate([parts[ids, patch] for patch in patches])
    order = np.argsort(numbers, kind="stable")
    scale = float(parts.get((_SCALE, 0), np.ones(1))[0])
    labels = {}
    for name in dict.fromkeys(name for name, _ in parts):
        if all(
            (name, patch) in parts and len(parts[name, patch]) == len(parts[ids, patch]) for patch in patches
        ):
            labels[name] = np.concatenate([parts[name, patch] for patch in patches])[order]
    return State(int(head["step"]), float(head["time"]), numbers[order], labels, scale)


def _piece(data: IO[bytes], chunk: dict[str, Any]) -> bytes:
    begin, length = chunk["offset"], chunk["bytes"]
    size = os.fstat(data.fileno()).st_size
    if 0 <= begin <= begin + length <= size:
        data.seek(begin)
        if len(found := data.read(length)) == length:
            return found
    raise ValueError(f"bytes {begin} to {begin + length} of a file of {size}")
