"""Summaries of studies that never took place, on machines of synthetic_machines. Every document says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synthetic_summaries import SUMMARIES

from strata.measure import stats


def figure(name: str, unit: str, samples: Sequence[float], better: str = "lower") -> dict[str, Any]:
    known = stats.estimate(samples)
    return {
        "name": name,
        "unit": unit,
        "better": better,
        "n": known.n,
        "median": known.median,
        "low": known.low,
        "high": known.high,
        "min": known.minimum,
        "max": known.maximum,
        "confidence": known.confidence,
        "note": known.note,
        "samples": list(samples),
        "tainted_samples": [],
    }


def around(value: float, n: int = 12, step: float = 0.001) -> list[float]:
    """n samples about a value, at fixed distances and in no order."""
    return [value * (1 + step * ((7 * i) % n - (n - 1) / 2)) for i in range(n)]


def task(
    benchmark: str,
    labels: Mapping[str, str],
    figures: list[dict[str, Any]],
    bind: str = "core",
    options: Sequence[str] = ("--own-share",),
    **more: Any,
) -> dict[str, Any]:
    return {
        "id": "/".join([*labels.values(), "1x8"]),
        "benchmark": benchmark,
        "layout": "1x8",
        "stride": 1,
        "bind": bind,
        "options": list(options),
        "labels": dict(labels),
        "command": ["{strata-bench}", benchmark, "--json", "{result}"],
        "headline": [figures[0]["name"]] if figures else [],
        "launches": 12,
        "tainted": 0,
        "failed": 0,
        "reasons": {},
        "undisturbed": bool(figures),
        "status": "ok" if figures else "failed: it said no",
        "figures": figures,
        "curves": [],
        "matrices": [],
        "bound": None,
        "verification": None,
        "readback": {"agrees": True},
        "disturbance": {"migrations": 0, "preemptions": 1},
        "parameters": {},
        **more,
    }


def study(view: str, tasks: list[dict[str, Any]], machine: str, **about: Any) -> dict[str, Any]:
    whole = dict(SUMMARIES[machine.replace("_", "-")]())
    said = {"name": view, "title": f"A study of {view}", "about": None, "view": view, "settings": []}
    said |= {"unavailable": [], **about}
    return {
        **whole,
        "kind": "study",
        "mode": view,
        "tasks": tasks,
        "left_out": [],
        "notes": [],
        "provenance": {**whole["provenance"], "study": said},
    }


SHARES = {"one": (1.0, 0.0), "threads": (0.5, 0.5), "interleave": (0.5, 0.5), "bind": (0.5, 0.5)}
SWEEPS = {"one": 20.0, "threads": 10.0, "interleave": 14.0, "bind": 10.0}


def pages() -> dict[str, Any]:
    """Pages in two memories; first touch by one thread takes twice as long as by all."""
    tasks = []
    for mode, (here, there) in SHARES.items():
        for setting, bind, slower in (("pinned", "core", 1.0), ("not pinned", "none", 1.3)):
            sweep = around(SWEEPS[mode] * slower)
            figures = [
                figure("sweep", "ms", sweep),
                figure("spread of sweeps", "%", around(3.0)),
                figure("bandwidth", "GB/s", [500 / s for s in sweep], "higher"),
                figure("local pages", "%", around(100 * max(here, there) / 2), "higher"),
                figure("migrations", "", [0.0] * 11 + [4.0]),
            ]
            matrix = {
                "name": "pages by domain of their thread and memory",
                "unit": "",
                "rows": [0, 1],
                "columns": [0, 1],
                "n": 12,
                "values": [[500.0 * here, 500.0 * there], [500.0 * here, 500.0 * there]],
            }
            labels = {"program": "pages", "mode": mode, "setting": setting}
            more = {"matrices": [matrix], "parameters": {"memories": 2}}
            tasks.append(task("pages", labels, figures, bind, **more))
    return study("pages", tasks, "eight_domains")


def cycles(spreads: Mapping[str, float], launches: int = 12) -> dict[str, Any]:
    """Repeated work whose 99th percentile is so many ppm over the median, by setting."""
    tasks = []
    for setting, ppm in spreads.items():
        figures = [
            figure("p99 over median", "ppm", around(ppm, launches)),
            figure("interquartile range", "ppm", around(ppm / 4, launches)),
            figure("longest over shortest", "ppm", around(ppm * 5, launches)),
            figure("median run", "us", around(2000, launches)),
            figure("resolution", "ppm", around(0.2, launches)),
            figure("preemptions", "", [3.0] * launches),
            figure("moves", "", [0.0] * launches),
        ]
        points = [[share, ppm / 2 / share**0.3] for share in (0.9, 0.5, 0.1, 0.01, 0.001)]
        curve = {
            "name": "over the shortest",
            "x": {"name": "share of the repetitions that take longer", "unit": ""},
            "y": {"name": "over the shortest", "unit": "ppm"},
            "n": launches,
            "points": [[x, y, 0.9 * y, 1.1 * y] for x, y in points],
        }
        labels = {"program": "cycles", "setting": setting}
        options = ["--exclusive"] if "exclusive" in setting else []
        parameters = {"work": 2097152, "counter": "a counter", "counter_ghz": 2.5, "cycle_counter": False}
        more = {"curves": [curve], "parameters": parameters}
        bind = "none" if setting.startswith("not") else "core"
        tasks.append(task("cycles", labels, figures, bind, options, **more))
    return study("cycles", tasks, "two_cores")
