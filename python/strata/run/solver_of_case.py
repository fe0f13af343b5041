"""Which solver a case names, for `strata run` (cli/case_solver.cpp): one line of JSON with the solver and its
line, or with the parts of an error, which that program prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata import toml_files
from strata.errors import StrataError


def find(path: Path) -> tuple[str, int]:
    """The solver and its line. Raises StrataError for what is no TOML, or names none."""
    text = toml_files.text_of(path, "the case file")
    table = toml_files.table_of(text, path)
    solver = table.get("solver")
    if not isinstance(solver, str):
        raise _no_solver(path, text, table)
    return solver, toml_files.Places(text).line("solver", ())


def answer(path: Path) -> dict[str, Any]:
    """{"solver": NAME, "line": N}, or {"message": ..., "at": ...} with the parts of an error."""
    try:
        solver, line = find(path)
    except StrataError as error:
        parts = {"message": error.message, "at": error.at, "given": error.given, "allowed": error.allowed}
        # The name of a file need not be UTF-8, and JSON is.
        return {
            name: part.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            for name, part in (parts | {"try": error.remedy}).items()
            if part
        }
    return {"solver": solver, "line": line}


def _no_solver(path: Path, text: str, table: Mapping[str, Any]) -> StrataError:
    places = toml_files.Places(text)
    at, given = f"{path} solver", "no key solver"
    if "solver" in table:
        at = f"{path}:{places.line('solver', ())} solver"
        given = "a table" if isinstance(table["solver"], Mapping) else toml_files.as_toml(table["solver"])
    else:
        for name, inner in table.items():
            if isinstance(inner, Mapping) and "solver" in inner:
                line = places.line("solver", ((name, 1),))
                given = f"a key solver in line {line}, in [{toml_files.key_of(name)}]"
                break
    allowed = 'solver = "transport" before the first [section]'
    return StrataError("a case says which solver runs it", at=at, given=given[:200], allowed=allowed)


if __name__ == "__main__":
    print(json.dumps(answer(Path(sys.argv[1]))))
