"""Where a race looks next: around the layouts that are fastest so far.

A race begins with a coarse grid. What it has screened leads to newcomers: all that differ from the fastest
layout in one thing, and, of the fastest three with other numbers of threads and processes, what else the
launcher can change, so that a layout that is fast only with huge pages, with siblings or on one kind of cores
is found although another one leads without. Newcomers are screened beside the fastest, and so on, until
nothing new is left or the budget is.

What this cannot find: a layout that is fast only by two changes of which neither helps alone, and one whose
neighbours are all slower than NEAR times the fastest.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field

from strata.tune.candidates import Candidate, distinct
from strata.tune.near import dimensions, near
from strata.tune.refused import Refusals
from strata.tune.usable_cores import UsableCores

LEADERS = 4  # with numbers of threads and processes of their own
NEAR = 1.5  # times the fastest: what is slower leads nowhere


@dataclass
class Search:
    """The layouts of one race by their id, and those that may join it. `joined` hears of each that does."""

    usable: UsableCores
    kind: str
    known: MutableMapping[str, Candidate]
    processes: Sequence[int] = ()
    joined: Callable[[Candidate], None] = lambda candidate: None
    refusals: Refusals = field(default_factory=Refusals)

    def widen(self, ranked: Sequence[tuple[str, float]], most: int) -> list[str]:
        """Up to so many newcomers. `ranked`: who was screened, and how many times as slow as the fastest."""
        chosen = self.newcomers(ranked)[:most]
        for candidate in chosen:
            self.known[candidate.id] = candidate
            self.joined(candidate)
        return [candidate.id for candidate in chosen]

    def plainer(self, name: str) -> str | None:
        """The plainest held layout with the same numbers on the same kind of cores; None for itself."""
        best = self.known[name]
        alike = [
            c
            for c in self.known.values()
            if c.bind != "none" and (c.layout, c.smt, c.core_kind) == (best.layout, best.smt, best.core_kind)
        ]
        plain = min(alike, key=lambda c: c.extras, default=best)
        return plain.id if plain.extras < best.extras else None

    def newcomers(self, ranked: Sequence[tuple[str, float]]) -> list[Candidate]:
        """All of them, the most promising first."""
        leaders = self._leaders(ranked)
        if not leaders:
            return []
        tried = [(c.processes, c.threads) for c in self.known.values()]
        found = near(self.usable, self.kind, leaders[0], tried, self.processes)
        for leader in leaders[1:]:
            found += dimensions(self.usable, self.kind, leader)
        allowed = (c for c in found if not self.processes or c.processes in self.processes)
        fresh = (c for c in allowed if c.processes not in self.refusals.numbers)
        return distinct(self.usable, fresh, self.known.values())

    def _leaders(self, ranked: Sequence[tuple[str, float]]) -> list[Candidate]:
        found: dict[str, Candidate] = {}
        for name, factor in ranked:
            if factor <= NEAR:
                found.setdefault(self.known[name].layout, self.known[name])
        return list(found.values())[:LEADERS]
