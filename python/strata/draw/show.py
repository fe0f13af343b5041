"""`strata graph show`: a solver's graph as a drawing and as lists of its critical path and its memory."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import documents, toml_files
from strata.advice.words import count, size
from strata.draw.graph import Graph, graph_svg, summary
from strata.errors import FAILED, StrataError, why
from strata.measure.files import would_replace, write_named
from strata.paths import fronts, need_programs, sibling
from strata.scripts import visible_lines

SCHEMA = "strata.graph/1"
TIMEOUT = 120.0


@dataclass(frozen=True)
class Request:
    """What is asked for: a document, a case, or a program's command line; where the drawing goes."""

    source: Path | None = None
    command: tuple[str, ...] = ()
    svg: Path | None = None
    json: bool = False
    force: bool = False


def run(request: Request) -> int:
    """Prints the lists (or the document) and writes the drawing where one is asked for."""
    if (request.source is None) == (not request.command):
        raise StrataError(
            "say what to show: one file, or one command after --",
            given="neither" if request.source is None else "both",
            allowed="FILE.json, CASE.toml, or -- PROGRAM [ARGS]",
            remedy="strata graph show --help",
        )
    graph = _asked(request.command) if request.source is None else load(request.source)
    where = str(request.source or " ".join(request.command))
    if request.svg is not None:
        if not request.force and would_replace(request.svg):
            raise StrataError(
                "the file is there already", at=str(request.svg), remedy="name another one, or add --force"
            )
        with documents.used(where, "the graph"):
            drawing = graph_svg(graph) + "\n"
        write_named(request.svg, drawing)
    with documents.used(where, "the graph"):
        lines = json.dumps(graph, indent=1) if request.json else listing(graph)
    print(visible_lines(lines))
    return 0


def load(source: Path) -> Graph:
    """The document in a file, or the one that the solver of a case describes it with."""
    text = toml_files.text_of(source, "the case" if source.suffix == ".toml" else "the graph")
    if source.suffix == ".toml":
        program = _solver_of(source, text)
        return _asked((str(program), str(source))) if program is not None else _asked_by_run(source)
    return _checked(text, str(source))


_TEXT: dict[str, Any] = {"encoding": "utf-8", "errors": "replace"}  # of any program, which may print anything
_NAME = re.compile(r"[a-z][a-z0-9_-]*", re.ASCII)
PATH = "critical path of a step, the longest chain of tasks that wait for each other:"


def listing(graph: Graph) -> str:
    """The lists, as text."""
    tasks = graph["tasks"]
    lines = [f"{graph['graph']}: {summary(graph)}", "", PATH]
    for number in graph["critical_path"]:
        it = tasks[number]
        scope = graph["scopes"][it["scope"]]
        where = f"  (in {scope['name']})" if scope["parent"] >= 0 else ""
        lines.append(f"  {it['name']}{where}")
    lines += ["", f"{'memory of':<34} {'a patch':>10} {'in all':>10}"]
    for storage in sorted(graph["storages"], key=lambda s: (-s["bytes"], s["labels"])):
        name = ", ".join(storage["labels"])
        if storage["contributions"]:
            name = f"contributions to {name}"
        notes = []
        if storage["depth"] > 1:
            notes.append(count(storage["depth"], "generation"))
        if storage["kept"]:
            notes.append("kept from step to step")
        if len(storage["labels"]) > 1:
            notes.append("one after the other")
        if storage["per_particle"]:
            amounts = f"{size(storage['bytes_per_patch']):>10} a particle"
        else:
            amounts = f"{size(storage['bytes_per_patch']):>10} {size(storage['bytes']):>10}"
        lines.append(f"  {name:<32} {amounts}  {', '.join(notes)}".rstrip())
    memory = graph["memory"]
    lines.append(f"  {'peak':<32} {size(memory['bytes_per_patch']):>10} {size(memory['bytes']):>10}")
    if graph["warnings"]:
        lines += ["", "to look at:", *(f"  {w}" for w in graph["warnings"])]
    return "\n".join(lines)


def _checked(text: str, where: str) -> Graph:
    remedy = "strata graph show --json CASE.toml writes one; a solver's program prints it for --graph"
    try:
        graph: Any = documents.from_json(text)
    except ValueError as error:
        raise documents.not_json(error, where, text, remedy) from None
    return documents.of_schema(graph, SCHEMA, where, remedy)


def _solver_of(case: Path, text: str) -> Path | None:
    """The program of the solver that a case names: strata-NAME beside Strata's own, or in PATH; None where
    `strata run` may find one of the user's own.
    """
    solver = toml_files.table_of(text, case).get("solver")
    if not isinstance(solver, str):
        raise StrataError("the case does not name its solver", at=f"{case} solver", allowed='solver = "NAME"')
    name, found = f"strata-{solver}", None
    if _NAME.fullmatch(solver):  # a path is for `strata run`, which sees to whose it is
        for front in fronts():
            need_programs(front, [name])
        of_front = next((path for front in fronts() if (path := sibling(front, name)) is not None), None)
        found = of_front or shutil.which(name)
    if found is None and not any(front.is_file() for front in fronts()):
        raise StrataError(
            "the solver's program was not found",
            at=f"{case} solver",
            given=solver,
            allowed=f"a program {name} beside Strata's own, or in PATH",
            remedy=f"strata graph show -- PROGRAM {case}",
        )
    return None if found is None else Path(found)


def _asked_by_run(case: Path) -> Graph:
    """What `strata run` says, which builds a solver of the user's own, or ends with what is wrong with it."""
    front = next(path for path in fronts() if path.is_file())
    done = subprocess.run(
        [front, "run", case, "--bind", "none", "--graph"], stdout=subprocess.PIPE, check=False, **_TEXT
    )
    if done.returncode:
        sys.exit(done.returncode)
    return _checked(done.stdout, str(case))


def _asked(command: Sequence[str]) -> Graph:
    """What a solver's program says of its graph when it is started with --graph: no step is run."""
    words = [*command, "--graph"]
    shown = " ".join(words)
    try:
        done = subprocess.run(words, capture_output=True, timeout=TIMEOUT, check=False, **_TEXT)
    except OSError as error:
        raise StrataError(
            "the program cannot be started",
            at=shown,
            given=why(error),
            allowed="a program of a solver, and its arguments, after --",
            code=FAILED,
        ) from None
    except subprocess.TimeoutExpired:
        raise StrataError(
            "the program does not describe its graph",
            at=shown,
            given=f"nothing within {TIMEOUT:g} s",
            remedy="a solver of Strata answers --graph without running a step",
            code=FAILED,
        ) from None
    if done.returncode:
        error = StrataError.read(done.stderr, done.returncode)
        if error is not None:  # it says where, and what is allowed
            raise error
        said = done.stderr.strip().splitlines()
        raise StrataError(
            "the program does not describe its graph",
            at=shown,
            given=f"exit code {done.returncode}" + (f": {said[0]}" if said else ""),
            remedy="a solver of Strata answers --graph; of another program there is no graph to show",
            code=FAILED,
        )
    return _checked(done.stdout, shown)
