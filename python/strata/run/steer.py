"""`strata steer`: what a person types and reads; control.py does the asking."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from strata import documents
from strata.errors import FAILED, StrataError
from strata.measure.progress import duration
from strata.run.control import ask
from strata.scripts import visible

VERBS = ("status", "parameters", "series", "set", "checkpoint", "stop")


def steer(folder: Path, words: Sequence[str], *, as_json: bool, timeout_s: float) -> str:
    """Does what the words after the folder say (none: status) and returns what is to be printed."""
    request, shown = _request(list(words))
    answer = ask(folder, request, timeout_s)
    if as_json:
        return json.dumps(answer)
    try:
        # Root may ask runs of others, who name their cases.
        return "\n".join(visible(line) for line in shown(answer).splitlines())
    except documents.ODD as error:
        raise StrataError(
            "the run's answer is not one to this question",
            at=str(folder),
            given=f"{documents.shown(answer)}: {type(error).__name__} {error}",
            allowed=f"an answer to {json.dumps(request)}",
            code=FAILED,
        ) from None


def _request(words: list[str]) -> tuple[dict[str, Any], Callable[[dict[str, Any]], str]]:
    verb = words.pop(0) if words else "status"
    if verb == "get" and words:
        verb = words.pop(0)
    if verb == "set":
        return {"set": _changes(words)}, _changed
    if verb == "series":
        count = words.pop(0) if words else "10"
        if not count.isdecimal():
            raise StrataError("how many rows?", given=count, allowed="a number, such as 10")
        request: dict[str, Any] = {"get": "series", "last": int(count)}
        shown = _series
    elif verb in ("status", "parameters"):
        request = {"get": verb}
        shown = _status if verb == "status" else _parameters
    elif verb in ("checkpoint", "stop"):
        request, shown = {"do": verb}, _ordered[verb]
    else:
        raise StrataError("there is no such thing to ask of a run", given=verb, allowed=", ".join(VERBS))
    if words:
        raise StrataError(
            f"'{verb}' takes nothing more", given=" ".join(words), allowed=f"strata steer FOLDER {verb}"
        )
    return request, shown


def _changes(words: list[str]) -> dict[str, float]:
    """NAME=VALUE ..., or NAME VALUE."""
    pairs = [words] if len(words) == 2 and "=" not in words[0] else [word.split("=", 1) for word in words]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise StrataError("what is to be set?", given=" ".join(words) or None, allowed="NAME=VALUE ...")
    changes = {}
    for name, value in pairs:
        try:
            changes[name] = float(value)
        except ValueError:
            raise StrataError(
                f"'{name}' needs a number", given=value, allowed=f"such as {name}=0.5"
            ) from None
    return changes


def _status(answer: dict[str, Any]) -> str:
    unit = f" {answer['time_unit']}" if answer["time_unit"] else ""
    of_steps = f" of {answer['end_step']}" if answer["end_step"] is not None else ""
    of_time = f" of {answer['end_time']:g}" if answer["end_time"] is not None else ""
    lines = [
        f"case       {answer['case']}",
        f"step       {answer['step']}{of_steps}",
        f"time       {answer['time']:g}{of_time}{unit}",
    ]
    if answer["done"] is not None:
        lines.append(f"done       {100 * answer['done']:.1f} %")
    if answer["steps_per_second"] is not None:
        lines.append(f"rate       {answer['steps_per_second']:.3g} steps/s")
    if answer["seconds_left"] is not None:
        lines.append(f"left       {duration(answer['seconds_left'])}")
    return "\n".join(lines)


def _parameters(answer: dict[str, Any]) -> str:
    rows = [["name", "value", "unit", "allowed", "meaning"]]
    for each in answer["parameters"]:
        allowed = f"{each['least']:g} to {each['most']:g}"
        rows.append([each["name"], f"{each['value']:g}", each["unit"], allowed, each["about"]])
    if len(rows) == 1:
        return "this run has no parameters that can be changed"
    return _table(rows)


def _series(answer: dict[str, Any]) -> str:
    titles = [f"{c['name']} [{c['unit']}]" if c["unit"] else c["name"] for c in answer["columns"]]
    rows = [["step", "time", *titles]]
    for row in answer["rows"]:
        values = ["-" if value is None else f"{value:.6g}" for value in (row["time"], *row["values"])]
        rows.append([str(row["step"]), *values])
    return _table(rows)


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _changed(answer: dict[str, Any]) -> str:
    return f"applies before step {answer['before_step']}"


_ordered: dict[str, Callable[[dict[str, Any]], str]] = {
    "checkpoint": lambda answer: f"a checkpoint is written after step {answer['after_step']}",
    "stop": lambda answer: f"the run ends after step {answer['after_step']}",
}
