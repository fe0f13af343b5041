"""Which files name a solver, and which lines the lists of solvers lack.

A file names a solver as one where it has

- one of its programs (strata-NAME, and what its manifest lists);
- its folder (solvers/NAME) or a target of its own (strata_NAME), but for what is included;
- the name alone, in quotes or in add_subdirectory();
- in Markdown instead: a row of a table whose first cell is the name, or that links its first page;
- in YAML its first page;
- three or more names of solvers as words of one line: a list of them.

Words of plain English, as `flow`, do not count, nor commands (`strata md`) and paths of cases.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from strata.solvers import Solver

# What a new solver is named in beside its folder, cases, pages and tests.
LISTS = ("docs/index.md", "docs/restart.md", "mkdocs.yml", "setup/parts.csv")
# Recorded by tools, which find the solvers by themselves.
RECORDED = ("setup/compile_seconds.csv",)
INCLUDE = re.compile(r'(?m)^\s*#\s*include\s+"[^"]*".*$')


def pattern(solver: Solver, file: str) -> re.Pattern[str]:
    """What a file of this kind names the solver by, apart from lists of names."""
    name, page = solver.name, re.escape(solver.pages[0])
    if file.endswith(".md"):
        folder = "/?" if file == "solvers/README.md" else ""
        return re.compile(rf"(?m)^\| *`?{name}{folder}`? *\||^\|.*\((?:docs/)?{page}[)#]")
    if file.endswith((".yml", ".yaml")):
        return re.compile(rf"(?m)[ /]{page}\b")
    programs = "|".join(map(re.escape, solver.all_programs()))
    return re.compile(
        rf"\b(?:strata-{name}|{programs})\b|\bsolvers/{name}\b|\bstrata_{name}(?:_\w+)?\b"
        rf"""|\\?(["'`]){name}\\?\1|\badd_subdirectory\({name}\)"""
    )


def names_in_a_list(text: str, names: Collection[str]) -> set[str]:
    """The names that stand in a line with two others."""
    word = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, names))})(?![\w./(-])")
    lines = (set(word.findall(line)) for line in text.splitlines())
    return {name for found in lines if len(found) >= 3 for name in found}


def naming(solver: Solver, files: Mapping[str, str], names: Collection[str]) -> set[str]:
    """The files that name a solver; their texts are given by their paths."""
    words = (solver.name, *solver.all_programs(), *solver.pages)
    return {
        file
        for file, text in files.items()
        if any(word in text for word in words)  # most have none
        and (
            pattern(solver, file).search(INCLUDE.sub("", text)) or solver.name in names_in_a_list(text, names)
        )
    }


def own(solver: Solver, file: str) -> bool:
    """Whether a file is in the solver's folder, its cases, pages or tests, or is said to be about it."""
    folders = (f"solvers/{solver.name}", "cases", "tests", *solver.elsewhere)
    pages = [f"docs/{page}" for page in solver.pages]
    return file in (*pages, *RECORDED) or any(file == each or file.startswith(f"{each}/") for each in folders)


def lacking(solver: Solver, files: Mapping[str, str]) -> list[str]:
    """FILE: a line that the lists lack for this solver."""
    missing = []
    rows = [line.split(",") for line in files["setup/parts.csv"].splitlines()]
    programs = [word for row in rows if row[0] == solver.part for word in row[-1].split()]
    if left := [program for program in solver.all_programs() if program not in programs]:
        missing.append(f"setup/parts.csv: {solver.part},SECONDS,{solver.about},{' '.join(left)}")
    first, *further = solver.pages
    nav = files["mkdocs.yml"]
    if f"- {solver.title}: {first}\n" not in nav:
        missing.append(f"mkdocs.yml: - {solver.title}: {first}")
    missing += [f"mkdocs.yml: - TITLE: {page}" for page in further if f": {page}\n" not in nav]
    index = files["docs/index.md"]
    if f"[{solver.title}]({first})" not in index:
        missing.append(f"docs/index.md: | {solver.about} | [{solver.title}]({first}) |")
    missing += [f"docs/index.md: [TITLE]({page})" for page in further if f"]({page})" not in index]
    if f"| `{solver.name}` |" not in files["docs/restart.md"]:
        missing.append(f"docs/restart.md: | `{solver.name}` | KEYS | KEYS |")
    return missing
