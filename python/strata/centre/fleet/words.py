"""Why a node is a suspect, in plain words: which figure of which part, by how much, since when, and the cause
that such a pattern has most often.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from strata.centre.fleet.fleet import Figure, Fleet
from strata.centre.fleet.outliers import Outlier
from strata.centre.outages.times import text

_NAMES = {
    "dgemm": "matrix multiplication",
    "core": "computing rate",
    "undisturbed": "undisturbed time",
    "remote_bandwidth": "bandwidth to other domains",
    "remote_latency": "latency to other domains",
}
_CAUSES = {  # in the order in which they are looked for: what explains the others comes first
    "clock": "clock: a power limit, heat, or firmware",
    "core": "one slow core",
    "bandwidth": "bandwidth of one domain: a memory module or channel",
    "latency": "latency of one domain: a memory module or channel",
    "remote_bandwidth": "the link between processors",
    "remote_latency": "the link between processors",
    "undisturbed": "somebody else's work on it",
    "dgemm": "compute",
}
_WHOLE = {"core": "all cores", "bandwidth": "bandwidth of its memory", "latency": "latency of its memory"}


def name_of(figure: str) -> str:
    return _NAMES.get(figure, figure.replace("_", " "))


def title_of(figure: str) -> str:
    """A figure by itself, as in a heading."""
    return "slowest core" if figure == "core" else name_of(figure)


def percent(slow: float, higher: bool) -> float:
    """A deviation as a change of the figure itself, in percent: below 0 for less."""
    return 100 * float(np.expm1(-slow if higher else slow))


def sentence(found: Outlier, figure: Figure, fleet: Fleet) -> str:
    """One outlier."""
    what = f"{name_of(found.figure)}"
    if figure.part:
        every = found.parts > 1 and found.parts > 0.5 * figure.values.shape[1]
        which = f"{figure.part} {found.part}"
        what = f"{what} of all its {figure.part}s (worst: {which})" if every else f"{which}'s {what}"
    by = percent(found.slow, figure.higher)
    side = "below" if by < 0 else "above"
    against = "the fleet's" if found.against == "fleet" else "its own of before"
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'}"
    if found.always:
        when = f"in all {runs} that are known" if found.runs > 1 else "in its only run"
    else:
        when = f"since {text(float(fleet.time[found.since]))[:10]} ({runs})"
    return f"{what} is {abs(by):.0f} % {side} {against}, {when}"


def cause(found: Sequence[Outlier], fleet: Fleet) -> str:
    """What most often looks like this."""
    have = {o.figure: o for o in found}
    for name, words in _CAUSES.items():
        if name in have:
            several = have[name].parts > 1 and have[name].parts > 0.5 * fleet.figures[name].values.shape[1]
            return _WHOLE[name] if several and name in _WHOLE else words
    return name_of(found[0].figure)


def rest(found: Sequence[Outlier], fleet: Fleet) -> str:
    """What is to be said of its other figures."""
    others = [name for name in fleet.figures if name not in {o.figure for o in found}]
    return "its other figures are as usual" if others else ""
