"""The error that is left in a number because iteration was ended, from its series.

What is still to come is a geometric sum where a number settles like powers (L. Eca and M. Hoekstra,
"Evaluation of numerical error estimation based on grid refinement studies with the method of the
manufactured solutions", Comput. Fluids 38 (2009) 1580): with a change a over the last part of the series and
b over the part of the same length before it, it is at most a r / (1 - r), r = a / b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_PART = 0.1  # of the rows
_SLOWEST = 0.98
_STILL = 0.3  # of what it moves within a part, from part to part


@dataclass(frozen=True)
class Remaining:
    """`error`: of the last row; `settled`: whether changes get smaller."""

    error: float
    settled: bool


def remaining(values: np.ndarray) -> Remaining:
    """Of a number over the iterations on one grid, from its rows at equal distances. ValueError where there
    are fewer than ten of them.
    """
    if len(values) < 10:
        raise ValueError("too few rows to judge iteration by: at least 10")
    rows = max(3, int(_PART * len(values)))
    late, early = values[-rows - 1 :], values[-2 * rows - 1 : -rows]
    a, b = float(np.ptp(late)), float(np.ptp(early))
    if a == 0:
        return Remaining(0.0, True)
    ratio = a / b if b > 0 else 1.0
    # A series that goes up and down around its limit is off by less than it moves.
    if abs(late.mean() - early.mean()) < _STILL * a:
        return Remaining(a, True)
    if ratio < _SLOWEST:
        return Remaining(max(a, a * ratio / (1 - ratio)), True)
    return Remaining(a / (1 - _SLOWEST), False)
