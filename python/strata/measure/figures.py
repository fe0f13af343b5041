"""The figures of one launch: what its result says, or how long it took."""

from __future__ import annotations

from typing import Any

from strata.measure.plan import Task
from strata.measure.store import Sample


def values(task: Task, sample: Sample) -> dict[str, dict[str, Any]]:
    """The figures of one launch by name; a program without a result has its wall time."""
    if sample.result is not None:
        return {f["name"]: f for f in sample.result.get("figures") or [] if f.get("value") is not None}
    if task.leaves_result or sample.record is None:
        return {}
    return {"wall": {"name": "wall", "value": sample.record["wall_s"], "unit": "s", "better": "lower"}}


def headline(task: Task, sample: Sample) -> float | None:
    """The value that the task is known for: the first figure that its case names, else the first it has."""
    known = values(task, sample)
    named = next((known[name] for name in task.figures if name in known), None)
    found = named or next(iter(known.values()), None)
    return None if found is None else float(found["value"])
