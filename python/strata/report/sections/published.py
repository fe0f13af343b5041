"""Figures published for machines of 1997-2007 beside those measured here: context for the eye, not a
contest.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from strata.advice.samples import kind_of_unit, own_memory, width
from strata.advice.words import digits, unit_text
from strata.report.document import Points, Section, Table, Text
from strata.report.quantities import shown
from strata.report.source import Source


def load() -> Mapping[str, Any]:
    """The table of published figures that comes with the package."""
    return tomllib.loads(
        resources.files("strata.report").joinpath("published.toml").read_text(encoding="utf-8")
    )


def published(source: Source) -> Section:
    """The section with published figures beside those measured here."""
    table = load()
    here = measured(source)
    rows = []
    for f in table["figure"]:
        origin = table["source"][f["source"]]
        own = here.get(f["beside"], "")
        value = f"{'about ' if f['about'] else ''}{f['value']:g} {unit_text(f['unit'])}"
        rows.append(
            [f["figure"], f["machine"], value, f["scope"], own or "—", f"{origin['year']}, {f['where']}"]
        )
    titles = [f"{s['year']}: {s['authors']}, “{s['title']}”" for s in table["source"].values()]
    return Section(
        "published",
        "Beside published machines, 1997–2007",
        [
            Text(
                "Different sizes, years and rules: these say how far machines have come, not which is "
                "better. What stands here was measured in this run on the "
                "scope that is named with it."
            ),
            Table(
                ("Figure", "Machine", "Published", "Scope there", "This machine", "Source"),
                rows,
                frozenset({2, 4}),
            ),
            Points(titles),
        ],
    )


def measured(source: Source) -> dict[str, str]:
    """The figures of this run that a published one can stand beside, as text with their scope."""
    here: dict[str, str] = {}

    def put(key: str, benchmark: str, words: tuple[str, ...], one: bool) -> None:
        task = source.one_core(benchmark) if one else source.all_cores(benchmark)
        f = source.figure(task, *words)
        if f is not None and task is not None:
            cores = width(task)
            here[key] = (
                f"{shown(f.median, f.low, f.high)} {unit_text(f.unit)} "
                f"({'one core' if cores == 1 else f'{cores} cores'})"
            )

    put("triad-one", "stream", ("triad",), True)
    put("dgemm-one", "dgemm", (), True)
    put("peak-one", "peak", (), True)
    put("peak-all", "peak", (), False)
    put("ptrans", "ptrans", (), False)
    put("mpifft", "mpifft", (), False)
    for key, word in (("pingpong-latency", "latency"), ("pingpong-bandwidth", "bandwidth")):
        f = source.figure(source.task("pingpong"), word)
        if f is not None:
            here[key] = f"{shown(f.median, f.low, f.high)} {unit_text(f.unit)} (2 processes)"
    task = source.all_cores("stream")
    f = source.figure(task, "triad")
    if f is not None and f.median and task is not None and width(task) > 1:
        here["triad-each"] = (
            f"{digits(f.median / width(task))} {unit_text(f.unit)} (each of {width(task)} cores)"
        )
    here.update(_latencies(source))
    here.update(_lines(source))
    here.update(_allreduce(source))
    return here


def _latencies(source: Source) -> dict[str, str]:
    memory = own_memory(source.machine)
    for task in source.tasks("domains"):
        for m in task.get("matrices") or []:
            if kind_of_unit(str(m["unit"])) != "time":
                continue
            own = [
                v
                for i, row in enumerate(m["values"])
                for j, v in enumerate(row)
                if memory.get(m["rows"][i]) == m["columns"][j] and v is not None
            ]
            every = [v for row in m["values"] for v in row if v is not None]
            if own:
                found = {"latency-near": f"{digits(min(own))} {m['unit']} (own domain)"}
                if len(m["rows"]) > 1:
                    found["latency-far"] = (
                        f"{digits(max(every))} {m['unit']} (farthest of {len(m['rows'])} domains)"
                    )
                return found
    return {}


def _lines(source: Source) -> dict[str, str]:
    for task in source.tasks("lines"):
        for m in task.get("matrices") or []:
            values = sorted(v for row in m["values"] for v in row if v)
            if values and m["unit"] == "ns":
                return {
                    "line-one-way": f"{digits(values[len(values) // 2] / 2000)} µs (a cache line, one way)"
                }
    return {}


def _allreduce(source: Source) -> dict[str, str]:
    task = source.all_cores("allreduce")
    for curve in (task or {}).get("curves") or []:
        for point in curve["points"]:
            if point[0] == 32768 and point[1] is not None and task is not None:
                return {
                    "allreduce-32768": f"{digits(point[1])} "
                    f"{unit_text(str(curve['y'].get('unit', '')))} ({width(task)} "
                    "processes)"
                }
    return {}
