"""The order of the parts: a file may use files of its own part and of lower ones.

A part is a folder or a file. Parts of one line stand side by side and do not use each other. ARCHITECTURE.md
says what each is about; this is the same order, in full. Solvers are the folders that have a manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from strata import solvers

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = solvers.in_folder(ROOT / "solvers")

NATIVE = [
    ["core/base", "core/lanes"],
    ["core/machine", "core/balance"],
    ["core/launch", "core/observe"],
    ["core/team"],
    ["core/graph/execute"],
    ["core/graph/declare"],
    ["core/graph/kernels"],
    ["core/graph/resolve"],
    ["core/graph/expand/halos"],
    ["core/graph/expand/assign"],
    ["core/graph/expand/particles"],
    ["core/graph/expand/memory"],
    ["core/graph/expand/calls"],
    ["core/graph/expand/messages"],
    ["core/graph/expand/stages"],
    ["core/graph/expand/waits"],
    ["core/graph/expand"],
    ["core/graph/simulation"],
    ["core/run/checkpoint", "core/run/output", "core/run/profile", "core/run/case", "core/run/history"],
    ["core/run/steer"],
    ["core/run/driver"],
    ["core/run/module"],
    ["core/run/python"],
    ["methods/geometry"],
    ["methods/curvilinear", "methods/overset", "methods/particles"],
    [f"solvers/{name}" for name in SHIPPED],
    ["benchmarks/elsewhere.hpp"],
    ["benchmarks/common"],
    ["benchmarks/hpcc", "benchmarks/npb", "benchmarks/stencil"],
    ["benchmarks/integrity", "benchmarks/machine", "benchmarks/osu", "benchmarks/team"],
    ["benchmarks/graph"],
    [
        "benchmarks",
        "benchmarks/peers",
        "benchmarks/solvers/flow",
        "benchmarks/solvers/md",
        "benchmarks/solvers/mpm",
        "cases",
        "cli",
        "examples",
    ],
    ["tests"],
]

PYTHON = [
    ["strata.errors"],
    [
        "strata.csv_cells",
        "strata.documents",
        "strata.own_folders",
        "strata.peer",
        "strata.pidfd",
        "strata.scripts",
        "strata.unpacked",
    ],
    ["strata.toml_files"],
    ["strata.front", "strata.paths", "strata.casefile", "strata.interop"],
    ["strata.security", "strata.site", "strata.solvers"],
    ["strata.measure"],
    ["strata.advice"],
    ["strata.draw"],
    ["strata.cluster", "strata.graph", "strata.report", "strata.run"],
    ["strata.characterize", "strata.flow", "strata.md"],
    ["strata.compare", "strata.study"],
    ["strata.tune"],
    ["strata.submit"],
    ["strata.centre"],
    ["strata.commands", "strata.doctor"],
    ["strata.cli"],
    ["strata.__main__"],
]


def part(name: str, order: list[list[str]], separator: str) -> str | None:
    """The innermost part that a file or module lies in."""
    parts = {each for line in order for each in line}
    words = name.split(separator)
    heads = (separator.join(words[:count]) for count in range(len(words), 0, -1))
    return next((head for head in heads if head in parts), None)


def breaches(uses: Mapping[str, Iterable[str]], order: list[list[str]], separator: str) -> list[str]:
    """Each use of a part that is not lower, and each file without a part."""
    height = {name: level for level, line in enumerate(order) for name in line}
    found = []
    for user, used in sorted(uses.items()):
        here = part(user, order, separator)
        if here is None:
            found.append(f"{user} lies in no part")
            continue
        for each in sorted(used):
            there = part(each, order, separator)
            if there is None:
                found.append(f"{user} uses {each}, which lies in no part")
            elif there != here and height[there] >= height[here]:
                found.append(f"{user} uses {each}: {there} is not below {here}")
    return found


def between_solvers(uses: Mapping[str, Iterable[str]]) -> list[str]:
    """Each use of one solver by another: what they share lies in core or methods. Solvers have a program."""
    folders = {name.removesuffix("/main.cpp") for name in uses if name.endswith("/main.cpp")}
    solvers = {folder for folder in folders if folder.startswith("solvers/")}

    def solver(name: str) -> str | None:
        return next((each for each in solvers if name.startswith(f"{each}/")), None)

    return [
        f"{user} uses {each}: what solvers share lies in core or methods"
        for user, used in sorted(uses.items())
        if solver(user)
        for each in sorted(used)
        if solver(each) not in (None, solver(user))
    ]


def circles(uses: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of files that use each other in a circle (strongly connected components by Tarjan)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for each in uses.get(name, ()):
            if each not in number:
                visit(each)
                lowest[name] = min(lowest[name], lowest[each])
            elif each in stack:
                lowest[name] = min(lowest[name], number[each])
        if lowest[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in sorted(uses):
        if name not in number:
            visit(name)
    return found
