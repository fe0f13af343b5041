"""How many files a folder has, how many lines files and functions have: of C++ by its braces, of Python by
its syntax tree.

A function of C++ counts from the first line of its head (a template's parameters included) to its closing
brace; lambdas and types within belong to it. Where both branches of a condition of the preprocessor open a
brace, the first one counts.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

FILES_OF_A_FOLDER = 60
LINES_OF_A_FILE = 450
LINES_OF_A_FUNCTION = 60

NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)
OTHER_BRANCH = re.compile(
    r"^#[ \t]*el(?:se|if)\b(?:(?!^#[ \t]*if).)*?^#[ \t]*endif", re.DOTALL | re.MULTILINE
)
# What stands between the parameters of a function, or its initialisers, and its body.
TAIL = re.compile(
    r"\)\s*(?:(?:const|noexcept|override|final|mutable|try|&&?)\s*)*$|\)[\w\s]*:[^;]*\}$|->[^;]*$|\brequires\b[^;]*$"
)
SCOPE = re.compile(
    r"^(?:inline\s+)?namespace\b|^extern 0$|(?:^|[>\s])(?:struct|class|union)\s+(?:[^()=]|\(\w*\))*$"
)
# The name before the parameters; of an operator with its sign.
NAME = re.compile(r"((?:[\w:~]|<[\w:, ]*>(?=::))*(?:\boperator\s*(?:\(\)|[^\s\w(]+|[\w:<> ]+))?)\s*\(")
TYPE = re.compile(r"\b(?:struct|class|union)\s+(?:alignas\([^)]*\)\s*)?(\w+)")
# What is no part of a head's name: who may see it; parameters of templates, attributes.
WHO = re.compile(r"^(?:\s|(?:public|private|protected):)+")
BEFORE = re.compile(
    r"^(?:\s|(?:public|private|protected):|template <(?:[^<>]|<[^<>]*>)*>|__attribute__\(\(.*?\)\))+"
)


@dataclass(frozen=True, order=True)
class Function:
    """A function with the lines that it takes."""

    file: str
    name: str
    first: int
    lines: int

    def __str__(self) -> str:
        return f"{self.file}:{self.first}: {self.name} has {self.lines} lines"


def blank(match: re.Match[str]) -> str:
    """What is no code, without all but its line ends; a 0 where it is a value."""
    return ("0" if match[0][0] in "\"'R" else "") + "\n" * match[0].count("\n")


def first_branch(match: re.Match[str]) -> str:
    """A second branch, unless it opens a brace that is closed behind it, as the first one then does."""
    return match[0] if match[0].count("{") == match[0].count("}") else blank(match)


def native_functions(file: str, text: str) -> Iterator[Function]:
    """The functions that a file of C++ defines in namespaces and types."""
    text = NOT_CODE.sub(blank, OTHER_BRANCH.sub(first_branch, text))
    ends = [at for at, sign in enumerate(text) if sign == "\n"]
    around: list[str] = []  # of each open namespace and type its name, of namespaces an empty one
    head_from = 0
    inside = 0  # open braces of a function or a value
    head = ""
    for brace in re.finditer(r"[{}]", text):
        at = brace.start()
        if brace[0] == "{":
            if inside == 0:
                head_from = max(head_from, text.rfind(";", head_from, at) + 1)
                head = BEFORE.sub("", text[head_from:at]).rstrip()
                if SCOPE.search(head) and not TAIL.search(head):
                    named = TYPE.search(head)
                    around.append(named[1] if named else "")
                    head_from = at + 1
                    continue
            inside += 1
        elif inside == 0:
            assert around, f"{file}: a brace too many"
            around.pop()
            head_from = at + 1
        else:
            inside -= 1
            if inside or re.match(r"\s*[,){]", text[at + 1 : at + 200]):
                continue  # within a body, or a value within a head
            if TAIL.search(head):
                start = at - len(WHO.sub("", text[head_from : at + 1])) + 1
                first, last = bisect_right(ends, start - 1) + 1, bisect_right(ends, at) + 1
                name = NAME.search(head)
                full = "::".join([*filter(None, around), name[1].strip() if name else head])
                yield Function(file, full, first, last - first + 1)
            head_from = at + 1
    assert not around and not inside, f"{file}: a brace too few"


def python_functions(file: str, text: str) -> Iterator[Function]:
    """The functions of a module, those within others too."""

    def below(node: ast.AST, names: list[str]) -> Iterator[Function]:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (each.end_lineno or 0) - each.lineno + 1
                yield Function(file, ".".join([*names, each.name]), each.lineno, lines)
            inner = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            if not isinstance(each, ast.expr):
                yield from below(each, [*names, each.name] if inner else names)

    if text.count("\n") > LINES_OF_A_FUNCTION:  # parsing all of them takes a while
        yield from below(ast.parse(text), [])


def long_functions(files: Mapping[str, str]) -> list[Function]:
    """Functions with too many lines, the longest first."""
    found = (
        each
        for file, text in files.items()
        for each in (python_functions if file.endswith(".py") else native_functions)(file, text)
        if each.lines > LINES_OF_A_FUNCTION
    )
    return sorted(found, key=lambda each: (-each.lines, each))


def long_files(files: Mapping[str, str]) -> dict[str, int]:
    """The lines of files that have too many."""
    return {file: lines for file, text in files.items() if (lines := text.count("\n")) > LINES_OF_A_FILE}


def full_folders(files: Iterable[str]) -> dict[str, int]:
    """The number of files of folders that have too many; those of folders within do not count."""
    counts = Counter(file.rpartition("/")[0] for file in files)
    return {folder: count for folder, count in counts.items() if count > FILES_OF_A_FOLDER}
