"""A graph looked at from Python: what `strata graph show` says, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strata import documents


@dataclass(frozen=True)
class Inspection:
    """A resolved graph. `document` is strata.graph/1 (docs/formats.md), which has all of it."""

    document: dict[str, Any]

    @classmethod
    def of(cls, text: str) -> Inspection:
        return cls(documents.from_json(text))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label["name"] for label in self.document["labels"])

    @property
    def tasks(self) -> tuple[str, ...]:
        """Also those that follow from declarations: combinations of contributions, reductions."""
        return tuple(task["name"] for task in self.document["tasks"])

    @property
    def critical_path(self) -> tuple[str, ...]:
        """The tasks of the longest chain of a step, in order."""
        return tuple(self.document["tasks"][number]["name"] for number in self.document["critical_path"])

    @property
    def peak_bytes(self) -> int:
        """Memory of all values of all patches, without halos: nothing comes or goes while the graph runs.
        What a process really has is Simulation.bytes.
        """
        return self.document["memory"]["bytes"]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was declared and has no effect, among others."""
        return tuple(self.document["warnings"])

    def svg(self) -> str:
        """The drawing of `strata graph show --svg`."""
        from strata.draw.graph import graph_svg

        return graph_svg(self.document)

    def _repr_svg_(self) -> str:
        """How notebooks show it."""
        return self.svg()

    def __str__(self) -> str:
        """The lists of `strata graph show`."""
        from strata.draw.show import listing

        return listing(self.document)
