"""The section of the reliability report that says how long a system stays up."""

from __future__ import annotations

from strata.centre.reliability.analysis import Analysis
from strata.centre.reliability.fits import Fit
from strata.centre.reliability.uptimes import NODE
from strata.report.document import Section, Table, Text

_NONE = "-"


def section(whole: Analysis) -> Section:
    """Fits of up times, and of times from start to start."""
    head = (
        "System",
        "Times",
        "Exponential: mean, days",
        "p of fit",
        "Weibull: shape (95 %)",
        "scale, days",
        "p of fit",
        "p of shape 1",
        "What it says",
    )
    numbers = frozenset({1, 2, 3, 4, 5, 6, 7})
    up = [_fitted(one.system.name, one.fit) for one in whole.findings]
    starts = [_fitted(one.system.name, one.between) for one in whole.findings]
    nodes = [f.system.name for f in whole.findings if f.fit is not None and f.fit.of == NODE]
    of_nodes = f" For {', '.join(nodes[:8])}, whose log names nodes, they are a node's." if nodes else ""
    return Section(
        "between",
        "How long it stays up",
        [
            Text(
                "**Up times**: from the end of an interrupt to the start of the next, less what other "
                f"outages had it down meanwhile.{of_nodes}"
            ),
            Table(head, up, numbers),
            Text(
                "**From start to start** of interrupts of the system, as MTTI and published tables count: "
                "outages are in these times."
            ),
            Table(head, starts, numbers),
            Text(
                "The last time of each system or node is censored: it was up when observation ended. A p "
                "of fit below 0.05 says that the times do not come from "
                "such a distribution; p of shape 1 below 0.05, that the exponential one is refused "
                "in favour of Weibull's."
            ),
        ],
    )


def _fitted(name: str, f: Fit | None) -> list[str]:
    if f is None:
        return [name, *[_NONE] * 7, "fewer than 5 times: not fitted"]
    return [
        name,
        str(f.times),
        f"{f.mean:.1f}",
        f"{f.fit_exponential:.3f}",
        f"{f.shape:.2f} ({f.shape_low:.2f} to {f.shape_high:.2f})",
        f"{f.scale:.1f}",
        f"{f.fit_weibull:.3f}",
        f"{f.p_exponential:.3f}",
        f.words,
    ]
