"""Results that were never measured, as summaries and as folders with journals."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fakes
from synthetic_summaries import SUMMARIES

from strata.compare.pairs import Pair
from strata.measure import stats, store
from strata.measure.campaign import Campaign
from strata.measure.runner import Launched


def figure(name: str, samples: Sequence[float], unit: str = "s", better: str = "lower") -> dict[str, Any]:
    known = stats.estimate(samples)
    return {
        **{"name": name, "unit": unit, "better": better, "n": known.n, "median": known.median},
        **{"low": known.low, "high": known.high, "min": known.minimum, "max": known.maximum},
        **{"confidence": known.confidence, "note": known.note, "samples": list(known.samples)},
        "tainted_samples": [],
    }


def task(name: str, figures: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "benchmark": name.split("/")[0],
        "layout": "1x2",
        "stride": 1,
        "bind": "core",
        "options": ["--own-share"],
        "labels": {},
        "command": ["{strata-bench}", "solve", "--json", "{result}"],
        "headline": [f["name"] for f in figures[:1]],
        "launches": max((f["n"] for f in figures), default=6),
        "figures": figures,
        "parameters": {"n": 64},
        **more,
    }


def whole(tasks: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A summary with these tasks, of a machine of synthetic_machines."""
    made = copy.deepcopy(SUMMARIES["two-cores"]())
    return {**made, "tasks": tasks, "kind": "characterize", "started": "2026-01-01T00:00:00.000Z",
            "policy": {"launches": 12}, **more}  # fmt: skip


def noisy(value: float, n: int = 12, seed: int = 1, noise: float = 0.01) -> list[float]:
    chance = random.Random(seed)
    return [value * chance.lognormvariate(0, noise) for _ in range(n)]


def pairs(chance: random.Random, factors: Sequence[float], n: int, noise: float) -> list[Pair]:
    """Pairs whose true ratio after/before is in `factors`, with log-normal noise."""
    return [
        Pair(
            task=f"task{i}",
            figure="time",
            unit="s",
            better="lower",
            gate=True,
            before=tuple(chance.lognormvariate(0, noise) for _ in range(n)),
            after=tuple(factor * chance.lognormvariate(0, noise) for _ in range(n)),
        )
        for i, factor in enumerate(factors)
    ]


def saved(summary: dict[str, Any], path: Path) -> Path:
    path.write_text(json.dumps(summary))
    return path


def folder(path: Path, names: Sequence[str] = ("stream", "copy"), speed: float = 10.0, seed: int = 1) -> Path:
    """A results folder with journals, as an unfinished run leaves it: without summary.json."""
    chance = random.Random(seed)

    def answer(what: Any, before: int) -> Launched:
        return Launched(fakes.record(), fakes.result(speed * chance.lognormvariate(0, 0.01)), None)

    machine = {**SUMMARIES["two-cores"]()["machine"], "schema": "strata.machine/1"}
    opened = store.create(path, fakes.plan(list(names)), machine, {"schema": "strata.provenance/1"})
    Campaign(opened, fakes.ScriptedRunner(answer), fakes.Listener(), settle=lambda s: 0.0).run()
    opened.close()
    return path
