"""Strata's own solvers, as their manifests (solvers/NAME/solver.toml) say them.

    from strata import solvers
    {name: solver.program for name, solver in solvers.shipped().items()}

solvers/README.md has the keys. CMake and set-up read some of them, too, line by line
(cmake/StrataSolvers.cmake, setup/pieces.sh).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

from strata import toml_files
from strata.casefile import is_text, list_of
from strata.errors import FAILED, StrataError
from strata.paths import prefixes, root

MANIFEST = "solver.toml"


@dataclass(frozen=True)
class Solver:
    """What one manifest says. The name is that of its folder, and what cases call it."""

    name: str
    title: str  # of its first page
    about: str
    part: str  # of the build (setup/parts.csv)
    program: str  # that `strata run` starts
    needs: tuple[str, ...]  # pieces (python/strata/pieces.csv)
    cases: tuple[str, ...]  # folders in cases/
    pages: tuple[str, ...]  # in docs/, the one to begin with first
    programs: tuple[str, ...] = ()  # others, for people and tests
    measuring: tuple[str, ...] = ()  # others, that only measurements start
    tested_by: tuple[str, ...] = ()  # folders of tests/ beside `keys` and `solvers` that start its program
    elsewhere: tuple[str, ...] = ()  # what is about it, or has it as an example, and lies outside its folder

    def all_programs(self) -> tuple[str, ...]:
        return (self.program, *self.programs, *self.measuring)


def shipped() -> Mapping[str, Solver]:
    """All of them by name: of the checkout, or of the tree that is installed. Raises StrataError."""
    checkout = root()
    folders = [checkout / "solvers"] if checkout is not None else []
    folders += [prefix / "share" / "strata" / "solvers" for prefix in prefixes()]
    for folder in folders:
        if found := in_folder(folder):
            return found
    raise StrataError(
        "the manifests of Strata's solvers were not found",
        given=", ".join(f"{folder}/*/{MANIFEST}" for folder in folders),
        remedy="install Strata again, whole",
        code=FAILED,
    )


def in_folder(folder: Path) -> Mapping[str, Solver]:
    """Those with a manifest in a folder within this one. Raises StrataError for a manifest that is wrong."""
    return {path.parent.name: read(path) for path in sorted(folder.glob(f"*/{MANIFEST}"))}


def read(path: Path) -> Solver:
    """One manifest. Raises StrataError, which names the file and its line, for what is wrong with it."""
    text = toml_files.text_of(path, "the manifest")
    table = toml_files.table_of(text, path)
    places = toml_files.Places(text)
    keys = {field.name: field for field in fields(Solver) if field.name != "name"}
    for key in table.keys() - keys.keys():
        raise StrataError(
            "unknown key", at=f"{path}:{places.line(key, ())} {key}", given=key, allowed=", ".join(keys)
        )
    values = {}
    for key, field in keys.items():
        several = field.type != "str"
        if key not in table and field.default is not MISSING:
            continue
        if not (list_of(is_text) if several else is_text)(table.get(key)):
            raise StrataError(
                "a key that is wrong or missing",
                at=f"{path}:{places.line(key, ())} {key}",
                given=toml_files.as_toml(table[key]) if key in table else "nothing",
                allowed="a list of texts" if several else "a text",
            )
        values[key] = tuple(table[key]) if several else table[key]
    return Solver(path.parent.name, **values)
