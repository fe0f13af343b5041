"""Trajectories, a frame at a time: extended XYZ and DCD. No reader holds more than one frame."""

from __future__ import annotations

import io
import os
import re
import shlex
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from strata import documents
from strata.errors import FAILED, StrataError, why


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
    """The frames of a file, by its ending, one of ENDINGS."""
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise StrataError(
            "not a trajectory that can be read", at=str(file), allowed=", ".join(ENDINGS), given=file.suffix
        )
    return _in_utf8(file, _READERS[file.suffix.lower()](file))


def _in_utf8(path: Path, found: Iterator[Frame]) -> Iterator[Frame]:
    try:
        yield from found
    except UnicodeDecodeError as error:
        raise _damaged(path, "", f"not in UTF-8: {error}", "UTF-8") from None


def count(path: Path | str) -> int:
    """How many frames a file has, without reading atoms."""
    file = Path(path)
    if file.suffix.lower() == ".dcd":
        return sum(1 for _ in read(file))
    found = 0
    with _opened(file, "rb") as lines:
        while head := lines.readline():
            atoms = _atoms(head)
            if atoms is None:
                continue
            ended = (line.endswith(b"\n") for line in islice(lines, atoms + 1))
            found += sum(ended) == atoms + 1
    return found


def _atoms(head: str | bytes) -> int | None:
    """The number of atoms at the head of a frame; None where it is none, or no file could hold so many."""
    word = head.strip()
    return int(word) if word.isdigit() and word.isascii() and len(word) <= 12 else None


def last(path: Path | str) -> Frame:
    """The last frame of a file."""
    frame = None
    for frame in read(path):  # noqa: B007
        pass
    if frame is None:
        raise StrataError(
            "the trajectory has no frames", at=str(path), allowed="one frame or more", code=FAILED
        )
    return frame


def _opened(path: Path, mode: str) -> IO:
    try:
        file = documents.streamed(path)
        return file if "b" in mode else io.TextIOWrapper(file, "utf-8")
    except OSError as error:
        raise StrataError("cannot read the trajectory", at=str(path), given=why(error), code=FAILED) from None


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
            count = _atoms(head)
            if count is None:
                raise _damaged(path, f":{number + 1}", head.strip()[:80], "a number of atoms")
            words = _words(file.readline(), path, number + 2)
            lines = list(islice(file, count))
            if len(lines) < count or (count and not lines[-1].endswith("\n")):
                return
            try:
                frame = _xyz_frame(path, number, count, words, lines)
            except (ValueError, OverflowError) as error:
                raise _damaged(path, f":{number + 2}", str(error), "words of extended XYZ") from None
            yield frame
            number += count + 2


def _words(line: str, path: Path, number: int) -> dict[str, str]:
    try:
        pairs = shlex.split(line)
    except ValueError as error:
        raise _damaged(path, f":{number}", str(error), "key=value") from None
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def _xyz_frame(path: Path, number: int, count: int, words: dict[str, str], lines: list[str]) -> Frame:
    columns = _columns(words.pop("Properties", "species:S:1:pos:R:3"))
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
        except (ValueError, OverflowError) as error:
            raise _damaged(
                path, f":{number + 3} to {number + 2 + count}", str(error), f"{name}:{kind}"
            ) from None
        found[name] = values[:, 0] if n == "1" else values
    if "pos" not in found or found["pos"].shape != (count, 3):
        raise _damaged(path, f":{number + 2}", "Properties without three numbers pos", "pos:R:3")
    ids = found.pop("id", None)
    if ids is not None and ids.shape != (count,):
        raise _damaged(path, f":{number + 2}", "Properties with several ids", "id:I:1")
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


def _columns(text: str) -> list[tuple[str, str, str]]:
    """Name, kind and number of `pos:R:3:id:I:1`. Raises ValueError."""
    words = text.split(":")
    found = list(zip(words[::3], words[1::3], words[2::3], strict=False))
    if len(words) % 3 or any(kind not in _TYPES or not re.fullmatch("[0-9]{1,4}", n) for _, kind, n in found):
        raise ValueError(f"Properties={text[:80]} is not name:kind:number ...")
    return found


def _lattice(words: dict[str, str], path: Path, number: int) -> np.ndarray | None:
    if "Lattice" not in words:
        return None
    matrix = np.array(words["Lattice"].split(), dtype=float).reshape(3, 3)
    if not np.isfinite(matrix).all():
        raise _damaged(path, f":{number}", words["Lattice"], "nine numbers")
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
            if cell and len(box or b"") != 48:
                raise _damaged(path, f", frame {number + 1}", f"a box of {len(box or b'')} bytes", "48 bytes")
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
    if length < 0:
        raise _damaged(Path(file.name), "", f"a record of {length} bytes", "0 or more")
    if length > os.fstat(file.fileno()).st_size - file.tell():
        return None
    data = file.read(length)
    return data if len(file.read(4)) == 4 else None


# A form of trajectories is a row here; what looks for a run's trajectory tries the endings in this order.
_READERS = {".xyz": _xyz, ".extxyz": _xyz, ".dcd": _dcd}
ENDINGS = tuple(_READERS)
