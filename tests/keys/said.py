"""Which keys of case files the tests set: what TOML, dicts and changes of cases in their sources say.

A key is known by its whole path, so that one of another table does not stand for it. Keys that stand together
without a header count where one table alone has all of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Which schema, then the keys: ("flow", "grid", "cells"); ("", "grid", "cells") where the schema is not said.
KeyPath = tuple[str, ...]

HEADER = re.compile(r"^\[{1,2}\s*([\w.\"-]+)\s*\]{1,2}\s*(#.*)?$")
KEY = re.compile(r"^([\w\"-]+(?:\.[\w\"-]+)*)\s*=(?!=)")
OWNER = re.compile(
    r"^(?:solver\s*=\s*[\"'](?:[\w./-]*/)?(\w+)|schema\s*=\s*[\"']strata\.(\w+))", re.MULTILINE
)
GAP = "\n\x00\n"  # for what is no literal


@dataclass
class Said:
    """What one source sets: whole paths, and groups of keys whose table is not said."""

    paths: set[KeyPath] = field(default_factory=set)
    groups: set[frozenset[str]] = field(default_factory=set)

    def add(self, other: Said) -> None:
        self.paths |= other.paths
        self.groups |= other.groups


def of_case(path: Path) -> set[KeyPath]:
    """A case file's keys; entries of an array of tables are one table."""
    text = path.read_text(encoding="utf-8")
    return _of_table(tomllib.loads(text), (_owner(text),))


def _of_table(table: Mapping[str, Any], at: KeyPath) -> set[KeyPath]:
    found: set[KeyPath] = set()
    for key, inner in table.items():
        found.add((*at, key))
        for each in inner if isinstance(inner, list) else [inner]:
            if isinstance(each, Mapping):
                found |= _of_table(each, (*at, key))
    return found


def _owner(text: str) -> str:
    said = OWNER.search(text)
    return (said[1] or said[2]) if said else ""


def of_text(text: str) -> Said:
    """Lines `[table]` and `key = value`, in any text. What comes before a header has no table, but where the
    text says which schema it follows.
    """
    said, owner = Said(), _owner(text)
    table: KeyPath | None = (owner,) if owner else None
    loose: set[str] = set()
    for line in map(str.strip, text.splitlines()):
        if header := HEADER.match(line):
            table = (owner, *_split(header[1]))
            said.paths |= {table[:n] for n in range(2, len(table) + 1)}
        elif key := KEY.match(line):
            path = _split(key[1])
            if table is None and len(path) == 1:
                loose.add(path[0])
                continue
            at = (*(table or (owner,)), *path)
            said.paths |= {at, *((*at, inner) for inner in _inline(line))}
    if loose:
        said.groups.add(frozenset(loose))
    return said


def _split(dotted: str) -> KeyPath:
    return tuple(part.strip('"') for part in dotted.split("."))


def _inline(line: str) -> set[str]:
    """The keys of `{a = 1, b = 2}`, the value of a line."""
    braces = re.search(r"=\s*\{(.*)\}", line)
    return set(re.findall(r"(?:^|,)\s*\"?([A-Za-z_]\w*)\"?\s*=", braces[1])) if braces else set()


# ---- C++

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<plain>(?:\\.|[^"\\\n])*)"|'
    r"(?P<char>'(?:\\.|[^'\\\n])+')",
    re.DOTALL,
)


def texts_of_cpp(source: str) -> Iterator[str]:
    """The literals, those of one sum joined: "a" "b", and "a" + f(x) + "b" with a gap between."""
    text, end = "", 0
    for literal in LITERAL.finditer(source):
        if literal["raw"] is None and literal["plain"] is None:
            continue
        between = re.sub(r"//[^\n]*", "", source[end : literal.start()]).strip()
        piece = literal["raw"] if literal["raw"] is not None else _unescaped(literal["plain"])
        is_sum = between[:1] == between[-1:] == "+" and not set(";,{}") & set(between)
        if between and not is_sum:
            yield text
            text = ""
        text += (GAP if is_sum else "") + piece
        end = literal.end()
    yield text


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def in_cpp(source: str) -> Said:
    said = Said()
    for text in texts_of_cpp(source):
        said.add(of_text(text))
    return said
