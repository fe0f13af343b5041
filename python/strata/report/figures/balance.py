"""Time of each process, sorted, over the threads that each has: a plan of `strata balance`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from strata import documents
from strata.errors import StrataError, why
from strata.measure.files import write_named
from strata.report.figures.theme import INK, SERIES, SOFT, canvas, finish, standalone


def balance(key: str, plan: dict[str, Any]) -> str:
    """Themed SVG of a strata.balance/1 document: the upper panel has times beside the longest and the bound,
    the lower one threads.
    """
    processes = sorted(plan["plan"], key=lambda p: -p["time"])
    places = range(len(processes))
    with canvas(7.4, 4.2, nrows=2, sharex=True, gridspec_kw={"height_ratios": [2, 1]}) as (figure, grid):
        times, threads = grid
        times.bar(places, [p["time"] for p in processes], width=1.0, color=SERIES[0], linewidth=0)
        times.axhline(plan["bound"], color=INK, linewidth=1.0, linestyle="--")
        times.set_ylabel("time of a step")
        times.set_title(
            f"{plan['processes']} processes on {plan['cpus']} CPUs, threads as {plan['curve']}: "
            f"{100 * plan['efficiency']:.1f} % efficient (dashed: no plan is below)",
            loc="left",
        )
        threads.bar(places, [p["threads"] for p in processes], width=1.0, color=SERIES[1], linewidth=0)
        threads.set_ylabel("threads")
        threads.set_xlabel("process, longest first" + (" (zones are generated)" if plan["generated"] else ""))
        for axes in grid:
            axes.grid(axis="x", visible=False)
            axes.spines["bottom"].set_color(SOFT)
        return finish(figure, key)


def draw(source: str, target: str) -> int:
    """Reads the plan from the file `source` and writes its figure to `target`; - is standard input or
    output. Raises StrataError.
    """
    remedy, text = "`strata balance --json` writes plans", ""
    try:
        text = sys.stdin.read() if source == "-" else documents.named(source).decode()
        found = documents.from_json(text)
    except (OSError, ValueError) as error:
        raise documents.not_json(error, source, text, remedy) from None
    plan = documents.of_schema(found, "strata.balance/1", source, remedy)
    with documents.used(source, "the plan"):
        svg = standalone(balance("balance", plan))
    try:
        if target == "-":
            sys.stdout.write(svg)
        else:
            write_named(Path(target), svg)
    except OSError as error:
        raise StrataError("the drawing cannot be written", at=target, given=why(error)) from None
    return 0
