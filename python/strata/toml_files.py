"""TOML files: read as TOML 1.0 says, and where each key of them stands.

tomllib keeps no lines. A file is cut into its statements (a header, or a key with its value), and each is
read by tomllib once more, alone: so quoted and dotted keys, inline tables and texts over several lines are
what they are in the file.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from strata import documents
from strata.errors import StrataError, why

Place = tuple[tuple[str, int], ...]  # (("program", 2), ("figure", 1)): the first figure of the second program
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LINE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")


def text_of(path: Path, what: str, remedy: str | None = None) -> str:
    """The text of a file, without the mark of its encoding. Raises StrataError for one that cannot be read or
    is not in UTF-8. `what` it is: "the case file".
    """
    try:
        return documents.named(path).decode("utf-8").removeprefix("\ufeff")
    except OSError as error:
        reason, row = why(error), ""
    except UnicodeDecodeError as error:
        row = f":{error.object.count(10, 0, error.start) + 1}"
        reason = f"byte 0x{error.object[error.start]:02x}, which is not UTF-8"
    allowed = "a file that can be read, in UTF-8"
    raise StrataError(
        f"cannot read {what}", at=f"{path}{row}", given=reason, allowed=allowed, remedy=remedy
    ) from None


def table_of(text: str, path: Path, remedy: str | None = None) -> dict[str, Any]:
    """The table of a TOML text. Raises StrataError with the line, and what stands there, for what is none."""
    try:
        return documents.from_toml(text)
    except tomllib.TOMLDecodeError as error:
        said, lines = str(error), text.split("\n")
        found = _LINE.search(said)
        number = (int(found[1]) if found[1] else len(text.rstrip("\n").split("\n"))) if found else None
        why = _LINE.sub("", said).strip()
        raise StrataError(
            f"this is not TOML: {why[:1].lower()}{why[1:]}",
            at=str(path) if number is None else f"{path}:{number}",
            given=(lines[number - 1].strip() if number else "") or "the end of the file",
            allowed="KEY = VALUE and [TABLE] on lines of their own; texts in quotes",
            remedy=remedy or "see https://toml.io",
        ) from None


def read(path: Path, what: str, remedy: str | None = None) -> dict[str, Any]:
    """The table of a TOML file. Raises StrataError."""
    return table_of(text_of(path, what), path, remedy)


def as_toml(value: Any) -> str:
    """A value as TOML has it: true, not True."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key_of(key)} = {as_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def key_of(name: str) -> str:
    """A key as TOML has it: in quotes where it has other characters than letters, digits, - and _."""
    return name if _BARE.fullmatch(name) else as_toml(name)


class Places:
    """The lines on which the keys and tables of a text begin. The text is TOML."""

    def __init__(self, text: str) -> None:
        self._keys: dict[tuple[Place, str], int] = {}
        self._tables: dict[Place, int] = {}
        self._counts: dict[tuple[Place, str], int] = {}  # of [[tables]]
        here: Place = ()
        for line, statement, found in _statements(text.replace("\r\n", "\n")):
            if statement.startswith("["):
                here = self._header(found, statement.startswith("[["), line)
            else:
                self._values(found, here, line)

    def line(self, key: str, place: Place) -> int:
        """Of a key of the table at `place`; of the table, where it has no such key; else the first."""
        return self._keys.get((place, key), self._tables.get(place, 1))

    def _header(self, found: Any, array: bool, line: int) -> Place:
        """The place that [a.b] or [[a.b]] opens: in the last a, where there are several."""
        here: Place = ()
        while True:
            ((name, found),) = found.items()
            self._keys.setdefault((here, name), line)
            last = found == [{}] if array else found == {}
            if array and last:
                self._counts[here, name] = self._counts.get((here, name), 0) + 1
            here += ((name, self._counts.get((here, name), 1)),)
            if last:
                self._tables.setdefault(here, line)
                return here

    def _values(self, found: Mapping[str, Any], here: Place, line: int) -> None:
        self._tables.setdefault(here, line)
        for name, value in found.items():
            self._keys.setdefault((here, name), line)
            several = value if isinstance(value, list) else [value]
            for number, each in enumerate(several, start=1):
                if isinstance(each, Mapping):
                    self._values(each, (*here, (name, number)), line)


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The first line of each statement, its text, and what it says alone. A text that takes many attempts, as
    a value over thousands of lines may, has its later statements left out.
    """
    first, said, left = 0, "", 20 * len(text) + (1 << 20)  # characters that are read again
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not said:
            first, line = number, line.strip()
            if not line or line.startswith("#"):
                continue
        # Within a value of several lines, which does not end here:
        elif not re.search("[]}\"']", line) or (line.rstrip().endswith(",") and "#" not in line):
            said += "\n" + line
            continue
        said += "\n" + line if said else line
        left -= len(said)
        if left < 0:
            return
        try:
            found = documents.from_toml(said)
        except tomllib.TOMLDecodeError:
            continue
        yield first, said, found
        said = ""
