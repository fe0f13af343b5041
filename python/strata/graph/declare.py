"""What a graph is made of, as Python sees it (core/graph/declare)."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.errors import StrataError
from strata.graph.inspection import Inspection
from strata.graph.native import module, native_errors

Array = npt.NDArray[Any]  # float64; of lists of whole numbers these
Cells = tuple[slice, slice, slice]
LAST = -1  # the last version of a generation
NEWEST = -2  # as core/run/python has it
NO_LABEL = -1


def slices(box: Sequence[int]) -> Cells:
    """(z, y, x) of a box that is given as (x, y, z) of its lower corner, then of its upper one."""
    return slice(box[2], box[5]), slice(box[1], box[4]), slice(box[0], box[3])


def _three(
    what: str, values: Sequence[Any], directions: int, fill: Any, of: str | None = None
) -> tuple[Any, ...]:
    """Three entries. `of`: the grid's name, for the error where there are fewer than directions."""
    if len(values) != directions or not 1 <= directions <= 3:
        raise StrataError(
            f"'{what}' of a grid has an entry for each of one to three directions",
            at=None if of is None else f"grid '{of}'",
            given=str(tuple(values)),
            allowed=f"{directions} entries, as cells has" if 1 <= directions <= 3 else "1 to 3 entries",
        )
    return (*values, *([fill] * (3 - directions)))


@dataclass(frozen=True)
class Grid:
    """A structured domain divided into patches."""

    number: int
    name: str
    directions: int
    patches: int
    cells: tuple[int, ...]  # x, y, z
    spacing: tuple[float, ...]

    def centres(self, cells: Cells) -> tuple[Array, Array, Array]:
        """x, y and z of the centres of some cells, given as slices (z, y, x). Each array varies along its
        direction alone, and has three: together they have the shape [z, y, x].
        """
        x, y, z = (
            (np.arange(along.start, along.stop) + 0.5) * h
            for along, h in zip(reversed(cells), self.spacing, strict=True)
        )
        return x[None, None, :], y[None, :, None], z[:, None, None]


@dataclass(frozen=True)
class Version:
    """One assigned value of a label: what a task needs or makes."""

    label: int
    version: int = 0
    back: int = 0
    ghosts: tuple[int, ...] = (0, 0, 0)
    towards: tuple[int, ...] = (0, 0, 0)
    corners: bool = True  # with the ghosts beyond edges and corners


@dataclass(frozen=True)
class Label:
    """A named quantity on the patches of a grid, or a scalar of the whole run."""

    number: int
    name: str
    directions: int = 3

    def newest(self, ghosts: int | Sequence[int] = 0, corners: bool = True) -> Version:
        """What the label alone means, with ghosts as in previous(): in a graph in program order
        (Graph.in_program_order), among `needs` and `modifies`, the newest version that was declared so far;
        else version 0.
        """
        return Version(self.number, NEWEST, 0, self._width(ghosts), corners=corners)

    def at(self, version: int, ghosts: int | Sequence[int] = 0, corners: bool = True) -> Version:
        """Version 0 is what `makes` gives; each `modifies` gives the next. Ghosts as in previous()."""
        return Version(self.number, version, 0, self._width(ghosts), corners=corners)

    def previous(self, back: int = 1, ghosts: int | Sequence[int] = 0, corners: bool = True) -> Version:
        """The last version of `back` generations before, with so many layers of the neighbours' values: the
        same in all directions, or (x, y, z).

        Without `corners`, among `needs`: the layers beyond the patch's faces alone, for stencils that reach
        along one axis at a time. What lies beyond edges and corners is then not copied and has no value.
        """
        return Version(self.number, LAST, back, self._width(ghosts), corners=corners)

    def last(self, ghosts: int | Sequence[int] = 0, corners: bool = True) -> Version:
        """The last version of this step. Ghosts as in previous()."""
        return Version(self.number, LAST, 0, self._width(ghosts), corners=corners)

    def upwind(
        self, towards: Sequence[int], version: int = NEWEST, layers: int = 1, corners: bool = False
    ) -> Version:
        """A version in the order of a sweep, which goes `towards` along (x, y, z): 1 up, -1 down, 0 where the
        order does not matter. A patch begins when its neighbours upwind are done.

        Among `needs`: what the task makes itself (0 of `makes`, n + 1 of `modifies` of n), with the layers
        upwind, and with `corners` also what lies between them. Among `modifies`: in place, with ghosts upwind
        as the task has left them, and on the other sides of these axes as they were before. `version` need
        not be given in a graph in program order; else it is 0 where it is not.
        """
        signs = _three("towards", towards, self.directions, 0)
        width = tuple(layers if sign else 0 for sign in signs)
        return Version(self.number, version, 0, width, signs, corners)

    def _width(self, ghosts: int | Sequence[int]) -> tuple[int, ...]:
        if isinstance(ghosts, int):
            return tuple(ghosts if d < self.directions else 0 for d in range(3))
        return _three("ghosts", ghosts, self.directions, 0)


@dataclass(frozen=True)
class Parameter:
    """A number that kernels read and `strata steer` may change."""

    name: str
    native: Any

    @property
    def value(self) -> float:
        """Now: the same in all tasks of a step."""
        return self.native.value


class KernelFailure(Exception):
    """What Here.fail() raises; the run ends with its text."""


class Here:
    """What a kernel is given: its patch, the step, and its arrays by the names they were declared under."""

    def __init__(self, native: Any, uses: Mapping[str, int]) -> None:
        self._native = native
        self._uses = uses

    @property
    def patch(self) -> int:
        return self._native.patch

    @property
    def step(self) -> int:
        """From 1; 0 in the start."""
        return self._native.step

    @property
    def cells(self) -> Cells:
        """The patch's cells by their indices in the domain: slices (z, y, x)."""
        return slices(self._native.cells())

    def __getitem__(self, name: str) -> Array:
        """[z, y, x] with the ghosts that were declared; of scalars and lists [i]. A view of the values where
        they lie, read-only where the task only needs them. It must not be kept after the kernel: the run ends
        with an error where one is. Empty where the task declared None: what the case does not have.
        """
        use = self._use(name)
        return np.empty((0, 0, 0)) if use < 0 else self._native.array(use)

    def box(self, name: str) -> Cells:
        """What an array covers, by indices in the domain: slices (z, y, x). With the ghosts and border that
        it has; of what the case does not have nothing.
        """
        return slices(self._box(name))

    def inner(self, name: str) -> Cells:
        """Where the patch's own cells are in an array: slices (z, y, x), without ghosts and border."""
        box, cells = self._box(name), self._native.cells()
        return slices([cells[d] - box[d % 3] for d in range(6)])

    def near(self, name: str, x: int, y: int = 0, z: int = 0) -> Array:
        """The values so many cells away from the patch's own cells, [z, y, x]: within the ghosts and border
        that the array has.
        """
        inner = zip(self.inner(name), (z, y, x), strict=True)
        return self[name][tuple(slice(along.start + by, along.stop + by) for along, by in inner)]

    def fail(self, message: str) -> None:
        """Ends the run with this message, to which task, patch and step are added."""
        raise KernelFailure(message)

    def _box(self, name: str) -> Sequence[int]:
        use = self._use(name)
        return (0,) * 6 if use < 0 else self._native.box(use)

    def _use(self, name: str) -> int:
        try:
            return self._uses[name]
        except KeyError:
            raise StrataError(
                "a task touches only what it declared", given=name, allowed=", ".join(self._uses) or "nothing"
            ) from None


Kernel = Callable[[Here], None]
Uses = Mapping[str, "Version | Label | None"]


def error_text(error: BaseException) -> str:
    """An exception in a line, then its traceback. Lets go of the frames' variables: arrays are among them."""
    if isinstance(error, KernelFailure):
        traceback.clear_frames(error.__traceback__)
        return str(error)
    if isinstance(error, StrataError):
        parts = (("at", error.at), ("given", error.given), ("allowed", error.allowed), ("try", error.remedy))
        line = ", ".join([error.message, *(f"{name}: {text}" for name, text in parts if text)])
    else:
        line = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    frames = traceback.extract_tb(error.__traceback__)[1:]  # without the one that calls the kernel
    linecache.checkcache()
    where = "".join(traceback.format_list(frames)).rstrip()
    traceback.clear_frames(error.__traceback__)
    return f"{line}\n{where}" if where else line


def _rows_of(
    task: str | None, groups: Mapping[str, Uses | None]
) -> tuple[dict[str, int], list[tuple[Any, ...]]]:
    """The uses of a task, of each kind of access, as core/run/python takes them, and their names: of each the
    number of its row.
    """
    rows: list[tuple[Any, ...]] = []
    names: dict[str, int] = {}
    for access, group in groups.items():
        for key, use in (group or {}).items():
            of = f"task '{task}'" if task else "a task"
            if key in names:
                raise StrataError(
                    f"two uses of {of} have one name",
                    given=key,
                    allowed="each name once, over needs, makes, modifies and contributes together",
                )
            if not isinstance(use, Label | Version | None):
                raise StrataError(
                    f"what {of} uses is no label of the graph",
                    at=key,
                    given=f"{type(use).__name__} {use!r}",
                    allowed="a label (of field(), list() or scalar()), or a version of one, as "
                    "label.previous(); None for a quantity that the case lacks; parameters are read in the "
                    "kernel without being declared",
                )
            version = use.newest() if isinstance(use, Label) else use or Version(NO_LABEL)
            names[key] = len(rows)
            rows.append(
                (
                    access,
                    version.label,
                    version.version,
                    version.back,
                    version.ghosts,
                    version.towards,
                    version.corners,
                )
            )
    return names, rows


class Graph:
    """A simulation as tasks with declared needs and results (core/graph/declare/graph.hpp)."""

    def __init__(self, name: str, native: Any = None) -> None:
        self.native = module().Graph(name) if native is None else native
        self.raised: BaseException | None = None  # by a kernel, last

    def grid(
        self,
        name: str,
        cells: Sequence[int],
        patch: Sequence[int],
        periodic: Sequence[bool] | None = None,
        spacing: Sequence[float] | None = None,
    ) -> Grid:
        """A structured grid of one to three directions (x, y, z), in patches of at most `patch` cells.
        `spacing`: of the cells.
        """
        n = len(cells)
        all_cells = _three("cells", cells, n, 1, name)
        h = _three("spacing", [1.0] * n if spacing is None else spacing, n, 1.0, name)
        with native_errors():
            number = self.native.grid(
                name,
                all_cells,
                _three("patch", patch, n, 1, name),
                _three("periodic", [False] * n if periodic is None else periodic, n, False, name),
                h,
            )
            return Grid(number, name, n, self.native.patches(number), all_cells, h)

    def box(self, grid: Grid, patch: int) -> Cells:
        """The cells of a patch: slices (z, y, x)."""
        with native_errors():
            return slices(self.native.box(grid.number, patch))

    def field(
        self,
        name: str,
        grid: Grid,
        on: str = "cells",
        history: int = 0,
        border: int = 0,
        unit: str = "",
        about: str = "",
        kept: bool = False,
    ) -> Label:
        """One number for each cell, node or face (`on`: cells, nodes, faces_x, faces_y, faces_z). `history`:
        how many generations before this one are kept. `border`: layers beyond the domain, where it is not
        periodic. `kept`: lives from step to step although no task needs it, for output.
        """
        width = tuple(border if d < grid.directions else 0 for d in range(3))
        with native_errors():
            number = self.native.field(name, grid.number, on, history, width, kept, unit, about)
            return Label(number, name, grid.directions)

    def list(
        self,
        name: str,
        grid: Grid,
        entries: int | Sequence[int] = 1,
        unit: str = "",
        about: str = "",
        dtype: npt.DTypeLike = np.float64,
        kept: bool = False,
    ) -> Label:
        """So many numbers for each patch, or as many as `entries` says of each. `dtype`: float64, int64,
        int32 or uint8. `kept`: as of a field.
        """
        numbers = [entries] if isinstance(entries, int) else [int(each) for each in entries]
        with native_errors():
            number = self.native.list(name, grid.number, numbers, np.dtype(dtype).name, kept, unit, about)
            return Label(number, name, 0)

    def scalar(
        self,
        name: str,
        reduce: str = "none",
        first: float = 0.0,
        history: int = 0,
        unit: str = "",
        about: str = "",
    ) -> Label:
        """One number of the whole run: the min, max or (exact) sum of what tasks contribute; "none": what
        tasks that run once make. `first`: its value before the first step.
        """
        with native_errors():
            return Label(self.native.scalar(name, reduce, first, history, unit, about), name, 0)

    def parameter(
        self, name: str, value: float, least: float, most: float, unit: str = "", about: str = ""
    ) -> Parameter:
        """A number that `strata steer` may change while the run goes on, from `least` to `most`."""
        with native_errors():
            return Parameter(name, self.native.parameter(name, value, unit, about, least, most))

    def in_program_order(self) -> None:
        """From here on tasks are declared in the order in which a program would run them: a label alone,
        where a task needs or modifies it, is the newest version that was declared so far. What was there
        before the step is label.previous(): a task that needs a label alone, which a later task makes, is an
        error. To be called before the first task; without it a label alone is version 0, whatever the order.
        """
        with native_errors():
            self.native.in_program_order()

    def start(self, grid: Grid, **uses: Any) -> Callable[[Kernel], Kernel]:
        """A task that runs once on each patch, before the first step; see step()."""
        return self._task(True, grid, **uses)

    def step(self, grid: Grid, **uses: Any) -> Callable[[Kernel], Kernel]:
        """A task that runs on each patch in each step, named like its function or as `name` says. `needs`,
        `makes`, `modifies` and `contributes` say what it may touch: {name in the kernel: label or version}.
        None in place of a label is a quantity that the case does not have: nothing is declared, and the
        kernel's array is empty. Of a label that may be None: `nu and nu.previous(ghosts=1)`.
        `flops`, `bytes`: of one cell, for profiles. What it modifies with ghosts has them as they were before
        the task began on any patch, whatever their order.
        """
        return self._task(False, grid, **uses)

    def once(self, at_start: bool = False, **uses: Any) -> Callable[[Kernel], Kernel]:
        """A task that runs once in each step (`at_start`: before the first one), not on patches: it makes and
        modifies scalars from scalars. Every process calls it, with the same values; see step().
        """
        return self._task(at_start, None, **uses)

    def clock(self, dt: float) -> Label:
        """The time of a run whose steps are all of length `dt`, in s."""
        time = self.scalar("time", history=1, unit="s")

        @self.once(makes={"time": time})
        def advance_clock(here: Here) -> None:
            here["time"][0] = here.step * dt  # no sum, which would lose a little in each step

        return time

    def _task(
        self,
        start: bool,
        grid: Grid | None,
        needs: Uses | None = None,
        makes: Uses | None = None,
        modifies: Uses | None = None,
        contributes: Uses | None = None,
        name: str | None = None,
        flops: float = 0.0,
        bytes: float = 0.0,
    ) -> Callable[[Kernel], Kernel]:
        groups = {"need": needs, "make": makes, "modify": modifies, "contribute": contributes}
        names, rows = _rows_of(name, groups)

        def add(kernel: Kernel) -> Kernel:
            title = name or getattr(kernel, "__name__", "kernel").replace("_", " ")

            def call(native: Any) -> None:
                try:
                    kernel(Here(native, names))
                except BaseException as error:  # whatever it is, the run cannot go on
                    native.raised(error_text(error))
                    self.raised = error

            with native_errors():
                family = -1 if grid is None else grid.number
                numbers = self.native.task(start, title, family, rows, flops, bytes, call)
            names.update(zip(list(names), numbers, strict=True))
            return kernel

        return add

    def inspect(self) -> Inspection:
        """Labels, tasks, critical path, memory. Raises StrataError where the graph cannot be: a task needs
        what nobody makes, tasks wait for each other.
        """
        with native_errors():
            return Inspection.of(self.native.describe())
