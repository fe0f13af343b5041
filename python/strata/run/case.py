"""Cases as dicts, and runs of them by the native program: what packages of single solvers build on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strata import own_folders, paths, toml_files
from strata.errors import FAILED, StrataError
from strata.toml_files import as_toml, key_of

Case = dict[str, Any]


def load(path: Path | str) -> Case:
    """A case file as a dict, to be changed and run."""
    return toml_files.read(Path(path), "the case")


def text_of(case: Mapping[str, Any]) -> str:
    """The case as TOML."""
    return "\n".join(_lines(case, "")) + "\n"


def _lines(table: Mapping[str, Any], name: str) -> list[str]:
    plain = {key: value for key, value in table.items() if not _is_tables(value)}
    lines = [f"{key_of(key)} = {_value(value)}" for key, value in plain.items()]
    for key, inner in table.items():
        whole = f"{name}.{key_of(key)}" if name else key_of(key)
        if isinstance(inner, Mapping):
            lines += ["", f"[{whole}]", *_lines(inner, whole)]
        elif _is_tables(inner):
            for each in inner:
                lines += ["", f"[[{whole}]]", *_lines(each, whole)]
    return lines


def _is_tables(value: Any) -> bool:
    """Whether a value is a table, or an array of tables."""
    if isinstance(value, list) and value:
        return all(isinstance(each, Mapping) for each in value)
    return isinstance(value, Mapping)


def _value(value: Any) -> str:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool | str | Path | int | float):
        return as_toml(value)
    raise StrataError("a case has no such values", given=repr(value), allowed="numbers, text, lists of them")


def with_whole_paths(case: Mapping[str, Any], base: Path) -> Case:
    """The case with names of files and checkpoints that exist beside `base` as absolute paths: names in a
    case are relative to it.
    """

    def whole(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: whole(each) for key, each in value.items()}
        if isinstance(value, list):
            return [whole(each) for each in value]
        if isinstance(value, str) and value:
            path = base / value
            # Of any text, also one that is too long for a name: Path.is_file() would raise.
            if ("." in value and os.path.isfile(path)) or os.path.isfile(path / "checkpoint.json"):  # noqa: PTH113
                return str(path.resolve())
        return value

    return {key: whole(value) for key, value in case.items()}


def run_case(
    case: Mapping[str, Any], folder: Path, layout: str, options: tuple[str, ...] = (), check: bool = True
) -> None:
    """Runs a case in a folder without one. Raises StrataError where the run fails or, with `check`, is not
    verified.
    """
    own_folders.make_results(folder)
    file = folder / "case.toml"
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text_of(case))
    except FileExistsError:
        raise StrataError("the folder has a run already", at=str(folder), allowed="a new folder") from None
    command = [str(front()), "run", str(file), "--layout", layout, "--out", str(folder), "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode and (check or not (folder / "result.json").exists()):
        raise StrataError.read(done.stderr, done.returncode) or StrataError(
            "the run failed",
            at=str(file),
            given=(done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}")[-500:],
            code=FAILED,
        )


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
