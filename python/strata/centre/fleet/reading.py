"""Thousands of files of runs (strata.node/1) as a fleet: one run a file, or a run a line (.jsonl)."""

from __future__ import annotations

import gc
import os
import re
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from strata import documents, own_folders, scripts
from strata.centre.fleet.fleet import Figure, Fleet
from strata.centre.fleet.quick import SCHEMA
from strata.errors import StrataError, why

FACTS = (
    "product",
    "cpu_model",
    "packages",
    "cores",
    "domains",
    "memory_gib",
    "links",
    "kernel",
    "microcode",
    "bios",
)
MOST_PARTS = 4096
_LARGEST = 1 << 30  # bytes of a file, which may hold the runs of a whole machine
_MOST = 1e300  # a number of JSON may be larger than any float
_NUMBERS = {int, float}
_NAME = re.compile(r"\d+|\D+")
# Of hosts: for Slurm "ALL" and "n[01-16]" are names of many nodes.
_NODE = re.compile(r"(?!all$)[a-z0-9][a-z0-9._-]{0,254}", re.ASCII | re.IGNORECASE)


def read(paths: Sequence[Path], damaged: list[str] | None = None) -> Fleet:
    """All runs below the paths. Raises StrataError with file and key for a damaged one; with a list they go
    there as sentences, and are left out.
    """
    collecting = gc.isenabled()
    gc.disable()  # it would walk through all records again and again, and none of them has a circle
    try:
        return _fleet(_records(paths, damaged))
    finally:
        if collecting:
            gc.enable()


def _records(paths: Sequence[Path], damaged: list[str] | None) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    seen: set[tuple[str, float]] = set()
    for file in _files(paths):
        try:
            for at, text in _texts(file):
                record = _record(at, text)
                key = (record["node"], record["time"])
                if key not in seen:  # the same file in two folders counts once
                    seen.add(key)
                    records.append(record)
        except StrataError as error:
            if damaged is None:
                error.remedy = error.remedy or "--skip-damaged leaves such files out, and says which"
                raise
            damaged.append(f"{error.at}: {error.message} ({error.given})")
    if not records:
        raise StrataError(
            "no run of a node in it",
            at=", ".join(map(str, paths)),
            given=f"{len(damaged)} damaged files" if damaged else "no file",
            allowed="folders with files of `strata centre fleet quick --out FOLDER`",
        )
    return records


def need_own(paths: Sequence[Path]) -> None:
    """Raises StrataError where another user than root can have written one of the files: whoever does could
    have any node drained.
    """
    remedy = "as the user whose files these are; or a copy, of which you know what is in it"
    folders: set[Path] = set()
    for file in map(Path, _files(paths)):
        if file.parent not in folders:
            own_folders.need(file.parent, "files by which nodes are drained", remedy)
            folders.add(file.parent)
        about = file.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_uid not in (0, os.geteuid()) or about.st_mode & 0o022:
            own_folders.need(file, "files by which nodes are drained", remedy)


def _files(paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        if path.is_file():
            yield str(path)
            continue
        if not path.is_dir():
            raise StrataError(
                "no such file or folder", at=str(path), given="nothing", allowed="results of nodes"
            )
        for folder, below, names in os.walk(path):
            below.sort()
            yield from (
                f"{folder}/{n}" for n in sorted(names) if n.endswith((".json", ".jsonl")) and n[0] != "."
            )


def _texts(file: str) -> Iterator[tuple[str, str]]:
    try:
        text = documents.contents(file, _LARGEST).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise StrataError("cannot read a run", at=file, given=why(error)) from None
    if not file.endswith(".jsonl"):
        yield file, text
        return
    # JSON may have other ends of lines within its texts.
    yield from ((f"{file}: line {i}", line) for i, line in enumerate(text.split("\n"), 1) if line.strip())


def _record(at: str, text: str) -> dict[str, Any]:
    try:
        given = documents.from_json(text)
    except ValueError as error:
        found = documents.not_json(error, at, text)
        found.at = at if ": line " in at else found.at  # a line that is a document says where it is
        raise found from None
    if not isinstance(given, dict) or given.get("schema") != SCHEMA:
        raise StrataError(
            "not a run of a node",
            at=f"{at}: schema",
            given=repr(given.get("schema")) if isinstance(given, dict) else "no object",
            allowed=f'"{SCHEMA}"',
        )
    if "\\" in text or not text.replace("\n", "").isprintable():
        try:
            given = _visible(given)
        except RecursionError:
            raise StrataError("not a JSON file", at=at, given="brackets within brackets") from None
    node = given.get("node")
    if not isinstance(node, str) or not _NODE.fullmatch(node):
        raise _wrong(at, "node", node, "the name of a node: letters, digits, dots, - and _")
    given["time"] = _time(at, given.get("time"))
    for key in ("figures", "hardware", "software", "counters", "failed", "absent"):
        if not isinstance(given.setdefault(key, {}), dict):
            raise _wrong(at, key, given[key], "an object")
    booted = given.get("booted")
    if booted is not None and (type(booted) not in _NUMBERS or not 0 <= booted < _MOST):
        raise _wrong(at, "booted", booted, "seconds since 1970")
    integrity = given.get("integrity")
    findings = integrity.get("findings") if isinstance(integrity, dict) else integrity
    if findings is not None and not isinstance(findings, list):
        raise _wrong(at, "integrity.findings", findings, "a list")
    for name, figure in given["figures"].items():
        _check_figure(at, name, figure)
    for name, value in given["counters"].items():
        if not isinstance(value, int) or not 0 <= value < _MOST:
            raise _wrong(at, f"counters.{name}", value, "a number of errors")
    return given


def _visible(value: Any) -> Any:
    """Its texts are printed and pasted: none has a character that a terminal or a shell would obey."""
    if isinstance(value, dict):
        return {scripts.visible(key): _visible(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_visible(each) for each in value]
    return scripts.visible(value) if isinstance(value, str) else value


def _check_figure(at: str, name: str, figure: Any) -> None:
    if not isinstance(figure, dict) or not isinstance(values := figure.get("values"), list) or not values:
        raise _wrong(at, f"figures.{name}.values", figure, "a list of numbers")
    if not ({*map(type, values)} <= _NUMBERS and min(values) > 0 and max(values) < _MOST):
        for i, value in enumerate(values):
            if type(value) not in _NUMBERS or not 0 < value < _MOST:
                raise _wrong(at, f"figures.{name}.values[{i}]", value, "a number above 0")
    if figure.get("better") not in ("higher", "lower"):
        raise _wrong(at, f"figures.{name}.better", figure.get("better"), "higher, lower")
    parts = figure.get("parts")
    if parts is not None and (
        not isinstance(parts, list)
        or len(parts) != len(values)
        or any(type(p) is not int or not 0 <= p < MOST_PARTS for p in parts)
    ):
        raise _wrong(at, f"figures.{name}.parts", parts, f"a whole number below {MOST_PARTS} for each value")


def _time(at: str, text: Any) -> float:
    try:
        when = datetime.fromisoformat(text)
        return when.timestamp() if when.tzinfo else datetime.fromisoformat(text + "+00:00").timestamp()
    except (TypeError, ValueError, OverflowError):
        raise _wrong(at, "time", text, "such as 2026-11-03T14:05:00Z") from None


def _wrong(at: str, key: str, given: Any, allowed: str) -> StrataError:
    return StrataError("a run is damaged", at=f"{at}: {key}", given=documents.shown(given), allowed=allowed)


def natural(name: str) -> list[tuple[int, int, str]]:
    """For sorting n2 before n10."""
    return [(0, int(p), "") if p.isdecimal() and len(p) < 19 else (1, 0, p) for p in _NAME.findall(name)]


def _fleet(records: list[dict[str, Any]]) -> Fleet:
    nodes = sorted({r["node"] for r in records}, key=natural)
    place = {name: i for i, name in enumerate(nodes)}
    records.sort(key=lambda r: (place[r["node"]], r["time"]))
    count = len(records)
    facts = {name: [_fact(r, name) for r in records] for name in FACTS}
    fleet = Fleet(
        nodes,
        np.array([place[r["node"]] for r in records]),
        np.array([r["time"] for r in records]),
        [str(r.get("campaign") or "") for r in records],
        facts,
        {name: _figure(records, name) for name in dict.fromkeys(n for r in records for n in r["figures"])},
        booted=np.array([float(r.get("booted") or 0.0) for r in records]),
        generated=next((str(r["generated"]) for r in records if r.get("generated")), ""),
    )
    for run, record in enumerate(records):
        for name, value in record["counters"].items():
            if name not in fleet.counters:
                fleet.counters[name] = np.full(count, np.nan)
            fleet.counters[name][run] = value
        fleet.failed += [(run, name, str(why)) for name, why in record["failed"].items()]
        for finding in (record.get("integrity") or {}).get("findings") or []:
            fleet.failed.append((run, "integrity", _finding(finding)))
        for name, reason in record["absent"].items():
            fleet.absent.setdefault(name, str(reason))
    return fleet


def _fact(record: dict[str, Any], name: str) -> str:
    value = record["hardware"].get(name, record["software"].get(name))
    return "" if value is None else str(value)


def _finding(finding: Any) -> str:
    if not isinstance(finding, dict):
        return str(finding)
    said = (f"{key} {finding[key]}" for key in ("core", "kernel", "verdict", "replay") if key in finding)
    return ", ".join(said) or "a wrong result"


def _figure(records: list[dict[str, Any]], name: str) -> Figure:
    have = [(i, r["figures"][name]) for i, r in enumerate(records) if name in r["figures"]]
    first = have[0][1]
    width = max(max(f["parts"]) + 1 if f.get("parts") else len(f["values"]) for _, f in have)
    values = np.full((len(records), width), np.nan)
    for i, figure in have:
        at = figure.get("parts")
        values[i, at if at else slice(len(figure["values"]))] = figure["values"]
    return Figure(
        name, str(first.get("unit", "")), first["better"] == "higher", str(first.get("part", "")), values
    )
