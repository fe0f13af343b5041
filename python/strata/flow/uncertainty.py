"""`strata study uncertainty CASE`: how certain the coefficients of a steady flow are.

The case is run on its grid and on coarser ones of the same family (`grid.coarsen`: every second, fourth, ...
point). What counts: the grid (refinement.py), iteration (iteration.py), the distance of the far field where
the grid is made with one, and of meshes that overlap where they do so. Zones that are joined do not add to
it, and numbers have the same bits on all layouts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strata.errors import FAILED, StrataError
from strata.flow.iteration import Remaining, remaining
from strata.flow.refinement import Refined, refined
from strata.measure.files import write_json
from strata.run import series
from strata.run.case import Case, load, run_case, text_of, with_whole_paths
from strata.run.series import Series

NAMES = {"lift": "Cl", "drag": "Cd", "moment": "Cm"}
# Another place of the overlap: a layer more of receptors, and an interface that leans to the earlier meshes.
_LAYERS, _LEAN = 1, 1.2
_MOST_LAYERS, _MOST_LEAN = 8, 100.0  # that the solver takes
_MADE_WITH_FAR_FIELD = {"cylinder": 50.0, "airfoil": 500.0, "wing": 500.0}  # and their default distances


@dataclass(frozen=True)
class Asked:
    """What the command line asked for."""

    case: Path
    grids: int = 3
    layout: str = "1x1"
    out: Path = Path()
    far_field: bool = True
    say: Callable[[str], None] = print


@dataclass(frozen=True)
class OneGrid:
    """A run on one grid of the family; `width`: of cells, over those of the finest."""

    width: float
    folder: Path
    values: dict[str, float]
    iteration: dict[str, Remaining]
    seconds: float


@dataclass(frozen=True)
class Certain:
    """A coefficient and its parts of uncertainty. `far_field`: None where it was not tried; `overlap`: where
    nothing overlaps.
    """

    name: str
    refined: Refined
    grid: float
    iteration: float
    settled: bool
    far_field: float | None
    overlap: float | None

    @property
    def value(self) -> float:
        return self.refined.value

    @property
    def uncertainty(self) -> float:
        """Errors of iteration are those of the numbers that are fitted, so they add to the grid's; the far
        field and the overlap are independent of both.
        """
        apart = np.hypot(self.far_field or 0.0, self.overlap or 0.0)
        return float(np.hypot(self.grid + self.iteration, apart))


@dataclass
class Study:
    """What was found, the finest grid first."""

    case: Path
    grids: list[OneGrid]
    coefficients: list[Certain]
    said: list[str] = field(default_factory=list)


def study(asked: Asked) -> Study:
    """Runs what is missing in the folder, and judges."""
    case = load(asked.case)
    _check(case, asked)
    base = with_whole_paths(case, asked.case.parent)
    grids: list[OneGrid] = []
    for step in reversed(range(asked.grids)):
        asked.say(_announcement(asked, grids))
        name = f"grid-{_coarsened(base) + step}"
        grids.insert(0, _run(_coarser(base, step), asked, name, 2.0**step))
    far, said = _far_field(base, asked, grids)
    overlap = _overlap(base, asked, grids)
    certain = [_judge(name, grids, far, overlap) for name in NAMES if any(g.values[name] != 0 for g in grids)]
    if not certain:
        raise StrataError(
            "all coefficients are zero: there is nothing to judge",
            at=str(asked.case),
            remedy="a case whose grid has walls",
            code=FAILED,
        )
    for one in certain:
        if not one.settled:
            said.append(f"{NAMES[one.name]} had not settled when iteration ended: more time.iterations")
    found = Study(asked.case, grids, certain, said)
    write_json(asked.out / "uncertainty.json", document(found))
    return found


def _check(case: Case, asked: Asked) -> None:
    if case.get("solver") != "flow":
        raise StrataError(
            "not a case of compressible flow",
            at=f"{asked.case} solver",
            given=str(case.get("solver")),
            allowed='"flow"',
        )
    if case.get("time", {}).get("kind", "steady") != "steady":
        raise StrataError(
            "the uncertainty of a steady flow alone can be studied",
            at=f"{asked.case} time.kind",
            given=str(case["time"]["kind"]),
            allowed='"steady"',
        )
    if not 3 <= asked.grids <= 6:
        raise StrataError(
            "a series of grids has three or more", at="--grids", given=str(asked.grids), allowed="3 to 6"
        )


def _coarsened(case: Case) -> int:
    """How often the case's grid is coarsened; of meshes that overlap, the first."""
    grids = list(case["mesh"].values()) if case.get("mesh") else [case.get("grid", {})]
    return int(grids[0].get("coarsen", 0))


def _coarser(case: Case, step: int) -> Case:
    """The case on a grid of every 2^step-th point, or on such meshes. Coarser grids that a sequence begins on
    are the same ones, so a coarser case has fewer before it, and fewer in a multigrid cycle. What the case
    verifies is about its own grid.
    """
    time_keys = dict(case.get("time", {}))
    before = time_keys.get("sequence", [])
    if before:
        time_keys["sequence"] = before[: max(0, len(before) - step)]
    if "multigrid" in time_keys:
        time_keys["multigrid"] = max(1, time_keys["multigrid"] - step)
    made = {**case, "time": time_keys}

    def coarser(grid: dict[str, Any]) -> dict[str, Any]:
        return {**grid, "coarsen": int(grid.get("coarsen", 0)) + step}

    if case.get("mesh"):
        made["mesh"] = {name: coarser(mesh) for name, mesh in case["mesh"].items()}
    else:
        made["grid"] = coarser(case.get("grid", {}))
    if step > 0:
        made.pop("verify", None)
    return made


def _run(case: Case, asked: Asked, name: str, width: float) -> OneGrid:
    """Runs the case in a folder of that name, or takes what is there of the same case."""
    folder = asked.out / name
    done = folder / "result.json"
    began = time.monotonic()
    if done.exists() and (folder / "case.toml").read_text(encoding="utf-8") == text_of(case):
        asked.say(f"{name}: is there already")
    elif folder.exists():
        raise StrataError(
            "the folder has something else",
            at=str(folder),
            given="another case, or a run that did not end",
            remedy="name a new folder by --out, or remove this one",
            code=FAILED,
        )
    else:
        run_case(case, folder, asked.layout, check=False)
    rows = series.read(folder)
    values = {each: float(rows[each][-1]) for each in NAMES}
    return OneGrid(width, folder, values, _iteration(rows, folder), time.monotonic() - began)


def _iteration(rows: Series, folder: Path) -> dict[str, Remaining]:
    try:
        return {name: remaining(rows[name]) for name in NAMES}
    except ValueError as error:
        raise StrataError(
            str(error),
            at=str(folder / series.NAME),
            given=f"{len(rows)} rows",
            code=FAILED,
            remedy="more time.iterations, or --series 1",
        ) from None


def _announcement(asked: Asked, before: list[OneGrid]) -> str:
    """Which grid is next, and how long it may take: four times as many cells, as many iterations or more."""
    number = len(before) + 1
    text = f"grid {number} of {asked.grids}"
    if before and before[0].seconds > 0.5:
        text += f", about {before[0].seconds * 5:.0f} s (the last one: {before[0].seconds:.0f} s)"
    return text


def _far_field(case: Case, asked: Asked, grids: list[OneGrid]) -> tuple[dict[str, float] | None, list[str]]:
    """On the second grid, with the far field twice as far away: the change is the error where it falls like
    1/r, and more than it where it falls faster.
    """
    kind = case.get("grid", {}).get("kind", "file")
    if not asked.far_field:
        return None, ["far field: not tried (--no-far-field)"]
    if case.get("mesh"):
        return None, ["far field: not tried, since meshes that overlap have it where they end"]
    if kind not in _MADE_WITH_FAR_FIELD:
        return None, [f"far field: not tried, since a grid of kind {kind} has it where it is"]
    near = case["grid"].get("farfield", 0) or _MADE_WITH_FAR_FIELD[kind]
    further = {**case, "grid": {**case["grid"], "farfield": 2 * near}}
    asked.say(f"far field at {2 * near:g} instead of {near:g}, on the second grid")
    one = _run(_coarser(further, 1), asked, "far-field", 2.0)
    return {name: abs(one.values[name] - grids[1].values[name]) for name in NAMES}, []


def _overlap(case: Case, asked: Asked, grids: list[OneGrid]) -> dict[str, float] | None:
    """On the second grid, with the overlap at another place: the change is that of what interpolation does
    there. Errors fall with the grid, so of the finest one it is more than the error.
    """
    if not case.get("mesh"):
        return None
    keys = case.get("overset", {})
    layers, lean = int(keys.get("fringe", 2)), float(keys.get("lean", 1.0))
    layers += _LAYERS if layers + _LAYERS <= _MOST_LAYERS else -_LAYERS
    lean = lean * _LEAN if lean * _LEAN <= _MOST_LEAN else lean / _LEAN
    moved = {**case, "overset": {**keys, "fringe": layers, "lean": lean}}
    asked.say(f"overlap moved (fringe {layers}, lean {lean:g}), on the second grid")
    one = _run(_coarser(moved, 1), asked, "overlap", 2.0)
    return {name: abs(one.values[name] - grids[1].values[name]) for name in NAMES}


def _judge(
    name: str, grids: list[OneGrid], far: dict[str, float] | None, overlap: dict[str, float] | None
) -> Certain:
    found = refined([g.width for g in grids], [g.values[name] for g in grids])
    left = max(g.iteration[name].error for g in grids)
    settled = all(g.iteration[name].settled for g in grids)
    return Certain(
        name,
        found,
        found.uncertainty,
        left,
        settled,
        None if far is None else far[name],
        None if overlap is None else overlap[name],
    )


def with_uncertainty(value: float, error: float) -> str:
    """0.0122713 and 0.0000382 as "0.01227 +- 0.00004": one digit of the error, two where it begins with 1."""
    if not error > 0:
        return f"{value:.6g} +- 0"
    power = int(f"{error:e}".partition("e")[2])
    digits = 2 if error / 10.0**power < 1.95 else 1
    places = max(0, digits - 1 - power)
    return f"{value:.{places}f} +- {error:.{places}f}"


def lines(found: Study) -> list[str]:
    """What the command prints."""
    text = []
    for one in found.coefficients:
        text.append(f"{NAMES[one.name]} = {with_uncertainty(one.value, one.uncertainty)}")
        order = f"order {one.refined.order:.2f}" if one.refined.order is not None else "no order"
        fitted = f"{order}, limit {one.refined.limit:.6g} on {len(one.refined.values)} grids"
        text.append(f"  grid        {one.grid:.1e}  ({fitted}, factor {one.refined.safety:g})")
        text.append(f"  iteration   {one.iteration:.1e}")
        if one.far_field is not None:
            text.append(f"  far field   {one.far_field:.1e}")
        if one.overlap is not None:
            text.append(f"  overlap     {one.overlap:.1e}")
    if all(one.overlap is None for one in found.coefficients):
        text.append("  overlap     none: zones are joined point by point")
    text.append("  layout      0: the same bits on every one")
    return text + found.said


def document(found: Study) -> dict[str, Any]:
    """uncertainty.json (strata.uncertainty/1)."""
    return {
        "schema": "strata.uncertainty/1",
        "case": str(found.case),
        "grids": [
            {"width": g.width, "folder": str(g.folder), "seconds": g.seconds, **g.values} for g in found.grids
        ],
        "coefficients": {
            one.name: {
                "value": one.value,
                "uncertainty": one.uncertainty,
                "grid": one.grid,
                "iteration": one.iteration,
                "far_field": one.far_field,
                "overlap": one.overlap,
                "settled": one.settled,
                "order": one.refined.order,
                "limit": one.refined.limit,
                "safety": one.refined.safety,
            }
            for one in found.coefficients
        },
        "said": found.said,
    }
