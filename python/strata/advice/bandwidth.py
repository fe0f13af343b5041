"""How many cores of a domain use all that its memory gives, from samples of STREAM by number of cores.

Beyond a few cores of a domain, bandwidth often stays where it is (J. D. McCalpin, IEEE TCCA Newsletter,
December 1995; G. Hager, G. Wellein, Introduction to High Performance Computing for Scientists and Engineers,
2011, section 1.4.2). Programs that wait for memory then gain nothing from the other cores.

That further cores gain nothing is stated from intervals alone: for each larger number that was measured, the
interval of its bandwidth over that of the smaller one ends below 1 + GAIN. Where intervals are too wide for
that, nothing is said; that no difference was measured would not be enough.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from strata.advice.samples import (
    Interval,
    Machine,
    Summary,
    allowed_cores,
    factor,
    family,
    figure,
    processes_threads,
    tasks,
    usable_cpus,
    winner,
)
from strata.advice.statements import times
from strata.advice.words import count, digits

GAIN = 0.05  # of bandwidth: what all further cores together may at most gain, and still "nothing"


@dataclass(frozen=True)
class Saturation:
    """The fewest measured cores of a domain that no further ones help."""

    cores: int
    of: int  # cores of the domain that may be used
    rate: Interval  # with so many
    more: tuple[float, float, float]  # the largest ratio of a larger number's rate to it, with its interval
    fewer: tuple[int, tuple[float, float, float]] | None  # the next smaller number, where it reaches less


def by_cores(machine: Machine, summary: Summary | None) -> dict[int, Interval]:
    """Bandwidth of the triad by cores, packed within the domain of the first core that may be used."""
    cores = allowed_cores(machine)
    first = [core["domain"] for core in cores]
    packed = next((i for i, domain in enumerate(first) if domain != first[0]), len(first))
    found: dict[int, Interval] = {}
    for task in tasks(summary, "stream", bind="core"):
        processes, threads = processes_threads(task.get("layout"))
        rate = figure(task, "triad")
        plain = task.get("stride", 1) == 1 and family(task) == "stream" and processes == 1
        if plain and threads <= packed and rate is not None and rate.known:
            found[threads] = rate
    return dict(sorted(found.items()))


def saturation(machine: Machine, summary: Summary | None) -> Saturation | None:
    """Where bandwidth ends to grow; None where it grows to the last core, or the samples do not tell."""
    cores = allowed_cores(machine)
    if not cores or usable_cpus(machine) < len(cores):
        return None  # a quota ends it before the memory does
    own = sum(core["domain"] == cores[0]["domain"] for core in cores)
    rates = by_cores(machine, summary)
    numbers = list(rates)
    if len(numbers) < 2 or numbers[-1] != own:
        return None
    comparisons = len(numbers) * (len(numbers) - 1) // 2
    for i, number in enumerate(numbers[:-1]):
        ratios = [factor(rates[n], rates[number], comparisons) for n in numbers[i + 1 :]]
        known = [r for r in ratios if r is not None]
        if len(known) < len(ratios) or any(high > 1 + GAIN for _, _, high in known):
            continue
        less = numbers[i - 1] if i else None
        fewer = None
        if less is not None and winner(rates[number], rates[less], comparisons) == "a":
            ratio = factor(rates[less], rates[number], comparisons)
            fewer = (less, ratio) if ratio is not None else None
        return Saturation(number, own, rates[number], max(known, key=lambda r: r[2]), fewer)
    return None


def layout(machine: Machine, found: Saturation) -> tuple[int, int]:
    """Processes x threads: a process for each domain that has so many cores."""
    sizes = Counter(core["domain"] for core in allowed_cores(machine))
    return sum(size >= found.cores for size in sizes.values()), found.cores


def places(machine: Machine, found: Saturation) -> list[list[int]]:
    """The cores of each process by their places in `allowed_cores`: the first of each domain, packed, as they
    were measured.
    """
    groups: dict[int, list[int]] = {}
    for i, core in enumerate(allowed_cores(machine)):
        groups.setdefault(core["domain"], []).append(i)
    return [own[: found.cores] for own in groups.values() if len(own) >= found.cores]


def sentence(machine: Machine, found: Saturation) -> str:
    """'3 of 8 cores saturate the memory of a domain: ...', with the figures that carry it."""
    processes, threads = layout(machine, found)
    unit, middle = found.rate.unit, digits(found.rate.median or 0.0)
    span = f"[{digits(found.rate.low or 0.0)}, {digits(found.rate.high or 0.0)}]"
    verb = "saturates" if found.cores == 1 else "saturate"
    text = (
        f"{count(found.cores, 'core')} {verb} the memory of a domain of {found.of}: STREAM triad "
        f"{middle} {span} {unit}; more cores reach {_range(found.more)} times that at most"
    )
    if found.fewer is not None:
        text += f", {count(found.fewer[0], 'core')} {_range(found.fewer[1])} times"
    left = found.of - found.cores
    return (
        f"{text}. For programs bound by memory bandwidth use {processes}x{threads}; the remaining "
        f"{count(left, 'core')}{' of each domain' if processes > 1 else ''} gain{'s' if left == 1 else ''} "
        "nothing there."
    )


def _range(ratio: tuple[float, float, float]) -> str:
    middle, low, high = ratio
    return f"{times(middle)} (between {times(low)} and {times(high)})"
