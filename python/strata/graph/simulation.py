"""A graph that runs in this Python process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from strata.errors import StrataError
from strata.graph.declare import Array, Graph, Label
from strata.graph.native import module, native_errors


@contextmanager
def _kernel_errors(graph: Graph) -> Iterator[None]:
    """Native errors as StrataError; those that follow from a kernel's exception have it as their cause."""
    graph.raised = None
    try:
        with native_errors():
            yield
    except StrataError as error:
        if graph.raised is None:
            raise
        error.message = error.message.split("\n")[0]  # the rest is the cause's traceback
        raise error from graph.raised


class Simulation:
    """A graph as it runs, in this process: for notebooks and tests. Programs on several processes:
    strata.graph.program.drive.
    """

    def __init__(self, graph: Graph, threads: int = 1) -> None:
        self._graph = graph
        with native_errors():
            self.native = module().Simulation(graph.native, threads)

    def start(self) -> None:
        """Runs the tasks of the start, once."""
        with _kernel_errors(self._graph):
            self.native.start()

    def advance(self, steps: int) -> int:
        """Returns how many steps were done: fewer where stop_at() says so."""
        with _kernel_errors(self._graph):
            return self.native.advance(steps)

    def stop_at(self, scalar: Label, value: float) -> None:
        """Ends after the step after which the scalar has reached the value."""
        with native_errors():
            self.native.stop_at(scalar.number, value)

    @property
    def step(self) -> int:
        """Steps done."""
        return self.native.step()

    @property
    def bytes(self) -> int:
        """Memory of this process's values, halos included."""
        return self.native.bytes()

    def value(self, scalar: Label) -> float:
        """Of a scalar, as of the last step."""
        with native_errors():
            return self.native.value(scalar.number)

    def values(self, label: Label, patch: int) -> Array:
        """A copy of the values that a patch owns, border included: [z, y, x], of a list [i]."""
        with native_errors():
            return self.native.values(label.number, patch)
