"""No two files define types of one full name. The linker takes functions of both for the same, so that a
vector of one type may grow by the size of the other."""

from __future__ import annotations

import re

from uses import native_files

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
BRACE = re.compile(
    r"""\bnamespace\s*([\w:]*)\s*\{
    | (?<!enum\ )\b(?:struct|class)\s+(?:alignas\([^)]*\)\s*)?(\w+)(?:\s+final)?\s*(?::[^:;{}()][^;{}()]*)?\{
    | [{}]""",
    re.VERBOSE,
)


def types_of(files: dict[str, str]) -> dict[str, set[str]]:
    """Full name of a type that a namespace has -> the files that define it. Types within types, within
    functions and in namespaces without a name are left out."""
    found: dict[str, set[str]] = {}
    for file, text in files.items():
        around: list[str | None] = []  # of each open brace: the namespace's name, None for anything else
        for brace in BRACE.finditer(NOT_CODE.sub("0", text)):
            namespace, name = brace[1], brace[2]
            if brace[0] == "}":
                del around[-1:]
                continue
            if name and None not in around:
                found.setdefault("::".join([*filter(None, around), name]), set()).add(file)
            around.append(namespace or None)
    return found


def test_no_two_files_define_types_of_one_name() -> None:
    folders = ("core/", "methods/", "solvers/", "benchmarks/", "cli/")
    found = types_of({file: text for file, text in native_files().items() if file.startswith(folders)})
    assert len(found) > 400
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_a_second_type_of_a_name_is_told() -> None:
    files = {
        "a.hpp": "namespace a::b {\nstruct Point {\n int x{};\n};\nclass Line final : public Point {};\n}\n",
        "b.cpp": "namespace a {\nnamespace b { struct Point { char x = f('{'); }; }\n"
        "namespace { struct Line {}; }\n}\n",
        "c.cpp": "namespace a::b {\nstruct Point::Inner {};\nvoid f() { struct Line {}; } // struct Line {\n"
        "template <class Line> void g() {}\n}\n",
    }
    assert {name for name, where in types_of(files).items() if len(where) > 1} == {"a::b::Point"}
