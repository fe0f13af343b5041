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
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strata import paths
from strata.errors import FAILED, StrataError
from strata.md import checkpoints, thermo
from strata.md.atoms import Atoms, write_xyz
from strata.md.checkpoints import State
from strata.md.thermo import Thermo

Case = dict[str, Any]


def load(path: Path | str) -> Case:
    """A case file as a dict, to be changed and run."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise StrataError(f"cannot read the case: {error.strerror}", at=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise StrataError("the case is not TOML", at=str(path), given=str(error)) from None


def text_of(case: Mapping[str, Any]) -> str:
    """The case as TOML."""
    plain = [f"{key} = {_value(value)}" for key, value in case.items() if not isinstance(value, Mapping)]
    for section, keys in case.items():
        if isinstance(keys, Mapping):
            plain += ["", f"[{section}]"] + [f"{key} = {_value(value)}" for key, value in keys.items()]
    return "\n".join(plain) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool | str | Path):
        return json.dumps(value if isinstance(value, bool) else str(value))
    if isinstance(value, int | float):
        return repr(value)
    raise StrataError("a case has no such values", given=repr(value), allowed="numbers, text, lists of them")


@dataclass
class Run:
    """A run that is over. Arrays are in the order of the atoms' numbers, `ids`. `velocities` are half a step
    ahead of positions, as the solver keeps them (docs/md.md).
    """

    folder: Path
    _kept: Any = None  # the temporary folder, which goes when the run does

    @cached_property
    def thermo(self) -> Thermo:
        return thermo.read(self.folder)

    @cached_property
    def result(self) -> dict[str, Any]:
        """result.json: figures, verification, provenance."""
        return json.loads((self.folder / "result.json").read_text(encoding="utf-8"))

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
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "case.toml"
    if atoms is not None:
        _begin_with(atoms, whole, folder)
    # Names of files in a case are relative to it
    base = case if isinstance(case, Path | str) else None
    text = text_of(_found(whole, Path(base).parent if base is not None else Path()))
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise StrataError("the folder has a run already", at=str(folder), allowed="a new folder") from None
    command = [str(front()), "run", str(file), "--layout", layout, "--out", str(folder), "--quiet"]
    command += ["--checkpoint", str(max(1, last)), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode and (check or not (folder / "result.json").exists()):
        raise StrataError.read(done.stderr, done.returncode) or StrataError(
            "the run failed",
            at=str(file),
            given=(done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}")[-500:],
            code=FAILED,
        )
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


def _found(case: dict[str, Any], base: Path) -> dict[str, Any]:
    """Names of files that exist beside the case, as absolute paths."""

    def whole(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: whole(each) for key, each in value.items()}
        if isinstance(value, str) and "." in value and (base / value).is_file():
            return str((base / value).resolve())
        return value

    return {key: whole(value) for key, value in case.items()}


def front() -> Path:
    """The native command: STRATA_BIN, or the one that this Python belongs to."""
    looked = [*paths.fronts(), Path(sys.prefix).parent / "current" / "bin" / "strata"]  # last: a build's
    checkout = paths.root()
    if checkout is not None:
        looked.append(checkout / "strata")
    for path in looked:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise StrataError(
        "the command strata was not found",
        given=", ".join(map(str, looked)),
        remedy="set STRATA_BIN to it",
        code=FAILED,
    )


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "STRATA_ERRORS"}
