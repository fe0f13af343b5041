"""The keys that case files may have, as the programs and the Python side declare them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest
from tested_build import solver_program

from strata.casefile import Schema
from strata.centre.outages import categories
from strata.characterize import case as characterize
from strata.measure.taint import Limits
from strata.site import site_file
from strata.study import schema as study
from strata.study import toolchain

ROOT = Path(__file__).resolve().parents[2]
SOLVERS = sorted(path.parent.name for path in ROOT.glob("solvers/*/settings.cpp"))
ANY = "NAME"  # a table that cases name themselves

# Path of a key -> what is said of it. Keys of one text in two tables are one declaration, made for both.
Declared = dict[tuple[str, ...], str]

_SECTION = re.compile(r"^  \[([\w.]+)\]$|^  \[\[([\w.]+)\]\]  ")
_KEY = re.compile(r"^  (\w+) +(\S.*)$")


def of_solver(front: str, solver: str) -> Declared:
    """From `strata run SOLVER --help`."""
    if solver_program(front, f"strata-{solver}") is None:
        pytest.skip("the solvers are not built (toml++)")
    asked = [front, "run", solver, "--help"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60)
    found: Declared = {}
    section: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    _, _, keys = done.stdout.partition("\nkeys of a case:\n")
    for line in keys.splitlines():
        if opened := _SECTION.match(line):
            section = tuple((opened[1] or opened[2]).split("."))
        elif named := _KEY.match(line):
            key = (*section, named[1])
            found[key] = named[2]
        elif key and line.startswith("   "):
            found[key] += " " + line.strip()
    found.pop(("solver",), None)
    return found


def of_python() -> Mapping[str, Declared]:
    """Schema -> its keys."""
    found = {
        "study": _tables(
            {
                (): study.TOP,
                ("plot",): study.PLOT,
                ("program",): study.PROGRAM,
                ("program", "figure"): study.FIGURE,
                ("layout",): study.LAYOUTS,
                ("toolchain",): toolchain.TOOLCHAIN,
            }
        ),
        "characterize": _tables({(): characterize.TOP, ("task",): characterize.TASK}),
        "site": _tables({(): site_file.SITE}),
        "categories": {("categories", ANY, key): "" for key in categories.KEYS},
    }
    for each in ("study", "characterize"):
        found[each] |= {("limits", limit.name): "a limit" for limit in fields(Limits)}
    return found


def _tables(schemas: Mapping[tuple[str, ...], Schema]) -> Declared:
    return {(*at, name): key.meaning for at, schema in schemas.items() for name, key in schema.items()}
