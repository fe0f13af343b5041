"""The grade of an answer: which launches carry it, and how good they are.

Every setting that ran has an answer. It is *undisturbed* when enough launches stayed below the limits; these
alone carry it then. Otherwise it is *disturbed*: the median over all launches that have a figure, with what
disturbed them and by how much, and beside it the half of them that was disturbed least. That half is chosen
by the meters and never by the time a launch took, or it would be a choice of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.measure import disturbances, stats, taint
from strata.measure.store import Sample
from strata.measure.taint import Limits

UNDISTURBED, DISTURBED, NONE = "undisturbed", "disturbed", "none"


@dataclass(frozen=True)
class Answer:
    """The launches that carry a setting's answer. `calm` is the least disturbed half of them, for a
    disturbed one.
    """

    grade: str
    samples: tuple[Sample, ...]
    calm: tuple[Sample, ...] = ()
    disturbance: tuple[
        str, ...
    ] = ()  # what disturbed them and by how much, in words, the most frequent first

    @property
    def answered(self) -> bool:
        return bool(self.samples)


def answer(
    counted: Sequence[Sample], limits: Limits, least: int = stats.LEAST, strict: bool = False
) -> Answer:
    """The answer that these launches give, the warm-up left out. `strict`: disturbed launches carry none."""
    good = tuple(s for s in counted if s.good)
    usable = tuple(s for s in counted if s.usable)
    if len(good) >= least or len(good) == len(usable) or strict:
        return Answer(UNDISTURBED if good else NONE, good)
    by_meters = sorted(usable, key=lambda s: taint.score(s.record or {}, limits, s.system))
    calm = {id(s) for s in by_meters[: (len(usable) + 1) // 2]}
    told = disturbances.in_words(s.tainted for s in usable)
    why = tuple(f"{text} in {n} of {len(usable)} launches" for text, n in told)
    return Answer(DISTURBED, usable, tuple(s for s in usable if id(s) in calm), why)


def blocks(samples: Sequence[Sample], beyond: int) -> list[int | None]:
    """The block of interleaved launches in which each sample stands for its setting, for comparing settings
    within blocks.

    Of a launch and its repeat in one block the later stands; a repeat after the last block (`beyond`) stands
    for the first block that has none. None: the sample stands for no block.
    """
    own: dict[int, int] = {s.block: i for i, s in enumerate(samples) if s.block < beyond}
    empty = iter(sorted(set(range(1, len(samples) + 1)) - own.keys()))
    found: list[int | None] = [None] * len(samples)
    for block, i in own.items():
        found[i] = block
    for i, sample in enumerate(samples):
        if sample.block >= beyond:
            found[i] = next(empty, None)
    return found


def background_facts(events: Sequence[Mapping[str, Any]], limits: Limits) -> dict[str, Any] | None:
    """The background as summaries hold it: its readings, in words, and whether it is one core's neighbour."""
    from strata.measure.background import Background

    first = next((e for e in events if e["event"] == "background"), None)
    if first is None:
        return None
    seen = Background.from_dict(first)
    return {**seen.to_dict(), "told": seen.in_words(limits), "local": seen.is_local(limits)}
