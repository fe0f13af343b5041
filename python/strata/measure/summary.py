"""All samples of a results folder reduced to strata.summary/1, from which report and tables are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from strata.measure import disturbances, grade, stats
from strata.measure import figures as measured
from strata.measure.plan import Policy, Task
from strata.measure.standings import ROUNDS_END, TaskState, reasons_of
from strata.measure.store import Sample, Store

SCHEMA = "strata.summary/1"
# Begins what a record says of pages where the system lets nobody place them or ask where they lie.
UNVERIFIED = "placement unverified"
Bound = Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], dict[str, Any] | None]
Bounds = Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], list[dict[str, Any]]]


def summarize(
    store: Store,
    standings: Iterable[TaskState],
    machine: Mapping[str, Any],
    provenance: Mapping[str, Any],
    bound: Bound | None = None,
    bounds: Bounds | None = None,
) -> dict[str, Any]:
    """The summary of everything measured so far. bound(task, tasks) finds the bound beside which a task's
    headline stands, bounds(task, tasks) that of each figure or the reason why it has none.
    """
    policy = store.plan.policy
    tasks = [summarize_task(standing, store.samples_of(standing.task.id), policy) for standing in standings]
    if len(tasks) > 1 and len({task["labels"].get("setting") for task in tasks}) == 1:
        for task in tasks:  # what is the same everywhere tells nobody anything
            task["hidden"] = ["setting"]
    if bound is not None:
        for task in tasks:
            task["bound"] = bound(task, tasks)
    if bounds is not None:
        for task in tasks:
            task["bounds"] = bounds(task, tasks)
    background = grade.background_facts(store.events, policy.limits)
    if background and background["local"]:
        for figure in (f for task in tasks for f in task["figures"]):
            figure["beside_neighbour"] = True
    times = [s.time for s in store.samples]
    plan = store.plan
    return {
        "schema": SCHEMA,
        "kind": plan.kind,
        "mode": plan.mode,
        "plan": plan.hash,
        "machine": dict(machine),
        "provenance": {**provenance, **loaded(store.samples)},
        "limits": plan.policy.limits.to_dict(),
        "policy": {
            "launches": plan.policy.launches,
            "most": plan.policy.most,
            "precision": plan.policy.precision,
            "repeats": plan.policy.repeats,
            "seed": plan.policy.seed,
            "strict": plan.policy.strict,
            "clock_reference_ghz": next((e["ghz"] for e in store.events if e["event"] == "clock"), None),
        },
        "background": background,
        "started": min(times, default=None),
        "ended": max(times, default=None),
        "counts": counts(store.samples),
        "notes": [f"not here: {note}" for note in provenance.get("not_here") or []],
        "left_out": [{"task": e["task"], "why": e["why"]} for e in store.events if e["event"] == "dropped"],
        "tasks": tasks,
    }


def counts(samples: Sequence[Sample]) -> dict[str, Any]:
    """How many launches there were, how many did not count, and why: by code, and in words."""
    counted = [s for s in samples if s.block != 0]
    told = disturbances.in_words(s.tainted for s in counted)
    return {
        "launches": len(counted),
        "warm_up": len(samples) - len(counted),
        "good": sum(s.good for s in counted),
        "tainted": sum(bool(s.tainted) for s in counted),
        "failed": sum(s.failed is not None for s in counted),
        "reasons": reasons_of(counted),
        "disturbed_by": [f"{text} in {n} of them" for text, n in told],
    }


def summarize_task(standing: TaskState, samples: Sequence[Sample], policy: Policy) -> dict[str, Any]:
    """One task of strata.summary/1, from its samples."""
    task, most = standing.task, policy.looks
    counted = [s for s in samples if s.block != 0]
    least = task.launches or stats.LEAST
    answer = grade.answer(counted, policy.limits, least, policy.strict)
    chosen = answer.samples
    tainted = [s for s in counted if s.tainted]
    undisturbed = answer.grade == grade.UNDISTURBED and len(chosen) >= least
    broke = (standing.stopped or "").startswith("failed: ")
    enough = undisturbed or (
        answer.answered and standing.launches >= least and not policy.strict and not broke
    )
    return {
        "id": task.id,
        "benchmark": task.benchmark,
        "layout": task.layout,
        "stride": task.stride,
        "bind": task.bind,
        "options": list(task.options),
        "labels": dict(task.labels),
        "crowded": task.crowded,
        "single": task.launches == 1,
        "command": list(task.command),
        "headline": list(task.figures),
        "launches": len(counted),
        "tainted": len(tainted),
        "failed": sum(s.failed is not None for s in counted),
        "reasons": reasons_of(counted),
        "failures": failures_of(counted),
        "undisturbed": undisturbed,
        "grade": answer.grade,
        "disturbed_by": list(answer.disturbance),
        "answered": enough,
        "status": "ok" if enough else standing.stopped or _unanswered(len(counted)),
        "figures": figures(task, answer, tainted, most),
        "curves": curves(chosen, most),
        "matrices": matrices(chosen, most),
        "bound": None,
        "bounds": [],
        "verification": next((s.result.get("verification") for s in reversed(chosen) if s.result), None),
        "readback": read_back(chosen or counted),
        "disturbance": disturbance(chosen),
        "parameters": next((s.result.get("parameters") for s in reversed(chosen) if s.result), None),
        "provenance": next((s.result.get("provenance") for s in reversed(chosen) if s.result), None),
    }


def failures_of(samples: Iterable[Sample]) -> dict[str, int]:
    """How often launches failed, by the first line of the reason."""
    return dict(Counter(s.failed.splitlines()[0][:200] for s in samples if s.failed))


def failures_in_words(task: Mapping[str, Any]) -> str:
    """Of a task in a summary: '2 of 8 launches: exit code 3: no licence'."""
    known = task["failures"]
    why = "; ".join(f"{why} ({n})" if len(known) > 1 else why for why, n in known.items())
    return f"{task['failed']} of {task['launches']} launches: {why}"


def _unanswered(launches: int) -> str:
    """Why a task that nothing stopped has no answer: its time was up, or it was interrupted."""
    return f"no undisturbed measurement in {launches} launches" if launches >= stats.LEAST else "unfinished"


def figures(
    task: Task, answer: grade.Answer, tainted: Sequence[Sample], most: int | None = None
) -> list[dict[str, Any]]:
    """Every figure with its interval; the values of disturbed launches stand beside it, and for a disturbed
    answer the least disturbed half as `calm`. `most`: measuring stopped when the interval was narrow enough,
    after at most so many.
    """
    kept = [measured.values(task, s) for s in answer.samples]
    calm = [measured.values(task, s) for s in answer.calm]
    blocks = grade.blocks(answer.samples, ROUNDS_END)
    disturbed = [measured.values(task, s) for s in tainted]
    described: dict[str, dict[str, Any]] = {}
    for values in [*kept, *disturbed]:
        for name, figure in values.items():
            described.setdefault(name, figure)
    result = []
    for name, figure in described.items():
        known = stats.estimate([v[name]["value"] for v in kept if name in v], most=most)
        result.append(
            {
                "name": name,
                "unit": figure.get("unit"),
                "better": figure.get("better", "higher"),
                "bytes": figure.get("bytes"),
                "flops": figure.get("flops"),
                "n": known.n,
                "median": known.median,
                "low": known.low,
                "high": known.high,
                "min": known.minimum,
                "max": known.maximum,
                "confidence": known.confidence,
                "grade": answer.grade,
                "note": known.note,
                "samples": list(known.samples),
                "blocks": [block for block, v in zip(blocks, kept, strict=True) if name in v],
                **({"calm": _calm([v[name]["value"] for v in calm if name in v])} if calm else {}),
                **({"most": most} if most is not None else {}),
                "tainted_samples": [v[name]["value"] for v in disturbed if name in v],
            }
        )
    return result


def _calm(values: Sequence[float]) -> dict[str, Any]:
    known = stats.estimate(values)
    return {"n": known.n, "median": known.median, "low": known.low, "high": known.high}


def curves(good: Sequence[Sample], most: int | None = None) -> list[dict[str, Any]]:
    """Curves point by point: [x, median, low, high]."""
    gathered: dict[str, dict[str, Any]] = {}
    points: dict[str, dict[float, list[float]]] = {}
    for sample in good:
        for curve in (sample.result or {}).get("curves") or []:
            gathered.setdefault(curve["name"], curve)
            by_x = points.setdefault(curve["name"], {})
            for x, y in curve["points"]:
                if y is not None:
                    by_x.setdefault(x, []).append(y)
    result = []
    for name, curve in gathered.items():
        known = [(x, stats.estimate(ys, most=most)) for x, ys in sorted(points[name].items())]
        result.append(
            {
                "name": name,
                "x": curve["x"],
                "y": curve["y"],
                "n": min((e.n for _, e in known), default=0),
                "points": [[x, e.median, e.low, e.high] for x, e in known],
            }
        )
    return result


def matrices(good: Sequence[Sample], most: int | None = None) -> list[dict[str, Any]]:
    """Matrices element by element: medians, with the interval's ends beside them."""
    gathered: dict[str, list[dict[str, Any]]] = {}
    for sample in good:
        for matrix in (sample.result or {}).get("matrices") or []:
            gathered.setdefault(matrix["name"], []).append(matrix)
    result = []
    for name, seen in gathered.items():
        first = seen[0]
        same = [m for m in seen if m["rows"] == first["rows"] and m["columns"] == first["columns"]]
        known = [
            [
                stats.estimate([v for m in same if (v := m["values"][i][j]) is not None], most=most)
                for j in range(len(first["columns"]))
            ]
            for i in range(len(first["rows"]))
        ]
        result.append(
            {
                "name": name,
                "unit": first["unit"],
                "rows": first["rows"],
                "columns": first["columns"],
                "n": len(same),
                "values": [[e.median for e in row] for row in known],
                "low": [[e.low for e in row] for row in known],
                "high": [[e.high for e in row] for row in known],
            }
        )
    return result


def read_back(samples: Sequence[Sample]) -> dict[str, Any]:
    """What the launcher read back from the running program: of the last launch, and whether all launches
    agreed.
    """
    records = [s.record for s in samples if s.record]
    if not records:
        return {"agrees": None, "threads": [], "pages": None, "share": None, "libraries": []}
    last = records[-1]
    return {
        "agrees": _all_agree(r.get("agrees") for r in records),
        "threads_agree": _all_agree(r.get("threads_agree") for r in records),
        "pages_verdict": pages_verdict(records),
        "disagreement": next((r.get("disagreement") for r in records if r.get("disagreement")), None),
        "promised": last.get("promised"),
        "threads": last.get("threads") or [],
        "pages": last.get("pages"),
        "share": last.get("share"),
        "libraries": sorted({str(path) for r in records for path in r.get("libraries") or []}),
    }


def _all_agree(said: Iterable[bool | None]) -> bool | None:
    known = [one for one in said if one is not None]
    return all(known) if known else None


def pages_verdict(records: Sequence[Mapping[str, Any]]) -> str | None:
    """What is said of the pages of all launches: the gravest of what each record says."""
    said = [str(v) for r in records if (v := (r.get("pages") or {}).get("verdict"))]
    for start in ("not as promised", UNVERIFIED, "not read", "as promised"):
        for verdict in said:
            if verdict.startswith(start):
                return verdict
    return said[0] if said else None


def disturbance(samples: Sequence[Sample]) -> dict[str, Any]:
    """What the launcher's records say of threads that moved or were preempted: medians over the launches.

    None where the system does not tell.
    """

    def middle(values: Sequence[Any]) -> float | None:
        known = [float(v) for v in values if v is not None]
        return stats.median(known) if known else None

    records = [s.record for s in samples if s.record]
    switches = [(r.get("switches") or {}).get("involuntary") for r in records]
    return {"migrations": middle([r.get("migrations") for r in records]), "preemptions": middle(switches)}


def loaded(samples: Sequence[Sample]) -> dict[str, Any]:
    """Provenance that only launches can tell: libraries really mapped, compilers, instruction sets, clock,
    load, how the share was got.
    """
    libraries: set[str] = set()
    built: dict[str, set[str]] = {"compiler": set(), "flags": set(), "isa": set(), "mpi": set()}
    clocks, loads, shares = [], [], set()
    for sample in samples:
        record, result = sample.record or {}, sample.result or {}
        libraries.update(record.get("libraries") or [])
        clock = record.get("clock") or {}
        clocks += [clock[k] for k in ("before_ghz", "after_ghz") if clock.get(k)]
        if record.get("load"):
            loads.append(record["load"][0])
        if record.get("share"):
            shares.add(str(record["share"].get("method")))
        for key, values in built.items():
            said = (result.get("provenance") or {}).get(key)
            if said:
                values.add(str(said))
    return {
        "libraries": sorted(libraries),
        **{key: sorted(values) for key, values in built.items()},
        "clock_ghz": {"min": min(clocks), "median": stats.median(clocks), "max": max(clocks)}
        if clocks
        else None,
        "load_1min": {"min": min(loads), "max": max(loads)} if loads else None,
        "share_methods": sorted(shares),
    }
