"""The work of regular expressions grows as the text does: names and lines may be a stranger's, of any length.

A search is quadratic where a repeat without an end can be begun at many places of what it runs over, and
what follows it is not there: `a.*b` runs to the end of a line for each `a`. That is seen in the pattern, so
nothing here takes a time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

SOURCES = Path(__file__).resolve().parents[3] / "python" / "strata"
CALLS = ("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
ANCHORED = {"match", "fullmatch"}
FLAGS = {"IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE", "ASCII", "I", "M", "S", "X", "A"}
ALPHABET = frozenset(map(chr, (*range(128), 0xE9, 0x2003)))
# Linear for another reason, or no text of a stranger's.
ALLOWED = {
    r"\*\*(.+?)\*\*": "a ** is ended by the next one of its line, so only the last has no end",
    r"\([^)]*\)|@.*|\bCPU\b|\d+-Core Processor": "what this machine's processor says of itself",
    r"^(?:\([\d.]+\) *)?(?:.*?: )?Error \(.*?\): (.*)$": "CRIU's own log",
}
MATPLOTLIBS = "report/figures/theme.py"  # plots as Matplotlib writes them: a stranger's < is &lt; there


def repeats(item: Any) -> tuple[int, int, list[Any]] | None:
    """Least, most and what is repeated."""
    kinds = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
    return item[1] if str(item[0]) in kinds else None


def one_of(item: Any, flags: int) -> frozenset[str]:
    """The characters of which this part may consist."""
    op, value = str(item[0]), item[1]
    if op in ("AT", "ASSERT", "ASSERT_NOT"):
        return ALPHABET
    if op == "SUBPATTERN":
        return frozenset().union(*(one_of(each, flags) for each in value[3]))
    if op == "BRANCH":
        return frozenset().union(*(one_of(each, flags) for way in value[1] for each in way))
    if found := repeats(item):
        return frozenset().union(*(one_of(each, flags) for each in found[2]))
    state = _parser.State()
    state.flags = flags
    code = _compiler.compile(_parser.SubPattern(state, [item]), flags)
    return frozenset(c for c in ALPHABET if code.fullmatch(c))


def flat(items: Any) -> Iterator[list[Any]]:
    """Each way through the alternatives, groups opened."""
    ways: list[list[Any]] = [[]]
    for item in items:
        op, value = str(item[0]), item[1]
        if op == "SUBPATTERN":
            further = list(flat(value[3]))
        elif op == "BRANCH":
            further = [way for each in value[1] for way in flat(each)]
        else:
            further = [[item]]
        ways = [way + more for way in ways for more in further]
    yield from ways


def needed(item: Any) -> bool:
    found = repeats(item)
    return found[0] > 0 if found else True


def quadratic(pattern: str, flags: int = 0, asked: Collection[str] = ("search",)) -> str:
    """The part of a pattern that is begun anew at many places of one text; empty where there is none.
    `asked`: the functions of re that it is given to.
    """
    anchored, to_the_end = {*asked} <= ANCHORED, "fullmatch" in asked
    parsed = _parser.parse(pattern, flags)
    flags = parsed.state.flags
    for way in flat(parsed):
        chars = [one_of(item, flags) for item in way]
        for i, item in enumerate(way):
            found = repeats(item)
            if found is None or found[1] is not _parser.MAXREPEAT:
                continue
            if not to_the_end and not any(map(needed, way[i + 1 :])):
                continue
            begins = range(i + 1) if anchored else range(-1, i + 1)
            for first in begins:
                # From anywhere, or from a repeat before it: what lies between may be part of both.
                before = repeats(way[first]) if first >= 0 else None
                if first == i or (first >= 0 and (before is None or before[1] is not _parser.MAXREPEAT)):
                    continue
                both = chars[i] & chars[first] if first >= 0 else chars[i]
                between = list(zip(way[first + 1 : i], chars[first + 1 : i], strict=True))
                if all(inside(each, its, both, flags) for each, its in between if needed(each)) and both:
                    return f"{pattern!r}: {item[1][2]}"
    return ""


def inside(item: Any, its: frozenset[str], text: frozenset[str], flags: int) -> bool:
    """Whether this part can be found again and again in a text of these characters."""
    if str(item[0]) == "AT" and "BEGINNING" in str(item[1]):
        many = str(item[1]) != "AT_BEGINNING_STRING" and flags & re.MULTILINE
        return bool(many) and "\n" in text
    return bool(its & text)


def patterns(path: Path) -> Iterator[tuple[str, int, set[str]]]:
    """Those that a module writes out: pattern, flags, and the functions of re that it is given to."""
    text = path.read_text()
    names: dict[ast.expr, str] = {}
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                names[value] = name
            case ast.Call(
                func=ast.Attribute(value=ast.Name("re"), attr=function),
                args=[ast.Constant(str() | bytes() as given), *_],
            ) if function in CALLS:
                named = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
                flags = sum(int(getattr(re, flag)) for flag in FLAGS & named)
                asked = {function}
                if function == "compile" and node in names:
                    asked = set(re.findall(rf"\b{names[node]}\.({'|'.join(CALLS)})\b", text)) or asked
                written = given.decode("latin-1") if isinstance(given, bytes) else given
                yield written, flags, asked


@pytest.mark.parametrize(
    "pattern",
    [r"(natural|random).*(latency|bandwidth)", r"(?m)^(\s*)```", r"\s*\)", r"<.*?>", r"\d*x"],
)
def test_a_search_that_begins_anew_at_many_places_is_seen(pattern: str) -> None:
    assert quadratic(pattern)


@pytest.mark.parametrize(
    "pattern", [r"natural|random", r"(?m)^([^\S\n]*)```", r"<[^<>]*>", r"x\d*", r"^\s*x"]
)
def test_one_that_goes_on_where_it_was_is_not(pattern: str) -> None:
    assert not quadratic(pattern)


def test_what_must_go_to_the_end_is_looked_at_to_the_end() -> None:
    assert quadratic(r"[0-9]+\.?[0-9]*", asked=["fullmatch"])
    assert not quadratic(r"[0-9]+\.?[0-9]*", asked=["match"])
    assert not quadratic(r"[0-9]+(?:\.[0-9]*)?", asked=["fullmatch"])


def test_no_pattern_of_the_sources_is_quadratic() -> None:
    seen = [(path, *each) for path in sorted(SOURCES.rglob("*.py")) for each in patterns(path)]
    assert len(seen) > 80
    found = [
        f"{path.relative_to(SOURCES)}: {why}"
        for path, pattern, flags, asked in seen
        if pattern not in ALLOWED
        and not path.match(MATPLOTLIBS)
        and (why := quadratic(pattern, flags, asked))
    ]
    assert found == []
    assert {pattern for _, pattern, *_ in seen} >= set(ALLOWED)
