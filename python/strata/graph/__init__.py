"""Task graphs from Python: composed, inspected, and run with NumPy kernels, for teaching and prototypes.

    graph = Graph("heat")
    grid = graph.grid("grid", cells=(64, 64), patch=(32, 32), periodic=(True, True))
    T = graph.field("temperature", grid, history=1)

    @graph.start(grid, makes={"T": T})
    def initial(here):
        here["T"][:] = 1.0

    @graph.step(grid, needs={"old": T.previous(ghosts=1)}, makes={"T": T})
    def diffuse(here):
        ...

    print(graph.inspect())
    run = Simulation(graph)
    run.start()
    run.advance(100)

A kernel gets arrays [z, y, x] over the values where they lie: nothing is copied, and what it only needs is
read-only. They are valid while it runs. Kernels hold Python's lock, so in a process one runs at a time,
whatever `threads` says; what waits in the runtime does so without it.
"""

from strata.errors import StrataError
from strata.graph.declare import Graph, Grid, Here, Label, Parameter, Version
from strata.graph.inspection import Inspection
from strata.graph.simulation import Simulation

__all__ = [
    "Graph",
    "Grid",
    "Here",
    "Inspection",
    "Label",
    "Parameter",
    "Simulation",
    "StrataError",
    "Version",
]
