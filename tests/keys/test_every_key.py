"""Every key that a case file may have is set by some test, or is listed in not_set.csv with the reason.

The keys come from the programs' own help and from the schemas of the Python side; what tests set is read from
their sources, and from the cases that they run.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
from declared import ANY, SOLVERS, Declared, of_python, of_solver
from said import KeyPath, Said, in_cpp, of_case, of_text
from said_python import Reader
from tested_build import strata

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
HERE = Path(__file__).resolve().parent
LIST = HERE / "not_set.csv"
Key = tuple[str, ...]
# Folders of cases of which a test takes each file, and the words by which it does.
WHOLE = {
    "mpm": ("solvers/run/test_checked_cases.cpp", "directory_iterator(fs::path(CASES) / name)"),
    "transport": ("solvers/run/test_checked_cases.cpp", "directory_iterator(fs::path(CASES) / name)"),
    "md": ("solvers/run/test_checked_cases.cpp", "directory_iterator(fs::path(CASES) / name)"),
    "studies": ("e2e/test_study.py", '(ROOT / "cases" / "studies").glob("*.toml")'),
    "characterize": ("python/measure/test_case.py", 'CASES.glob("*.toml")'),
}
# And what a test says that takes a single one of a folder.
SINGLE = {"flow": re.compile(r'FLOW_CASES|fs::path\(CASES\) / "flow"')}


@cache
def declared() -> Mapping[str, Declared]:
    front = strata()
    return {**{solver: of_solver(front, solver) for solver in SOLVERS}, **of_python()}


@cache
def sources() -> Mapping[str, str]:
    """The sources of all tests but these here, by their path below tests/."""
    paths = [path for ending in ("py", "cpp", "hpp") for path in TESTS.rglob(f"*.{ending}")]
    return {
        str(path.relative_to(TESTS)): path.read_text(encoding="utf-8")
        for path in sorted(paths)
        if HERE not in path.parents
    }


def cases_of_tests(texts: Mapping[str, str]) -> list[Path]:
    """The cases in cases/ that some test takes."""
    found = [path for folder in WHOLE for path in sorted((ROOT / "cases" / folder).glob("*.toml"))]
    for folder, words in SINGLE.items():
        taking = [text for text in texts.values() if words.search(text)]
        for path in sorted((ROOT / "cases" / folder).glob("*.toml")):
            named = re.compile(rf'"(?:[^"]*/)?{re.escape(path.stem)}(\.toml)?"')
            found += [path] if any(named.search(text) for text in taking) else []
    return found


def said_by(texts: Mapping[str, str], cases: Iterable[Path], schemas: Mapping[str, Declared]) -> Said:
    python = {name: text for name, text in texts.items() if name.endswith(".py")}
    said = Reader(python, {key[0] for keys in schemas.values() for key in keys}).said()
    for name, text in texts.items():
        if not name.endswith(".py"):
            said.add(in_cpp(text))
    for path in cases:
        said.paths |= of_case(path)
    return said


def is_at(path: KeyPath, key: Key) -> bool:
    """Whether a path without its schema is that key."""
    return len(path) == len(key) and all(k in (ANY, p) for p, k in zip(path, key, strict=True))


def unset(schemas: Mapping[str, Declared], said: Said) -> set[str]:
    """The keys that nothing sets, as "flow: grid.cells".

    What one function declares for several schemas (the driver's keys), or for `grid` and each mesh, is one
    key: its text is the same.
    """
    owners: dict[Key, list[str]] = {}
    tables: dict[tuple[str, Key], set[str]] = {}
    for schema, keys in schemas.items():
        for key in keys:
            owners.setdefault(key, []).append(schema)
            tables.setdefault((schema, key[:-1]), set()).add(key[-1])
    paths = said.paths | _placed(said.groups, tables)

    def is_set(schema: str, key: Key) -> bool:
        text = schemas[schema][key]
        alike = {s for s in owners[key] if schemas[s][key] == text}
        return any(
            is_at(path[1:], key) and (path[0] in alike or (not path[0] and alike == set(owners[key])))
            for path in paths
        )

    found = set()
    for schema, keys in schemas.items():
        for key, text in keys.items():
            twins = [twin for twin in _twins(key) if keys.get(twin) == text]
            if not any(is_set(schema, each) for each in (key, *twins)):
                found.add(f"{schema}: {'.'.join(key)}")
    return found


def _placed(groups: Iterable[frozenset[str]], tables: Mapping[tuple[str, Key], set[str]]) -> set[KeyPath]:
    """Keys that stand together without a table belong to the only table that has all of them."""
    found: set[KeyPath] = set()
    for group in groups:
        having = [table for table, names in tables.items() if group <= names]
        if len(having) == 1:
            ((schema, at),) = having
            found |= {(schema, *at, name) for name in group}
    return found


def _twins(key: Key) -> list[Key]:
    """grid.cells for mesh.NAME.cells, and the reverse."""
    if key[:2] == ("mesh", ANY):
        return [("grid", *key[2:])]
    return [("mesh", ANY, *key[1:])] if key[0] == "grid" else []


def listed() -> dict[str, str]:
    """Keys that no test sets -> why."""
    with LIST.open(encoding="utf-8", newline="") as file:
        return {f"{row['schema']}: {row['key']}": row["reason"] for row in csv.DictReader(file)}


def test_every_key_is_set_by_some_test_or_listed_with_the_reason() -> None:
    texts = sources()
    found = unset(declared(), said_by(texts, cases_of_tests(texts), declared()))
    reasons = listed()
    missing = sorted(found - set(reasons))
    assert not missing, "set by no test: write one, or give the reason in tests/keys/not_set.csv"
    assert sorted(set(reasons) - found) == [], "listed in not_set.csv, but set, or no key"
    assert all(len(reason.split()) > 3 for reason in reasons.values())


def test_all_schemas_are_looked_at() -> None:
    schemas = declared()
    assert {"flow", "md", "mpm", "transport", "study", "characterize", "site", "categories"} == set(schemas)
    for solver in SOLVERS:
        assert {("output", "steps"), ("run", "balance")} <= set(schemas[solver])
    assert schemas["transport"]["grid", "cells"].startswith("in each direction")
    assert ("boundary", ANY, "total_pressure") in schemas["flow"]
    assert ("mesh", ANY, "motion", "rate") in schemas["flow"]
    assert sum(map(len, schemas.values())) > 350


@pytest.mark.parametrize("folder", WHOLE)
def test_each_case_of_these_folders_is_taken_by_a_test(folder: str) -> None:
    file, words = WHOLE[folder]
    assert words in sources()[file]
    assert any((ROOT / "cases" / folder).glob("*.toml"))


SCHEMAS: Mapping[str, Declared] = {
    "sample": {("grid", "cells"): "a", ("grid", "size"): "b", ("time", "end"): "c", ("time", "size"): "d"},
    "other": {("grid", "cells"): "z", ("boundary", ANY, "kind"): "e"},
}


@pytest.mark.parametrize(
    ("text", "those"),
    [
        ('solver = "sample"\n[grid]\ncells = 1\n', ["sample: grid.cells"]),
        ('solver = "other"\ngrid.cells = 1\n', ["other: grid.cells"]),
        ("[grid]\ncells = 1\n", []),  # of which schema?
        ("[grid]\nsize = 1\n", ["sample: grid.size"]),
        ("[time]\nsize = 1\n", ["sample: time.size"]),
        ("size = 1\n", []),  # of two tables
        ("end = 1\nsize = 2\n", ["sample: time.end", "sample: time.size"]),
        ("[boundary.wall]\nkind = 1\n", ["other: boundary.NAME.kind"]),
        ("[boundary]\nwall = {kind = 1, more = 2}\n", ["other: boundary.NAME.kind"]),
        ("end == 1\n", []),
    ],
)
def test_text_sets_keys_of_its_own_table_alone(text: str, those: list[str]) -> None:
    every = unset(SCHEMAS, Said())
    assert len(every) == 6
    assert sorted(every - unset(SCHEMAS, of_text(text))) == those
    assert sorted(every - unset(SCHEMAS, in_cpp(f'auto a = f(R"({text})");'))) == those


@pytest.mark.parametrize(
    ("source", "those"),
    [
        ('{"grid": {"size": 1}}', ["sample: grid.size"]),
        ('{"time": {"grid": {"size": 1}}}', []),
        ('{"small": {"grid": {"size": 1}}}', ["sample: grid.size"]),
        ('{"size": 1}', []),
        ('case["time"]["end"] = 1', ["sample: time.end"]),
        ('case["time"] |= {"end": 1, **more}', ["sample: time.end"]),
        ('more = {"size": 1}\ncase = {"time": {"end": 1} | more}', ["sample: time.end", "sample: time.size"]),
        (
            "def made(**time):\n"
            '    return {"solver": "sample", "time": time, "grid": {"cells": 1}}\nmade(end=1)',
            ["sample: grid.cells", "sample: time.end"],
        ),
        (
            '@pytest.mark.parametrize("a", [{"size": 1}])\n'
            '@pytest.mark.parametrize(("b", "c"), [(1, {"end": 1})])\n'
            'def test(a, b, c):\n    return {"grid": a, "time": {**c}}',
            ["sample: grid.size", "sample: time.end"],
        ),
        ('def grid():\n    return {"size": 1}\nx = {"grid": grid()}', ["sample: grid.size"]),
        ('x = "[grid]\\n" + more + "size = 1"', ["sample: grid.size"]),
        ('x = f"[grid]\\nsize = {a}"', ["sample: grid.size"]),
        ("size = end = 1", []),
    ],
)
def test_python_sets_keys_where_dicts_and_texts_have_them(source: str, those: list[str]) -> None:
    said = Reader({"a.py": source}, {"grid", "time", "boundary"}).said()
    assert sorted(unset(SCHEMAS, Said()) - unset(SCHEMAS, said)) == those


def test_joined_literals_of_cpp_are_one_text_and_comments_are_none() -> None:
    source = 'f("[grid]\\n" // size = 1\n  "cells = 1\\n" + name(x) + "size = 2\\n", "end = 1");'
    every = unset(SCHEMAS, Said())
    assert sorted(every - unset(SCHEMAS, in_cpp(source))) == ["sample: grid.size", "sample: time.end"]
    assert every == unset(SCHEMAS, in_cpp('// "end = 1"\n/* "end = 1" */ char c = \'"\';'))
