"""Energy, virial and forces of atoms that Python has: the native kernels, in a process that stays.

from strata.md.evaluate import Evaluator
from strata.md.potentials import Eam

with Evaluator(Eam("copper.eam.alloy", ("Cu",))) as copper:
    found = copper(positions, cell)
found.energy, found.forces, found.virial
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strata import paths
from strata.errors import FAILED, StrataError
from strata.md.potentials import Potential

PROGRAM = "strata-md-evaluate"
VIRIAL = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class Evaluated:
    """`virial`: the sum of r f over pairs, as xx, yy, zz, xy, xz, yz; its negative is the derivative of the
    energy by a strain.
    """

    energy: float
    virial: np.ndarray
    forces: np.ndarray


class Evaluator:
    """One potential, for as many calls as wanted. The process ends with close(), or when this goes."""

    def __init__(self, potential: Potential) -> None:
        self.potential = potential
        self._process = subprocess.Popen(
            [program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._send(potential.request())

    def __call__(
        self,
        positions: np.ndarray,
        cell: np.ndarray,
        species: Sequence[str] | np.ndarray | None = None,
        periodic: Sequence[bool] = (True, True, True),
    ) -> Evaluated:
        """`cell`: three lengths, or three rows of a matrix, tilted ones too; also smaller than the cutoff.
        `species`: a name for each atom (default: the potential's first).
        """
        at = np.ascontiguousarray(positions, dtype=float)
        if at.ndim != 2 or at.shape[1] != 3 or not np.isfinite(at).all():
            raise StrataError("not positions", given=f"shape {at.shape}", allowed="finite, N x 3")
        names = self.potential.names
        kinds = np.zeros(len(at), dtype=np.int32)
        if species is not None:
            unknown = set(species) - set(names)
            if unknown or len(species) != len(at):
                raise StrataError(
                    "not species of these atoms",
                    given=", ".join(sorted(map(str, unknown))) or f"{len(species)} names",
                    allowed=f"{len(at)} of {', '.join(names)}",
                )
            kinds = np.array([names.index(each) for each in species], dtype=np.int32)
        head = f"atoms {len(at)} {' '.join(str(int(p)) for p in periodic)}\n".encode()
        rows = _complete(cell, periodic)
        self._send(head + rows.tobytes() + at.tobytes() + kinds.tobytes())
        said = self._receive(7 + 3 * len(at))
        return Evaluated(float(said[0]), said[1:7].copy(), said[7:].reshape(-1, 3).copy())

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None  # type: ignore[assignment]
        if process is not None:
            process.stdin.close()  # type: ignore[union-attr]
            process.wait(timeout=30)
            process.stdout.close()  # type: ignore[union-attr]
            process.stderr.close()  # type: ignore[union-attr]

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()

    def _send(self, data: bytes) -> None:
        if self._process is None:
            raise StrataError("the evaluator is closed", remedy="make a new Evaluator", code=FAILED)
        try:
            self._process.stdin.write(data)  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            self._failed()

    def _receive(self, count: int) -> np.ndarray:
        data = self._process.stdout.read(8 * count)  # type: ignore[union-attr]
        if len(data) != 8 * count:
            self._failed()
        return np.frombuffer(data, dtype=float)

    def _failed(self) -> None:
        process, self._process = self._process, None  # type: ignore[assignment]
        process.stdout.close()  # type: ignore[union-attr]
        text = process.stderr.read().decode(errors="replace")  # type: ignore[union-attr]
        code = process.wait(timeout=30)
        raise StrataError.read(text, code) or StrataError(
            f"the program {PROGRAM} has ended before it answered",
            at=PROGRAM,
            given=text.strip()[-300:] or f"exit status {code}",
            remedy="a status of -9 is often a lack of memory; `strata doctor` says what is missing",
            code=FAILED,
        )


def _complete(cell: np.ndarray, periodic: Sequence[bool]) -> np.ndarray:
    """The cell as three rows. Open directions, where a cell may have no edge, get one across the others."""
    rows = np.array(cell, dtype=float)
    rows = np.diag(rows) if rows.shape == (3,) else rows.copy()
    if rows.shape != (3, 3) or not np.isfinite(rows).all():
        raise StrataError("not a cell", given=f"shape {rows.shape}", allowed="3 lengths, or 3 x 3")
    for d in range(3):
        if not periodic[d]:
            rows[d] = 0
    for d in range(3):
        if not periodic[d]:
            kept = rows[np.abs(rows).max(axis=1) > 0]
            # The direction that is farthest from all others
            rows[d] = np.linalg.svd(kept)[2][-1] if len(kept) else np.eye(3)[d]
    scale = np.prod(np.linalg.norm(rows, axis=1))
    if not abs(np.linalg.det(rows)) > 1e-12 * scale:
        raise StrataError(
            "the cell has no volume", given=str(rows.tolist()), allowed="three edges that are in no plane"
        )
    return np.ascontiguousarray(rows)


def program() -> Path:
    """Where the native program is."""
    from strata.run.case import front

    at = front()
    found = paths.sibling(at.resolve(), PROGRAM)
    if found is None:
        paths.need_programs(at, [PROGRAM])
        raise StrataError(f"{PROGRAM} was not built", at=str(at), remedy="./strata setup --all", code=FAILED)
    return found
