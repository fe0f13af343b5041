"""Study files (`strata.study/1`): which programs, with which values, under which layouts.

The schema below makes the check, the error messages and the table in docs/studies.md.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from strata.casefile import (
    LIMITS,
    PATIENCE,
    REQUIRED,
    CaseFile,
    Key,
    Place,
    is_number,
    is_text,
    is_whole,
    list_of,
    some,
    tables,
)
from strata.characterize.case import LAYOUT, LAYOUT_WORDS
from strata.errors import StrataError
from strata.measure import stats
from strata.measure.plan import OWN_SHARE, Pattern
from strata.measure.taint import Limits
from strata.paths import PROGRAMS

SCHEMA = "strata.study/1"
VIEWS = ("table", "pages", "cycles")
# The engine's own words to the launcher, and what ends its options.
NOT_OPTIONS = ("--layout", "--stride", "--bind", "--record", "--timeout", "--dry-run", "--explain", "--help")
NOT_OPTIONS += ("--machine", "--as-rank", "--")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")


def _is_name(value: Any) -> bool:
    return is_text(value) and "/" not in value and value.strip() == value


def _is_values(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    entry = some(lambda v: is_text(v) or is_number(v))
    return all(_PLACEHOLDER.fullmatch("{" + key + "}") and entry(given) for key, given in value.items())


def _is_number_above_0(value: Any) -> bool:
    return is_number(value) and value > 0


TOP: dict[str, Key] = {
    "schema": Key("text", lambda v: v == SCHEMA, SCHEMA, REQUIRED, "which schema this file follows"),
    "name": Key("text", _is_name, "text without '/'", REQUIRED, "name of the study and of its results"),
    "title": Key("text", is_text, "text", None, "title of the report; the name if left out"),
    "about": Key("text", is_text, "text", None, "what is asked, shown above the figures"),
    "view": Key(
        "text",
        lambda v: v in VIEWS,
        " | ".join(VIEWS),
        "table",
        "how the report draws it; table: any program",
    ),
    "launches": Key(
        "integer",
        lambda v: is_whole(v) and v >= stats.LEAST,
        f"an integer >= {stats.LEAST}",
        stats.LEAST,
        "undisturbed launches of each setting; fewer, but never below 6, where the budget is too small",
    ),
    "repeats": Key(
        "integer",
        lambda v: is_whole(v) and v >= 0,
        "an integer >= 0",
        6,
        "further launches in place of disturbed ones",
    ),
    "budget_s": Key("number", _is_number_above_0, "seconds > 0", None, "time aimed at; --budget overrides"),
    "patience_s": PATIENCE,
    "limits": LIMITS,
    "program": Key("array of tables", tables, "one [[program]] or more", REQUIRED, "what runs"),
    "layout": Key("array of tables", tables, "one [[layout]] or more", REQUIRED, "how it is laid out"),
}

PROGRAM: dict[str, Key] = {
    "name": Key("text", _is_name, "text without '/'", REQUIRED, "first part of each run's id"),
    "command": Key(
        "text",
        is_text,
        "a command line, quoted as in a shell",
        REQUIRED,
        "what runs; {key} stands for a value, {result} for the path of its strata.result/1",
    ),
    "values": Key(
        "table of lists",
        _is_values,
        "a table such as {n = [1, 2]}: names of letters, digits, - and _, each with a list",
        {},
        "every combination runs",
    ),
    "figures": Key("list of text", list_of(is_text), "a list of figure names", [], "the headline figures"),
    "figure": Key("array of tables", tables, "[[program.figure]]", [], "figures found in the output"),
    "timeout_s": Key("number", _is_number_above_0, "seconds > 0", 60.0, "a launch is ended after this"),
    "expected_s": Key(
        "number", _is_number_above_0, "seconds > 0", 1.0, "estimate of one launch before any ran"
    ),
    "drop": Key(
        "integer",
        lambda v: is_whole(v) and v >= 0,
        "an integer >= 0",
        0,
        "0: never left out; the largest goes first",
    ),
}

FIGURE: dict[str, Key] = {
    "name": Key("text", is_text, "text", REQUIRED, "name of the figure"),
    "pattern": Key(
        "regular expression", is_text, "text with one group", REQUIRED, "its last match in the output counts"
    ),
    "unit": Key("text", lambda v: isinstance(v, str), "text", "", "unit of the number found"),
    "better": Key("text", lambda v: v in ("higher", "lower"), "higher | lower", "higher", "which is better"),
}

LAYOUTS: dict[str, Key] = {
    "name": Key("text", _is_name, "text without '/'", REQUIRED, "what the report calls it"),
    "layouts": Key(
        "list of layouts",
        some(lambda w: isinstance(w, str) and bool(LAYOUT.match(w))),
        LAYOUT_WORDS,
        ["1x1"],
        "processes x threads",
    ),
    "bind": Key("text", is_text, "what `strata launch --bind` takes", "core", "width of the binding"),
    "stride": Key("integer", lambda v: is_whole(v) and v >= 1, "an integer >= 1", 1, "cores between threads"),
    "options": Key(
        "list of text", list_of(is_text), "a list of text", list(OWN_SHARE), "further launch options"
    ),
    "programs": Key(
        "list of text", list_of(is_text), "a list of program names", [], "without it all of them"
    ),
}


@dataclass(frozen=True)
class Run:
    """One program with one combination of values: its command, placeholders of values filled in."""

    program: str
    values: Mapping[str, str]
    command: tuple[str, ...]
    at: str  # where the command stands in the file


@dataclass(frozen=True)
class Study:
    """A checked study file."""

    path: Path
    top: Mapping[str, Any]
    limits: Limits
    programs: tuple[dict[str, Any], ...]
    layouts: tuple[dict[str, Any], ...]
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        return str(self.top["name"])

    def program(self, name: str) -> dict[str, Any]:
        return next(p for p in self.programs if p["name"] == name)


def read(path: Path) -> Study:
    """The study in this file, every key checked."""
    file = CaseFile(path, "`strata study list` names those that come with Strata", "cases/studies/pages.toml")
    top = file.checked(file.value, TOP)
    programs = tuple(_program(file, p, n) for n, p in enumerate(top["program"], start=1))
    layouts = tuple(_layout(file, w, n) for n, w in enumerate(top["layout"], start=1))
    for kind, entries in (("program", programs), ("layout", layouts)):
        _no_twins(file, kind, [e["name"] for e in entries])
    _known_programs(file, layouts, [p["name"] for p in programs])
    runs = tuple(run for n, p in enumerate(programs, start=1) for run in _runs(file, p, n))
    return Study(path, top, Limits.from_dict(top["limits"], file.at("limits")), programs, layouts, runs)


def _program(file: CaseFile, value: Any, n: int) -> dict[str, Any]:
    place: Place = (("program", n),)
    program = file.checked(value, PROGRAM, place)
    found = []
    for m, entry in enumerate(program["figure"], start=1):
        inner = (*place, ("figure", m))
        figure = file.checked(entry, FIGURE, inner)
        try:
            groups = re.compile(figure["pattern"]).groups
        except re.error as error:
            raise StrataError(
                "not a regular expression",
                at=file.at("pattern", inner),
                given=f"{figure['pattern']} ({error})",
                remedy="write it between '...' so that TOML leaves \\ alone",
            ) from None
        if groups != 1:
            raise StrataError(
                "a figure's pattern needs one group around the number",
                at=file.at("pattern", inner),
                given=f"{figure['pattern']} with {groups} groups",
                allowed="for example 'rate: ([0-9.]+)'; (?:...) groups without counting",
            )
        found.append(Pattern(**figure))
    return {**program, "figure": tuple(found)}


def _layout(file: CaseFile, value: Any, n: int) -> dict[str, Any]:
    place: Place = (("layout", n),)
    layout = file.checked(value, LAYOUTS, place)
    for word in layout["options"]:
        if word.partition("=")[0] in NOT_OPTIONS:
            raise StrataError(
                "this option is not one of a layout",
                at=file.at("options", place),
                given=word,
                allowed="options of `strata launch` other than " + ", ".join(NOT_OPTIONS),
                remedy="layouts, stride and bind are keys of their own",
            )
    where = file.at("name", place).removesuffix(" name")
    return {**layout, "at": f"{where} [[layout]] {layout['name']}"}


def _no_twins(file: CaseFile, kind: str, names: list[str]) -> None:
    for n, name in enumerate(names, start=1):
        if name in names[: n - 1]:
            raise StrataError(f"two {kind}s have the same name", at=file.at("name", ((kind, n),)), given=name)


def _known_programs(file: CaseFile, layouts: tuple[dict[str, Any], ...], names: list[str]) -> None:
    for n, layout in enumerate(layouts, start=1):
        for name in layout["programs"]:
            if name not in names:
                raise StrataError(
                    "no such program",
                    at=file.at("programs", (("layout", n),)),
                    given=name,
                    allowed=", ".join(names),
                )


def _runs(file: CaseFile, program: Mapping[str, Any], n: int) -> list[Run]:
    """Every combination of the program's values."""
    at = file.at("command", (("program", n),))
    try:
        words = shlex.split(program["command"])
    except ValueError as error:
        raise StrataError(
            "the command's quotes do not match", at=at, given=f"{program['command']} ({error})"
        ) from None
    if not words:
        raise StrataError("the command is empty", at=at, given=repr(program["command"]))
    keys = list(program["values"])
    runs = []
    for chosen in product(*(program["values"][key] for key in keys)):
        values = {key: str(value) for key, value in zip(keys, chosen, strict=True)}
        runs.append(Run(program["name"], values, tuple(_filled(w, values, at) for w in words), at))
    unused = [key for key in keys if not any("{" + key + "}" in word for word in words)]
    if unused:
        raise StrataError(
            "a value that the command does not use",
            at=file.at("values", (("program", n),)),
            given=", ".join(unused),
            remedy=f"write {{{unused[0]}}} where it belongs in the command",
        )
    return runs


def _filled(word: str, values: Mapping[str, str], at: str) -> str:
    """The word with its values; {result} and Strata's programs are left to the engine, {{x}} means {x}."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in values:
            return values[name]
        if name == "result" or name in PROGRAMS:
            return match.group(0)
        raise StrataError(
            "a placeholder without a value",
            at=at,
            given=match.group(0),
            allowed=", ".join("{" + known + "}" for known in (*values, "result", *PROGRAMS)),
            remedy=f"give `values` the key {name}, or write {{{{{name}}}}} for the braces themselves",
        )

    parts = re.split(r"(\{\{|\}\})", word)
    return "".join({"{{": "{", "}}": "}"}.get(part) or _PLACEHOLDER.sub(value, part) for part in parts)
