"""What disturbed launches, and by how much, in words for people; the codes of `taint` are for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from strata.measure import stats

OTHER_GUESTS = "other users of this machine"  # other virtual machines: the hypervisor gave them the time
OTHER_PROGRAMS = "other programs"  # of this system

# What each reason says of a launch, or of several by the median of their readings.
WORDS = {
    "steal": OTHER_GUESTS + " took {:.1%} of its CPUs",
    "others": OTHER_PROGRAMS + " took {:.1%} of its CPUs",
    "elsewhere": OTHER_PROGRAMS + " kept {:.2f} CPUs of the machine busy",
    "switches": "it was stopped {:.0f} times a second so that others could run",
    "pressure": "some program had to wait for a CPU {:.0%} of the time",
    "clock": "the processor's clock was {:.0%} lower than at the start",
}
# The same as a few words, for tables.
SHORT = {
    "steal": "other users of this machine",
    "others": "other programs on its CPUs",
    "elsewhere": "other programs beside it",
    "switches": "stopped for others",
    "pressure": "waited for a CPU",
    "clock": "lower clock",
    "timed-out": "time limit",
    "placement": "not placed as its layout says",
}
# Those that have no reading of that kind.
PLAIN = {
    "timed-out": "the launch reached its time limit",
    "placement": "threads or memory lay elsewhere than the layout says",
}


def percent(share: float) -> str:
    """'8.1 %' of 0.081."""
    return f"{share:.1%}".replace("%", " %")


def in_words(tainted: Iterable[Iterable[Mapping[str, Any]]]) -> list[tuple[str, int]]:
    """What disturbed launches, each given by its reasons, and in how many: the most frequent first. What was
    read in several launches is told by the median.
    """
    values: dict[str, list[float]] = {}
    seen: dict[str, int] = {}
    for reasons in tainted:
        for reason in {str(r["code"]): r for r in reasons}.values():
            code = str(reason["code"])
            seen[code] = seen.get(code, 0) + 1
            if code in WORDS and reason.get("value") is not None:
                values.setdefault(code, []).append(float(reason["value"]))
    known = [code for code in (*WORDS, *PLAIN) if code in values or (code in seen and code in PLAIN)]
    said = [(_read(code, values[code]) if code in values else PLAIN[code], seen[code]) for code in known]
    return sorted(said, key=lambda one: -one[1])


def counted(reasons: Mapping[str, int]) -> str:
    """'other programs on its CPUs 5, stopped for others 4', of how often each code was seen."""
    return ", ".join(f"{SHORT.get(code, code)} {n}" for code, n in sorted(reasons.items()))


def _read(code: str, values: list[float]) -> str:
    return WORDS[code].format(stats.median(values)).replace("%", " %")


class Count:
    """Counts launches, and those that were disturbed with what disturbed them."""

    def __init__(self) -> None:
        self.launches = 0
        self._tainted: list[tuple[Mapping[str, Any], ...]] = []

    @property
    def disturbed(self) -> int:
        return len(self._tainted)

    def add(self, tainted: tuple[Mapping[str, Any], ...]) -> None:
        """A launch with its reasons; none: it was not disturbed."""
        self.launches += 1
        if tainted:
            self._tainted.append(tainted)

    def text(self) -> str:
        """One line: how many launches were disturbed so far, and what disturbed most of them."""
        told = in_words(self._tainted)
        text = f"disturbed so far: {self.disturbed} of {self.launches} launches"
        if not told:
            return text
        most, n = told[0]
        return f"{text}: {most}" if n == self.disturbed else f"{text}; in {n} of them {most}"
