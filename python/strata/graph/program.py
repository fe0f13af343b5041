"""A solver's program in Python: what core/run/driver/driver.hpp is to one in C++.

    from strata.graph import Graph
    from strata.graph.program import Case, Solver, drive

    case = Case("heat", "Heat in a plate.")
    case.key("cells", type=int, least=2, meaning="in each direction")       # required: it has no default
    case.key("diffusivity", 1.0, unit="m2/s", least=0, above_least=True, meaning="kappa")

    def declare(graph: Graph, case: Case) -> Solver:
        ...
        return Solver(time=time, end=case["end"], series=[total])

    if __name__ == "__main__":
        drive(case, declare)

`strata run heat.py CASE.toml --layout 4x1 --out run` starts it, and `strata launch --layout 4x1 -- python
heat.py CASE.toml`: each knows by the import of this module that the program starts its processes itself.
"""

from __future__ import annotations

import atexit
import os
import platform
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from strata.errors import FAILED, StrataError
from strata.graph.declare import Array, Cells, Graph, Grid, Label, error_text
from strata.graph.native import module, native_errors

INFINITE = float("inf")
MOST_ENTRIES = (1 << 63) - 1
TYPES: dict[Any, tuple[str, Any]] = {
    bool: ("bool", False),
    int: ("int", 0),
    float: ("float", 0.0),
    str: ("str", ""),
    list[int]: ("ints", []),
    list[float]: ("floats", []),
    list[str]: ("strs", []),
}
_TYPE_NAMES = "bool, int, float, str, list[int], list[float], list[str]"


def _programs() -> Any:
    native = module()
    if not hasattr(native, "drive"):
        raise StrataError(
            "programs that read case files were not built",
            given="no toml++ when Strata was built",
            remedy="install toml++ (Debian: libtomlplusplus-dev), then ./strata setup --all",
        )
    return native


def _type_of(default: Any) -> Any:
    if not isinstance(default, list):
        return type(default)
    return list[type(default[0])] if default else list[float]  # type: ignore[misc]


class Case:
    """The keys of a solver's case files. One declaration makes the check, its messages and --help."""

    def __init__(self, solver: str, summary: str) -> None:
        """`solver`: what the case file's key `solver` must say."""
        self.native = _programs().Case(solver, summary)

    def key(
        self,
        name: str,
        default: Any = None,
        *,
        type: Any = None,
        unit: str = "",
        least: float = -INFINITE,
        most: float = INFINITE,
        above_least: bool = False,
        choices: Sequence[str] = (),
        entries: tuple[int, int] = (0, MOST_ENTRIES),
        decides: bool = True,
        restart: str = "same",
        same_with: tuple[str, Sequence[str]] = ("", ()),
        meaning: str = "",
    ) -> None:
        """A key; "section.key" is key in [section]. Without a default it is required. `type` (that of the
        default where it is not said): bool, int, float, str, list[int], list[float] or list[str]. `least`,
        `most`: of numbers, of each entry of a list. `decides`: whether it counts in the hash of the case.
        `restart`: what a restart may do with it: "same" (nothing; without `decides`: anything), "end" (end
        the run elsewhere) or "any". `same_with`: another key and those of its values with which it must stay.
        """
        kind = _type_of(default) if type is None else type
        if type is None and default is None:
            raise StrataError(
                "a key of a case has neither a default nor a type",
                at=name,
                allowed=f"a default, or type=... of: {_TYPE_NAMES}; then the key is required",
            )
        if kind not in TYPES:
            raise StrataError(
                "a key of a case has no such type", at=name, given=str(kind), allowed=_TYPE_NAMES
            )
        word, nothing = TYPES[kind]
        with native_errors():
            self.native.key(
                name,
                nothing if default is None else default,
                word,
                unit,
                least,
                most,
                above_least,
                list(choices),
                entries,
                default is None,
                decides,
                restart,
                (same_with[0], list(same_with[1])),
                meaning,
            )

    def path(self, key: str, name: str) -> Path:
        """The file or folder that a key of the case names: beside the case file, or else in the current
        directory. Raises StrataError where there is none.
        """
        with native_errors():
            return Path(self.native.path(key, name))

    def read(self, file: Path | str) -> None:
        """Reads a case file, as drive() does. Raises StrataError with file, line and key."""
        with native_errors():
            self.native.read(str(file))

    def __getitem__(self, name: str) -> Any:
        """The value of a key, as read from the case file."""
        values = self.native.values()
        if name not in values:
            raise StrataError("the case has no such key", given=name, allowed=", ".join(values))
        return values[name]

    def refuse(self, key: str, message: str, allowed: str) -> NoReturn:
        """An error about a key, found in what it means together with others: with its file and line."""
        with native_errors():
            self.native.refuse(key, message, allowed)
        raise AssertionError("refuse() raises")


@dataclass(frozen=True)
class Verification:
    """A result counts only when value <= limit. `source`: of the rule."""

    what: str
    value: float
    limit: float
    source: str


@dataclass(frozen=True)
class Figure:
    """A number of the run's own for result.json, shown where the run is verified."""

    name: str
    value: float
    unit: str
    higher_is_better: bool = True


class Finished:
    """A run that is over, for what is found out about its result. All processes ask the same."""

    def __init__(self, native: Any, graph: Graph) -> None:
        self._native = native
        self._graph = graph

    def value(self, scalar: Label) -> float:
        with native_errors():
            return self._native.value(scalar.number)

    def sum(self, field: Label, grid: Grid, term: Callable[[Cells, Array], Array]) -> float:
        """The sum of term(cells, values) over all cells of a field on cells: `cells` are the slices (z, y,
        x) of a patch, values and the answer arrays [z, y, x]. Exact, rounded once: the same for every layout.
        """
        with native_errors():
            terms = [np.zeros(0)]
            for local, patch in enumerate(self._native.patches(self._graph.native, grid.number)):
                values = self._native.values(field.number, local)
                terms.append(np.asarray(term(self._graph.box(grid, patch), values), dtype=float).ravel())
            return self._native.sum(np.concatenate(terms))

    def error(self, field: Label, grid: Grid, exact: Callable[[Array, Array, Array], Array]) -> float:
        """The root of the mean square difference of a field on cells from exact(x, y, z) at their centres
        (Grid.centres).
        """
        squares = self.sum(field, grid, lambda cells, values: (values - exact(*grid.centres(cells))) ** 2)
        return (squares / np.prod(grid.cells)) ** 0.5


@dataclass(frozen=True)
class Block:
    """A grid whose cells lie between the places of its nodes (core/run/output/shapes.hpp). `at`: a field on
    nodes for each of two or three directions; with two, the grid has one cell in z. `blank`: a field on
    cells; where it is 0 a cell is hidden.
    """

    grid: Grid
    at: Sequence[Label]
    blank: Label | None = None


@dataclass(frozen=True)
class Mesh:
    """Unstructured cells (core/run/output/shapes.hpp). `at`: a list for each of two or three directions, of
    float64, with the places of each patch's points. `corners`: a list of int64 or int32, the points of one
    cell after the other, counted from 0 on each patch. `cells`: VTK's number of their type, 5 for triangles,
    10 for tetrahedra, 12 for hexahedra; or 0, and `offsets` (one more than there are cells) says where each
    cell begins, and `types` (uint8) what it is. `blank`: a list of a number a cell; where it is 0 a cell is
    hidden.
    """

    grid: Grid
    at: Sequence[Label]
    corners: Label
    cells: int = 0
    offsets: Label | None = None
    types: Label | None = None
    blank: Label | None = None


@dataclass(frozen=True)
class Solver:
    """What a solver says of itself: the time of the case and when it ends, what a series shows, and what
    makes the result count. `curvilinear`: field files of curvilinear blocks, by name; `unstructured`: of
    meshes; other grids are images.
    """

    time: Label
    end: float
    time_unit: str = "s"
    series: Sequence[Label] = ()
    verify: Callable[[Finished], Verification] | None = None
    figures: Callable[[Finished], Sequence[Figure]] = field(default=lambda _: ())
    curvilinear: Mapping[str, Sequence[Block]] = field(default_factory=dict)
    unstructured: Mapping[str, Mesh] = field(default_factory=dict)


_driven = False


def _must_have_driven() -> None:
    """Ends a program that `strata run` started as a solver, and that ended well without drive()."""
    if not _driven and not hasattr(sys, "last_value"):
        sys.stdout.flush()
        print(
            StrataError(
                "this program is no solver",
                at=sys.argv[0],
                given="strata.graph.program.drive was never called",
                remedy="call drive(case, declare) last in the program",
            ),
            file=sys.stderr,
            flush=True,
        )
        os._exit(FAILED)


if os.environ.get("STRATA_SOLVER"):
    atexit.register(_must_have_driven)


def drive(case: Case, declare: Callable[[Graph, Case], Solver]) -> NoReturn:
    """To be called last in the program's own file. Reads the case that the command line names, starts the
    processes (each is a fresh start of this program, so what is before runs in each), calls `declare` in
    each, runs the graph to its end and writes what docs/run-output.md describes. Ends the process with the
    run's status.
    """
    global _driven
    _driven = True
    if not Path(getattr(sys.modules["__main__"], "__file__", "")).is_file():
        raise StrataError(
            "a program that starts its processes is a file",
            given="an interactive session",
            allowed="python FILE.py CASE, strata run FILE.py CASE",
            remedy="strata.graph.Simulation runs a graph in this process",
        )

    def declared(native: Any) -> dict[str, Any]:
        graph = Graph("", native)
        return _plain(declare(graph, case), graph)

    words = [Path(sys.argv[0]).name, *sys.argv[1:]]
    start = [sys.executable, *sys.orig_argv[1:]]
    # Ctrl-C ends the members as it ends those of other programs, not as an exception in some kernel.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    made_by = f"Python {platform.python_version()}, NumPy {np.__version__}"
    try:
        with native_errors():
            status = _programs().drive(
                words, start, case.native, _with_error_text(declared), made_by, _sources()
            )
    except StrataError as error:
        print(error, file=sys.stderr)
        status = error.code
    sys.exit(status)


def _plain(solver: Solver, graph: Graph) -> dict[str, Any]:
    """What core/run/python takes: labels by their numbers."""

    def number(label: Label | None) -> int:
        return -1 if label is None else label.number

    def found(run: Any) -> tuple[Any, ...]:
        assert solver.verify is not None
        finished = Finished(run, graph)
        return (
            _row(solver.verify(finished), "what", "value", "limit", "source"),
            [_row(each, "name", "value", "unit", "higher_is_better") for each in solver.figures(finished)],
        )

    return {
        "time": solver.time.number,
        "end": solver.end,
        "time_unit": solver.time_unit,
        "series": [label.number for label in solver.series],
        "shapes": [
            (name, [(b.grid.number, [at.number for at in b.at], number(b.blank)) for b in blocks])
            for name, blocks in solver.curvilinear.items()
        ],
        "meshes": [
            (
                name,
                m.grid.number,
                [at.number for at in m.at],
                [number(label) for label in (m.corners, m.offsets, m.types, m.blank)],
                m.cells,
            )
            for name, m in solver.unstructured.items()
        ],
        "verify": None if solver.verify is None else _with_error_text(found),
    }


def _sources() -> list[str]:
    """The program's file, and those of modules that are its own or Strata's: a replay must have the same."""
    own = {Path(sys.argv[0]).resolve()}
    folder = next(iter(own)).parent
    for name, imported in list(sys.modules.items()):
        file = getattr(imported, "__file__", None)
        if not file or not file.endswith(".py"):
            continue
        path = Path(file).resolve()
        if path.is_file() and (name.partition(".")[0] == "strata" or path.is_relative_to(folder)):
            own.add(path)
    script = Path(sys.argv[0]).resolve()
    return [str(script), *sorted(str(path) for path in own - {script})]


def _with_error_text(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function; its exceptions become one line and the place where they were raised."""

    def call(given: Any) -> Any:
        try:
            return function(given)
        except StrataError:
            raise
        except Exception as error:
            raise StrataError(error_text(error), code=FAILED) from None

    return call


def _row(thing: Any, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(thing, name) for name in names)
