"""Numbers of processes that an MPI program refuses: square, power of two, at least two.

A failure of one launch may have any cause. That the program never ran with a number of processes, ended by
itself each time, and runs with another number, is its refusal; it is told in its own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from strata.measure.store import Sample
from strata.tune.candidates import Candidate

MARK = "refused by the program"
_ENDED = re.compile(r"^(exit code \d+|signal \S+): (.*)", re.DOTALL)


def own_last_words(sample: Sample) -> str | None:
    """The program's last words, where it failed by its own exit or signal."""
    found = _ENDED.match(sample.failed or "")
    return found.group(2).splitlines()[0][:200] if found and found.group(2) else None


@dataclass
class Refusals:
    """What each number of processes came to; for programs of one process nothing is kept."""

    said: dict[int, tuple[str, str]] = field(default_factory=dict)  # the first layout, and the words
    ran: set[int] = field(default_factory=set)
    counts: bool = False  # whether the program's number of processes is the layout's: an MPI program

    def add(self, candidate: Candidate, sample: Sample) -> None:
        """To be called for every launch."""
        if not self.counts:
            return
        if not sample.failed:
            self.ran.add(candidate.processes)
        elif (words := own_last_words(sample)) is not None:
            self.said.setdefault(candidate.processes, (candidate.id, words))

    @property
    def numbers(self) -> set[int]:
        """Those that are refused: nothing is, as long as nothing ran."""
        return self.said.keys() - self.ran if self.ran else set()

    def reason(self, candidate: Candidate) -> str | None:
        """Why the program does not run with this layout's number of processes; None where it may."""
        return self.said[candidate.processes][1] if candidate.processes in self.numbers else None

    def to_list(self) -> list[dict[str, Any]]:
        return [
            {"processes": n, "layout": self.said[n][0], "says": self.said[n][1], "mark": MARK}
            for n in sorted(self.numbers)
        ]
