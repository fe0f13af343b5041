"""Case files: TOML checked against a declared schema.

A schema is a table of keys; it makes the check and the error messages, and an unknown key is an error, so
that a misspelt one can never be a silent default. Every error names file, line and key.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import toml_files
from strata.errors import StrataError
from strata.toml_files import Place, as_toml

REQUIRED = object()  # the default of a key that has none


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
    """An integer or a float, neither inf nor nan."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


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
        self._text = toml_files.text_of(path, "the case file", remedy)
        example = f"see https://toml.io, or start from {start_from}"
        self.value = toml_files.table_of(self._text, path, example)
        self._places: toml_files.Places | None = None

    def at(self, key: str, place: Place = ()) -> str:
        """'FILE:LINE KEY' of a key of the top level or of a table; the table's own line when it is absent."""
        self._places = self._places or toml_files.Places(self._text)
        return f"{self.path}:{self._places.line(key, place)} {key}"

    def checked(self, value: Any, schema: Schema, place: Place = ()) -> dict[str, Any]:
        """The table with its defaults filled in. Raises StrataError for an unknown, missing or wrong key."""
        if not isinstance(value, dict):
            table = place[-1][0] if place else "case"
            raise StrataError(
                "not a table",
                at=self.at(table, place),
                given=as_toml(value),
                allowed=f"[[{table}]] with keys",
            )
        for key in value:
            if key not in schema:
                raise StrataError(
                    "unknown key",
                    at=self.at(key, place),
                    given=toml_files.key_of(key),
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
                    given=as_toml(value[name]),
                    allowed=key.allowed,
                )
            else:
                result[name] = value[name]
        return result


def _nearest(key: str, schema: Schema) -> str | None:
    close = difflib.get_close_matches(key, list(schema), n=1)
    return f"did you mean `{close[0]}`?" if close else None
