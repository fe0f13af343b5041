"""Single changes of sources, for mutants.py: which there are, and which of them are drawn.

A change takes an operator for its opposite, moves a bound, turns a sign, or leaves a statement out, in one
place of one line. Nothing in comments, texts, includes and other lines of the preprocessor, or annotations is
changed.
"""

from __future__ import annotations

import ast
import bisect
import io
import itertools
import random
import re
import subprocess
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# language -> folders and endings of its sources
SOURCES = {
    "cpp": (("core", "methods", "solvers", "benchmarks", "cli"), (".cpp", ".hpp")),
    "python": (("python/strata",), (".py",)),
}
# What a word becomes, by the kind of change.
INSTEAD = {
    "bound": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "comparison": {"==": "!=", "!=": "=="},
    "arithmetic": {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*"},
    "assignment": {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="},
    "logic": {"&&": "||", "||": "&&", "and": "or", "or": "and"},
    "truth": {"true": "false", "false": "true", "True": "False", "False": "True"},
    "choice": {"std::min": "std::max", "std::max": "std::min", "min": "max", "max": "min"},
    "loop": {"break": "continue", "continue": "break"},
}
KIND = {word: (kind, after) for kind, words in INSTEAD.items() for word, after in words.items()}


@dataclass(frozen=True)
class Change:
    """`before` becomes `after` in one place; columns count characters from 1."""

    file: str
    line: int
    column: int
    before: str
    after: str
    kind: str
    text: str  # the line, without the spaces around it

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: `{self.before}` -> `{self.after}`"

    def applied(self, source: str) -> str:
        """The source with the change. Raises ValueError where it does not fit."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1] if self.line <= len(lines) else ""
        at = self.column - 1
        if line.strip() != self.text or not line.startswith(self.before, at):
            raise ValueError(f"{self} does not fit the source")
        lines[self.line - 1] = line[:at] + self.after + line[at + len(self.before) :]
        return "".join(lines)


class _Found:
    """Collects changes of one source."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.lines = file, source.splitlines()
        self.changes: list[Change] = []

    def add(self, line: int, column: int, before: str, after: str, kind: str) -> None:
        text = self.lines[line - 1].strip()
        self.changes.append(Change(self.file, line, column, before, after, kind, text))


def _next_number(text: str) -> str | None:
    """A bound moved by one, a factor doubled."""
    if text.isdecimal():
        return str(int(text) + 1)
    try:
        return repr(2 * float(text) or 1.0)
    except ValueError:
        return None  # of another base, or with a suffix


# ---- C++

_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|'
    r"^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
# The project's form has spaces around binary operators, and none around <> of templates, & and * of types.
_OPERATOR = re.compile(r"(?<=\S )(?:<=|>=|==|!=|&&|\|\||[+*/-]=|[<>+*/%-])(?= \S)")
_WORD = re.compile(r"\b(?:true|false|break|continue|std::min|std::max)\b(?!\s*<)")
_SIGN = re.compile(r"(?<=[(=,?:<>+*/%&|-] )-(?=[\w(])|(?<=[(\[{])-(?=[\w(])|(?<=return )-(?=[\w(])")
_NOT = re.compile(r"(?<![\w)])!(?=[\w(])")
_NUMBER = re.compile(r"(?<![\w.'])(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)(?![\w.'])")
_CALL = re.compile(r"^\s+([\w:]+(?:(?:\.|->)\w+|\[\w+\])*\(.*\);)$")


def code_alone(source: str) -> str:
    """The C++ source with spaces for what is no code; lines and columns stay."""
    return _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def in_cpp(file: str, source: str) -> list[Change]:
    found = _Found(file, source)
    before = "{"
    for number, line in enumerate(code_alone(source).splitlines(), start=1):
        if "static_assert" in line or line.lstrip().startswith(("template", "using ", "namespace")):
            continue
        for each in (*_OPERATOR.finditer(line), *_WORD.finditer(line)):
            kind, after = KIND[each[0]]
            found.add(number, each.start() + 1, each[0], after, kind)
        for each in (*_SIGN.finditer(line), *_NOT.finditer(line)):
            found.add(number, each.start() + 1, each[0], "", "sign" if each[0] == "-" else "not")
        for each in _NUMBER.finditer(line):
            if (after := _next_number(each[0])) is not None:
                found.add(number, each.start() + 1, each[0], after, "number")
        call = _CALL.match(line)
        if call and file.endswith(".cpp") and before in (";", "{", "}") and _is_balanced(call[1]):
            whole = found.lines[number - 1][call.start(1) : call.end(1)]
            found.add(number, call.start(1) + 1, whole, ";", "statement")
        before = line.rstrip()[-1:] or before
    return found.changes


def _is_balanced(text: str) -> bool:
    depth = 0
    for n, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if each == ")" and depth == 0 and n != len(text) - 2:
            return False  # more than one call
    return depth == 0


# ---- Python

Place = tuple[int, int]  # line and column


def in_python(file: str, source: str) -> list[Change]:
    found = _Found(file, source)
    tree = ast.parse(source)
    barred = _barred(tree)
    tokens = _code_tokens(source)
    binary = set(_binary_places(tree, tokens, found.lines))
    for token, following in itertools.pairwise([*tokens, tokenize.TokenInfo(0, "", (0, 0), (0, 0), "")]):
        (line, column), word = token.start, token.string
        if _is_barred(token.start, barred):
            continue
        kind, after = KIND.get(word, ("", ""))
        if token.type == tokenize.NUMBER:
            if (number := _next_number(word)) is not None:
                found.add(line, column + 1, word, number, "number")
        elif token.start in binary or kind in ("assignment", "truth", "loop"):
            if kind:
                found.add(line, column + 1, word, after, kind)
        elif kind == "choice" and following.string == "(":
            found.add(line, column + 1, word, after, kind)
        elif word == "not" and following.string != "in":
            found.add(line, column + 1, "not ", "", "not")
        elif word == "-" and following.type != tokenize.OP:
            found.add(line, column + 1, word, "", "sign")
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno == node.end_lineno:
            line = found.lines[node.lineno - 1]
            if _is_barred((node.lineno, node.col_offset), barred):
                continue
            if line.encode()[node.col_offset : node.end_col_offset].decode() == line.strip():
                column = len(line) - len(line.lstrip())
                found.add(node.lineno, column + 1, line.strip(), "pass", "statement")
    return found.changes


def _code_tokens(source: str) -> list[tokenize.TokenInfo]:
    """Operators, names and numbers. Within f-strings (Python 3.12 and later tell) they are text."""
    start, end = (getattr(tokenize, name, None) for name in ("FSTRING_START", "FSTRING_END"))
    tokens, depth = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth += (token.type == start) - (token.type == end)
        if depth == 0 and token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            tokens.append(token)
    return tokens


def _is_barred(place: Place, barred: Sequence[tuple[Place, Place]]) -> bool:
    return any(first <= place < last for first, last in barred)


def _barred(tree: ast.Module) -> list[tuple[Place, Place]]:
    """From where to where nothing is changed: annotations, what type checkers read, the start of a script."""
    found = []
    for node in ast.walk(tree):
        barred: list[ast.expr | ast.stmt | None] = []
        if isinstance(node, ast.keyword) and node.arg == "strict":
            barred.append(node.value)  # of zip: it raises where lists differ that never do
        elif isinstance(node, ast.arg | ast.AnnAssign):
            barred.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            barred.append(node.returns)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in (
            "TYPE_CHECKING",
            "__name__ == '__main__'",
        ):
            barred.append(node)
        for each in filter(None, barred):
            last = (each.end_lineno or each.lineno, each.end_col_offset or 0)
            found.append(((each.lineno, each.col_offset), last))
    return found


def _binary_places(
    tree: ast.Module, tokens: Sequence[tokenize.TokenInfo], lines: Sequence[str]
) -> Iterator[Place]:
    """Where operators between two values stand. Within f-strings places are not those of the source."""

    def place(line: int, offset: int) -> Place:
        return line, len(lines[line - 1].encode()[:offset].decode())  # from bytes to characters

    starts = [token.start for token in tokens]
    inside = {
        id(each) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in ast.walk(node)
    }
    for node in ast.walk(tree):
        operands: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.BoolOp):
            operands = node.values
        if id(node) in inside:
            continue
        for left, right in itertools.pairwise(operands):
            assert left.end_lineno is not None and left.end_col_offset is not None
            first, last = place(left.end_lineno, left.end_col_offset), place(right.lineno, right.col_offset)
            these = tokens[bisect.bisect_left(starts, first) : bisect.bisect_left(starts, last)]
            between = [token for token in these if token.string not in "()"]
            if len(between) == 1:  # not `not in` and `is not`
                yield between[0].start


# ---- Drawing


def sources(root: Path, language: str, under: Sequence[str] = ()) -> list[str]:
    """The files of a language that git has, in the folders that are asked for."""
    folders, endings = SOURCES[language]
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    return sorted(
        name
        for name in listed
        if name.endswith(endings)
        and (not under or any(name == each or name.startswith(each.rstrip("/") + "/") for each in under))
    )


def changes(root: Path, language: str, under: Sequence[str] = ()) -> list[Change]:
    read = {"cpp": in_cpp, "python": in_python}[language]
    return [
        change
        for name in sources(root, language, under)
        for change in read(name, (root / name).read_text(encoding="utf-8"))
    ]


def drawn(every: Sequence[Change], seed: int) -> Iterator[Change]:
    """All changes in the order in which they are drawn, the same for a seed and sources: first
    a kind, then one of it, as numbers would else be most of it.
    """
    chance = random.Random(seed)
    kinds: dict[str, list[Change]] = {}
    for change in every:
        kinds.setdefault(change.kind, []).append(change)
    for of_kind in kinds.values():
        chance.shuffle(of_kind)
    while kinds:
        kind = chance.choice(sorted(kinds))
        yield kinds[kind].pop()
        if not kinds[kind]:
            del kinds[kind]
