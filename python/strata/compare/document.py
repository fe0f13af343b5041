"""A comparison as strata.comparison/1: what `--json` prints and the report is made from."""

from __future__ import annotations

from collections import Counter
from typing import Any

from strata.compare.differences import differences
from strata.compare.pairs import Matches, NotCompared
from strata.compare.sides import Side
from strata.compare.verdicts import Judged, Verdict
from strata.measure import stats

SCHEMA = "strata.comparison/1"
WORDS = ("regressed", "improved", "undecided", "unchanged")
CHANGED = 3  # exit code: something regressed by more than the threshold


def document(before: Side, after: Side, matched: Matches, judged: Judged) -> dict[str, Any]:
    """The whole comparison. All ratios are after/before."""
    beyond = sum(v.beyond for v in judged.verdicts)
    failed = any(v.beyond and v.pair.gate and v.pair.graded_alike for v in judged.verdicts)
    counts = Counter(v.word for v in judged.verdicts)
    return {
        "schema": SCHEMA,
        "before": _side(before),
        "after": _side(after),
        "regressed": judged.threshold,
        "method": judged.method,
        "family": len(judged.verdicts),
        "counts": {
            **{word: counts[word] for word in WORDS},
            "beyond": beyond,
            "not_compared": len(matched.not_compared),
            "only_before": len(matched.only_before),
            "only_after": len(matched.only_after),
        },
        "differences": [d.to_dict() for d in differences(before, after)],
        "comparisons": [_comparison(v) for v in judged.verdicts],
        "not_compared": [_not_compared(left) for left in matched.not_compared],
        "only_before": matched.only_before,
        "only_after": matched.only_after,
        "exit_code": CHANGED if failed else 0,
    }


def _side(side: Side) -> dict[str, Any]:
    whole = side.summary
    return {
        "path": str(side.path),
        "kind": whole.get("kind"),
        "mode": whole.get("mode"),
        "plan": whole.get("plan"),
        "hostname": whole["machine"].get("hostname"),
        "cpu_model": whole["machine"].get("cpu_model"),
        "started": whole.get("started"),
        "ended": whole.get("ended"),
        "synthetic": bool(whole.get("synthetic") or whole["machine"].get("synthetic")),
    }


def _comparison(v: Verdict) -> dict[str, Any]:
    pair = v.pair
    return {
        "task": pair.task,
        "figure": pair.figure,
        "unit": pair.unit,
        "better": pair.better,
        "gate": pair.gate,
        "verdict": v.word,
        "beyond": v.beyond,
        "before": _of_side(pair.before, pair.grades[0]),
        "after": _of_side(pair.after, pair.grades[1]),
        "ratio": v.ratio,
        "low": v.low,
        "high": v.high,
        "p": v.p,
        "p_family": v.p_family,
        "launches": v.launches,
    }


def _of_side(values: tuple[float, ...], grade: str) -> dict[str, Any]:
    return {"n": len(values), "median": stats.median(values), "grade": grade}


def _not_compared(left: NotCompared) -> dict[str, Any]:
    return {"task": left.task, "figure": left.figure, "kind": left.kind, "why": left.why}
