"""Runs cases of molecular dynamics from Python, on any layout.

    from strata import md

    case = md.load("cases/md/melt.toml")             # or a dict of the same sections and keys
    case["system"]["cells"] = [10, 10, 10]
    done = md.run(case, steps=200, layout="1x2")
    done.thermo["temperature"], done.positions

The native program does the work: it is started with a case file, and what it wrote is read back.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strata import documents, own_folders
from strata.errors import StrataError
from strata.md import checkpoints
from strata.md.atoms import Atoms, write_xyz
from strata.md.checkpoints import State
from strata.run import series
from strata.run.case import load, run_case, with_whole_paths
from strata.run.series import Series


@dataclass
class Run:
    """A run that is over. Arrays are in the order of the atoms' numbers, `ids`. `velocities` are half a step
    ahead of positions, as the solver keeps them (docs/md.md).
    """

    folder: Path
    _kept: Any = None  # the temporary folder, which goes when the run does

    @cached_property
    def thermo(self) -> Series:
        return series.read(self.folder)

    @cached_property
    def result(self) -> dict[str, Any]:
        """result.json: figures, verification, provenance."""
        return documents.from_json(documents.contents(self.folder / "result.json"))

    @cached_property
    def state(self) -> State:
        """What the last checkpoint has of each atom."""
        return checkpoints.read(checkpoints.newest(self.folder))

    @property
    def ids(self) -> np.ndarray:
        return self.state.ids

    @property
    def positions(self) -> np.ndarray:
        return self.state.scale * self.state["position"]

    @property
    def velocities(self) -> np.ndarray:
        return self.state["velocity"]


def run(
    case: Mapping[str, Any] | Path | str,
    *,
    atoms: Atoms | None = None,
    steps: int | None = None,
    layout: str = "1x1",
    out: Path | str | None = None,
    options: tuple[str, ...] = (),
    check: bool = True,
) -> Run:
    """Runs a case to its end. `atoms`: the state to begin with, instead of the case's lattice or file; with
    velocities, unless the case has a temperature. `steps` instead of the case's own; `out`: a new folder for
    what the run writes (default: a temporary one that goes with the result); `options`: more of `strata run`,
    such as ("--profile",). Raises StrataError where the run fails or, with `check`, is not verified.
    """
    whole = load(case) if isinstance(case, Path | str) else copy.deepcopy(dict(case))
    whole.setdefault("solver", "md")
    if steps is not None:
        whole["time"] = {**whole.get("time", {}), "steps": steps}
    last = whole.get("time", {}).get("steps")
    if not isinstance(last, int) or last < 0:
        raise StrataError("a case says how many steps", at="time.steps", given=str(last), allowed="1 or more")
    kept = None
    if out is None:
        kept = tempfile.TemporaryDirectory(prefix="strata-md-")
        folder = Path(kept.name) / "run"
    else:
        folder = Path(out)
    own_folders.make_results(folder)
    if atoms is not None:
        _begin_with(atoms, whole, folder)
    base = Path(case).parent if isinstance(case, Path | str) else Path()
    kept_steps = ("--checkpoint", str(max(1, last)))
    run_case(with_whole_paths(whole, base), folder, layout, (*kept_steps, *options), check)
    return Run(folder, kept)


def _begin_with(atoms: Atoms, case: dict[str, Any], folder: Path) -> None:
    """Writes the atoms beside the case, and names them in it."""
    start = folder / "start.xyz"
    write_xyz(start, atoms)
    system = {k: v for k, v in case.get("system", {}).items() if k not in ("lattice", "cells", "density")}
    system["file"] = str(start.resolve())
    if "temperature" not in system:
        system["temperature"] = 0.0 if atoms.velocities is None else -1.0
    case["system"] = system
    kinds = dict(case.get("kinds", {}))
    kinds.setdefault("names", atoms.kinds())
    if atoms.masses:
        kinds.setdefault("masses", [atoms.masses[name] for name in kinds["names"]])
    case["kinds"] = kinds
