"""Case files: TOML checked against a declared schema.

A schema is a table of keys; it makes the check and the error messages, and an unknown key is an error, so
that a misspelt one can never be a silent default. Every error names file, line and key.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import documents
from strata.errors import StrataError

REQUIRED = object()  # the default of a key that has none
Place = tuple[tuple[str, int], ...]  # (("program", 2), ("figure", 1)): the first figure of the second program


@dataclass(frozen=True)
class Key:
    """One key of a case file."""

    kind: str
    good: Callable[[Any], bool]
    allowed: str
    default: Any
    meaning: str


Schema = Mapping[str, Key]


def is_text(value: Any) -> bool:
    """A text that is not empty."""
    return isinstance(value, str) and value != ""


def is_name(value: Any) -> bool:
    """Text that can be a part of an id."""
    return is_text(value) and "/" not in value and value.strip() == value


def is_number(value: Any) -> bool:
    """An integer or a float."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """An integer."""
    return isinstance(value, int) and not isinstance(value, bool)


# What every case of a campaign says in the same words.
PATIENCE = Key(
    "number",
    lambda v: is_number(v) and v >= 0,
    "seconds >= 0",
    60.0,
    "in all, waiting for a quiet machine before repeats",
)
LIMITS = Key(
    "table", lambda v: isinstance(v, dict), "a table of taint limits", {}, "overrides of the taint limits"
)


def list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A check for lists whose entries all pass `check`; the empty list does."""
    return lambda value: isinstance(value, list) and all(check(v) for v in value)


def some(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A list with at least one entry, all of them good."""
    return lambda value: isinstance(value, list) and len(value) > 0 and all(check(v) for v in value)


def tables(value: Any) -> bool:
    """At least one [[table]]."""
    return isinstance(value, list) and len(value) > 0


class CaseFile:
    """A case file's text, its TOML, and where each key stands."""

    def __init__(self, path: Path, remedy: str, start_from: str) -> None:
        """Reads the file; `remedy` says what to do when there is none, `start_from` names a good example."""
        self.path = path
        try:
            self._text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StrataError(
                "cannot read the case file", at=str(path), given=str(error), remedy=remedy
            ) from None
        try:
            self.value = documents.from_toml(self._text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            where = f"{path}:{line.group(1)}" if line else str(path)
            raise StrataError(
                "not TOML",
                at=where,
                given=str(error),
                remedy=f"see https://toml.io, or start from {start_from}",
            ) from None

    def at(self, key: str, place: Place = ()) -> str:
        """'FILE:LINE KEY' for a key of the top level or of a table; the table's own line when it is absent.

        tomllib does not keep lines, so they are found again.
        """
        counts: dict[Place, int] = {}
        current: Place = ()
        found = 1
        key_line = re.compile(rf'^"?{re.escape(key)}"?\s*=|^\[+\s*{re.escape(key)}\s*\]+')
        for number, line in enumerate(self._text.splitlines(), start=1):
            stripped = line.strip()
            header = re.match(r"^\[\[\s*([\w.-]+)\s*\]\]", stripped)
            if header:
                current = self._entered(header.group(1).split("."), current, counts)
                found = number if current == place else found
            if current == place and key_line.match(stripped):
                return f"{self.path}:{number} {key}"
        return f"{self.path}:{found} {key}"

    @staticmethod
    def _entered(words: list[str], current: Place, counts: dict[Place, int]) -> Place:
        """The place that a line [[a.b]] opens: the next b of the a that is open."""
        parent: Place = ()
        for depth, word in enumerate(words[:-1]):
            inside = len(current) > depth and current[depth][0] == word
            parent += (current[depth] if inside else (word, 1),)
        kind = (*parent, (words[-1], 0))
        counts[kind] = counts.get(kind, 0) + 1
        return (*parent, (words[-1], counts[kind]))

    def checked(self, value: Any, schema: Schema, place: Place = ()) -> dict[str, Any]:
        """The table with its defaults filled in. Raises StrataError for an unknown, missing or wrong key."""
        if not isinstance(value, dict):
            table = place[-1][0] if place else "case"
            raise StrataError(
                "not a table",
                at=self.at(table, place),
                given=repr(value),
                allowed=f"[[{table}]] with keys",
            )
        for key in value:
            if key not in schema:
                raise StrataError(
                    "unknown key",
                    at=self.at(key, place),
                    given=key,
                    allowed=", ".join(schema),
                    remedy=_nearest(key, schema),
                )
        result = {}
        for name, key in schema.items():
            if name not in value:
                if key.default is REQUIRED:
                    raise StrataError(
                        "a key is missing",
                        at=self.at(name, place),
                        given="nothing",
                        allowed=f"{name}: {key.allowed}",
                    )
                result[name] = key.default
            elif not key.good(value[name]):
                raise StrataError(
                    f"wrong value for `{name}`",
                    at=self.at(name, place),
                    given=repr(value[name]),
                    allowed=key.allowed,
                )
            else:
                result[name] = value[name]
        return result


def _nearest(key: str, schema: Schema) -> str | None:
    close = difflib.get_close_matches(key, list(schema), n=1)
    return f"did you mean `{close[0]}`?" if close else None
