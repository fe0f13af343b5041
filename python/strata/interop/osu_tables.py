"""Curves over message sizes as tables in the form of the OSU micro-benchmarks, for scripts that read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strata.errors import StrataError

MESSAGE = {"name": "message", "unit": "B"}  # the axis of these curves, of Strata's benchmarks too

# OSU's columns by kind, and what a value in each unit of ours is multiplied by.
_SCALES: Mapping[str, Mapping[str, float]] = {
    "Latency (us)": {"us": 1.0, "ns": 1e-3, "s": 1e6},
    "MB/s": {"MB/s": 1.0, "GB/s": 1e3, "B/s": 1e-6},
    "Messages/s": {"msg/s": 1.0, "Mmsg/s": 1e6},
}
_COLLECTIVES = ("allreduce", "alltoall")
_WINDOWLESS = "# single messages there and back: below osu_bw, which keeps a window of them under way"


def tables(summary: Mapping[str, Any]) -> str:
    """The curves over message sizes of a strata.summary/1 as tables that scripts for OSU's output read: a
    title, `# Size` and the columns, a line a size. Values are medians of the launches that count; a size
    without one is left out.

    Raises StrataError when there is no such curve.
    """
    blocks = [block for task in summary["tasks"] for block in _blocks(task)]
    if not blocks:
        raise StrataError(
            "no curves over message sizes in these results",
            given=", ".join(sorted({str(task["benchmark"]) for task in summary["tasks"]})) or "nothing",
            allowed="results of pingpong, message-rate, allreduce, alltoall, or of OSU's own programs",
            remedy="strata characterize measures them where there is an MPI",
        )
    return "\n".join(blocks)


def _blocks(task: Mapping[str, Any]) -> Iterator[str]:
    """The tables of one task: curves of one test that OSU prints beside each other are columns of one."""
    tests: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for curve in task["curves"]:
        kind = _kind(curve)
        if kind is not None and dict(curve["x"]) == MESSAGE and curve["points"]:
            test = str(curve["name"]).rpartition(": ")[0]  # as read() names several tests of one output
            tests.setdefault(test, {}).setdefault(kind, []).append(curve)
    benchmark, parameters = str(task["benchmark"]), task.get("parameters") or {}
    for test, kinds in tests.items():
        latencies, bandwidths, rates = (kinds.get(kind, []) for kind in _SCALES)
        if bandwidths and rates:
            pairs, window = parameters.get("number of pairs"), parameters.get("window")
            note = f"# [ pairs: {pairs} ] [ window size: {window} ]" if pairs and window else None
            title = test or "MPI Multiple Bandwidth / Message Rate"
            yield _block(task, title, [(bandwidths[0], "MB/s"), (rates[0], "Messages/s")], note)
        elif bandwidths:
            note = _WINDOWLESS if benchmark == "pingpong" else None
            yield _block(task, test or "MPI Bandwidth", [(bandwidths[0], "Bandwidth (MB/s)")], note)
        elif rates:
            yield _block(task, test or "MPI Message Rate", [(rates[0], "Messages/s")], None)
        if latencies:
            what = f"{benchmark.capitalize()} " if benchmark in _COLLECTIVES else ""
            alone = len(latencies) == 1
            columns = [(curve, "Latency (us)" if alone else _latency_heading(curve)) for curve in latencies]
            yield _block(task, test or f"MPI {what}Latency", columns, None)


def _kind(curve: Mapping[str, Any]) -> str | None:
    unit = str(curve["y"].get("unit"))
    return next((kind for kind, units in _SCALES.items() if unit in units), None)


def _latency_heading(curve: Mapping[str, Any]) -> str:
    """OSU's heading of a column that read() named, such as "latency min" or "latency P99"."""
    *_, last = str(curve["name"]).split()
    if re.fullmatch("P[0-9]+", last):
        return f"{last} Tail Lat(us)"
    return f"{last.capitalize() if last in ('min', 'max') else 'Avg'} Latency(us)"


def _block(
    task: Mapping[str, Any], title: str, columns: Sequence[tuple[Mapping[str, Any], str]], note: str | None
) -> str:
    values, widths, decimals = [], [], []
    for curve, heading in columns:
        scale = _SCALES[str(_kind(curve))][curve["y"]["unit"]]
        values.append({x: scale * y for x, y, *_ in curve["points"] if y is not None})
        widths.append(max(20, len(heading) + 2))  # scripts part the headings by two spaces
        decimals.append(3 if "us" in heading else 2)
    launches = min(curve.get("n", task["launches"]) for curve, _ in columns)
    lines = [f"# Strata {title} Test: {task['id']}, medians of {launches} launches"]
    lines += [note] if note else []
    lines.append(f"{'# Size':<10}" + "".join(f"{c[1]:>{w}}" for c, w in zip(columns, widths, strict=True)))
    for size in sorted(set.intersection(*(set(column) for column in values))):
        cells = (f"{v[size]:{w}.{d}f}" for v, w, d in zip(values, widths, decimals, strict=True))
        lines.append(f"{size:<10.0f}" + "".join(cells))
    return "\n".join(lines) + "\n"
