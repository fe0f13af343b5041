"""Trajectories, a frame at a time: extended XYZ and DCD. No reader holds more than one frame."""

from __future__ import annotations

import re
import shlex
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

from strata.errors import FAILED, StrataError


@dataclass
class Frame:
    """Atoms at one moment. `box`: lengths of the edges of the periodic box (None where there is none), which
    begins at `origin`. Atoms are in the order of their ids where the file has ids.
    """

    positions: np.ndarray
    box: np.ndarray | None = None
    origin: np.ndarray = field(default_factory=lambda: np.zeros(3))
    species: np.ndarray | None = None
    ids: np.ndarray | None = None
    step: int | None = None
    time: float | None = None
    periodic: tuple[bool, bool, bool] = (True, True, True)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)  # velocities, forces, ... by the file's name
    values: dict[str, str] = field(default_factory=dict)  # the rest of the line of words

    def __len__(self) -> int:
        return len(self.positions)

    def of(self, kind: str | None) -> np.ndarray:
        """The positions of one species, or of all."""
        if kind is None or self.species is None:
            return self.positions
        return self.positions[self.species == kind]


def read(path: Path | str) -> Iterator[Frame]:
    """The frames of a file, by its ending: .xyz, .extxyz or .dcd."""
    file = Path(path)
    ways = {".xyz": _xyz, ".extxyz": _xyz, ".dcd": _dcd}
    if file.suffix.lower() not in ways:
        raise StrataError(
            "not a trajectory that can be read", at=str(file), allowed=", ".join(ways), given=file.suffix
        )
    return ways[file.suffix.lower()](file)


def count(path: Path | str) -> int:
    """How many frames a file has, without reading atoms."""
    file = Path(path)
    if file.suffix.lower() == ".dcd":
        return sum(1 for _ in read(file))
    found = 0
    with _opened(file, "r") as lines:
        while head := lines.readline():
            if not head.strip().isdigit():
                continue
            ends = [lines.readline() for _ in range(int(head) + 1)][-1]
            found += ends.endswith("\n")
    return found


def last(path: Path | str) -> Frame:
    """The last frame of a file."""
    frame = None
    for frame in read(path):  # noqa: B007
        pass
    if frame is None:
        raise StrataError("the trajectory has no frames", at=str(path), code=FAILED)
    return frame


def _opened(path: Path, mode: str) -> IO:
    try:
        return path.open(mode, **({} if "b" in mode else {"encoding": "utf-8"}))
    except OSError as error:
        raise StrataError(
            f"cannot read the trajectory: {error.strerror}", at=str(path), code=FAILED
        ) from None


def _damaged(path: Path, where: str, given: str, allowed: str) -> StrataError:
    return StrataError(
        "the trajectory is damaged", at=f"{path}{where}", given=given, allowed=allowed, code=FAILED
    )


_TYPES = {"R": float, "I": np.int64, "S": str, "L": str}


def _xyz(path: Path) -> Iterator[Frame]:
    """Extended XYZ: a line with the number of atoms, a line of key=value, a line for each atom. A last frame
    that was cut off (a run that was killed) is left out.
    """
    with _opened(path, "r") as file:
        number = 0
        while head := file.readline():
            if not head.strip():
                number += 1
                continue
            if not head.strip().isdigit():
                raise _damaged(path, f":{number + 1}", head.strip()[:80], "a number of atoms")
            count = int(head)
            words = _words(file.readline(), path, number + 2)
            lines = [file.readline() for _ in range(count)]
            if count and not lines[-1].endswith("\n"):
                return
            yield _xyz_frame(path, number, count, words, lines)
            number += count + 2


def _words(line: str, path: Path, number: int) -> dict[str, str]:
    try:
        pairs = shlex.split(line)
    except ValueError as error:
        raise _damaged(path, f":{number}", str(error), "key=value") from None
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def _xyz_frame(path: Path, number: int, count: int, words: dict[str, str], lines: list[str]) -> Frame:
    columns = re.findall(r"(\w+):([RISL]):(\d+)", words.pop("Properties", "species:S:1:pos:R:3"))
    width = sum(int(n) for *_, n in columns)
    table = "".join(lines).split()
    if len(table) != count * width:
        bad = next(i for i, line in enumerate(lines) if len(line.split()) != width)
        raise _damaged(path, f":{number + 3 + bad}", lines[bad].strip()[:80], f"{width} words")
    cells = np.array(table, dtype=object).reshape(count, width)
    found, at = {}, 0
    for name, kind, n in columns:
        part = cells[:, at : at + int(n)]
        at += int(n)
        try:
            values = part.astype(_TYPES[kind])
        except ValueError as error:
            raise _damaged(
                path, f":{number + 3} to {number + 2 + count}", str(error), f"{name}:{kind}"
            ) from None
        found[name] = values[:, 0] if n == "1" else values
    if "pos" not in found:
        raise _damaged(path, f":{number + 2}", "Properties without pos", "pos:R:3")
    ids = found.pop("id", None)
    if ids is not None and not (ids[1:] > ids[:-1]).all():
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        found = {name: values[order] for name, values in found.items()}
    lower = {key.lower(): value for key, value in words.items()}
    flags = re.findall(r"[TF]", words.get("pbc", "T T T" if "Lattice" in words else "F F F"))
    return Frame(
        found.pop("pos"),
        _lattice(words, path, number + 2),
        np.array(words.get("Origin", "0 0 0").split(), dtype=float),
        found.pop("species", None),
        ids,
        int(lower["step"]) if "step" in lower else None,
        float(lower["time"]) if "time" in lower else None,
        tuple(flag == "T" for flag in flags),  # type: ignore[arg-type]
        found,
        words,
    )


def _lattice(words: dict[str, str], path: Path, number: int) -> np.ndarray | None:
    if "Lattice" not in words:
        return None
    matrix = np.array(words["Lattice"].split(), dtype=float).reshape(3, 3)
    if np.abs(matrix - np.diag(np.diag(matrix))).max() > 1e-9 * np.abs(matrix).max():
        raise _damaged(path, f":{number}", words["Lattice"], "a box with right angles")
    return np.diag(matrix).copy()


def _dcd(path: Path) -> Iterator[Frame]:
    """DCD as CHARMM and NAMD write it: records of Fortran, positions in float. Steps and times follow from
    its first record. A last frame that was cut off is left out.
    """
    with _opened(path, "rb") as file:
        first = file.read(4)
        order = next((o for o in "<>" if first == struct.pack(f"{o}i", 84)), None)
        if order is None:
            raise _damaged(path, "", f"begins with {first!r}", "a record of 84 bytes")
        head = file.read(88)
        if len(head) < 88 or head[:4] != b"CORD":
            raise _damaged(path, "", f"{head[:4]!r}", "CORD")
        control = struct.unpack(f"{order}9if10i", head[4:84])
        begin, every, step_size, cell, four = control[1], control[2], control[9], control[10], control[11]
        _record(file, order)  # the title
        counted = _record(file, order)
        if counted is None or len(counted) != 4:
            raise _damaged(path, "", "no number of atoms", "a record of 4 bytes")
        (count,) = struct.unpack(f"{order}i", counted)
        number = 0
        while True:
            box = _record(file, order) if cell else b""
            axes = [_record(file, order) for _ in range(4 if four else 3)]
            if box is None or any(axis is None for axis in axes):
                return
            if any(len(axis or b"") != 4 * count for axis in axes):
                raise _damaged(
                    path, f", frame {number + 1}", "a record of another length", f"{4 * count} bytes"
                )
            lengths = None
            if cell:  # A, gamma, B, beta, alpha, C; angles in degrees or as cosines
                a, gamma, b, beta, alpha, c = struct.unpack(f"{order}6d", box)
                if any(abs(x) > 1e-6 and abs(x - 90) > 1e-6 for x in (alpha, beta, gamma)):
                    raise _damaged(path, f", frame {number + 1}", "a tilted box", "a box with right angles")
                lengths = np.array([a, b, c])
            positions = np.stack([np.frombuffer(x or b"", f"{order}f4") for x in axes[:3]], axis=1).astype(
                float
            )
            step = begin + number * every
            yield Frame(
                positions,
                lengths,
                step=step,
                time=step * step_size if step_size else None,
                periodic=(lengths is not None,) * 3,
            )
            number += 1


def _record(file: IO[bytes], order: str) -> bytes | None:
    """One record of Fortran; None at the end of the file, or where it is cut off."""
    head = file.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(f"{order}i", head)
    data = file.read(length)
    return data if len(file.read(4)) == 4 else None
