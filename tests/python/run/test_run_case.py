"""Cases as dicts."""

from __future__ import annotations

import tomllib
from pathlib import Path

from strata.run.case import text_of, with_whole_paths


def test_a_case_is_written_with_tables_within_tables() -> None:
    case = {
        "solver": "flow",
        "grid": {"cells": [8, 4], "turned": True},
        "boundary": {"1:i-min": {"kind": "wall", "velocity": [0.5, 0.0]}, "far": {"kind": "far-field"}},
    }
    assert tomllib.loads(text_of(case)) == case


def test_a_case_is_written_with_arrays_of_tables() -> None:
    bodies = [{"shape": "box", "to": [1.0, 2.0, 3.0]}, {"shape": "sphere", "radius": 0.5}]
    case = {"bodies": bodies, "solver": "mpm", "grid": {"cells": [8], "parts": [{"of": 1}]}, "none": []}
    text = text_of(case)
    assert tomllib.loads(text) == case
    assert text.count("[[bodies]]") == 2


def test_files_beside_a_case_get_whole_paths(tmp_path: Path) -> None:
    (tmp_path / "grid.x").write_text("")
    case = {"grid": {"file": "grid.x", "map": "missing.nmf"}, "bodies": [{"file": "grid.x"}]}
    whole = with_whole_paths(case, tmp_path)
    assert whole["bodies"] == [{"file": str((tmp_path / "grid.x").resolve())}]
    assert whole["grid"] == {"file": str((tmp_path / "grid.x").resolve()), "map": "missing.nmf"}
    state = tmp_path / "run" / "checkpoint-000004"
    state.mkdir(parents=True)
    (state / "checkpoint.json").write_text("{}")
    case = {"system": {"file": "run/checkpoint-000004", "lattice": "run"}}
    assert with_whole_paths(case, tmp_path)["system"] == {"file": str(state.resolve()), "lattice": "run"}


def test_a_text_that_is_too_long_for_a_name_stays_as_it_is(tmp_path: Path) -> None:
    case = {"shapes": ["box " + "0.25 " * 60, "a" * 300, "a\0b"]}
    assert with_whole_paths(case, tmp_path) == case
