"""The history as metrics for the text file collector of Prometheus' node exporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from strata.centre.integrity.analysis import Analysis, reason
from strata.measure.files import write_named


def write(path: Path, whole: Analysis, known: Mapping[str, int], now: float) -> None:
    """The collector reads the file at any moment: it is whole or the one before."""
    write_named(path, text(whole, known, now), mode=0o644)


def text(whole: Analysis, known: Mapping[str, int], now: float) -> str:
    """All metrics. Counters only rise: old passes stay in the sums."""
    by_verdict = Counter((f["core"], f["verdict"]) for f in whole.findings)
    cells = [({"core": str(r["core"]), "kernel": r["kernel"]}, r) for r in whole.sums]
    lines = [
        *_metric("rounds_total", "counter", "rounds done", ((c, r["rounds"]) for c, r in cells)),
        *_metric("seconds_total", "counter", "CPU time tested", ((c, r["seconds"]) for c, r in cells)),
        *_metric(
            "findings_total",
            "counter",
            "wrong answers",
            (({"core": str(core), "verdict": verdict}, n) for (core, verdict), n in by_verdict.items()),
        ),
        *_metric(
            "yielded_seconds_total",
            "counter",
            "time in which a core was left to others",
            (({"core": str(r["core"])}, r["seconds"]) for r in whole.yielded),
        ),
        *_metric("passes_total", "counter", "passes", [({}, whole.passes)]),
        *_metric("passes_lost_total", "counter", "passes that did not end", [({}, len(whole.lost))]),
        *_metric(
            "system_errors", "gauge", "what the system counts", (({"name": n}, v) for n, v in known.items())
        ),
        *_metric("open_findings", "gauge", "findings since the last --clear", [({}, len(whole.open))]),
        *_metric("drain", "gauge", "1 where no jobs should run here", [({}, int(reason(whole) is not None))]),
        *_metric("last_pass_timestamp_seconds", "gauge", "when the last pass was alive", [({}, now)]),
    ]
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, about: str, values: Iterable[tuple[Mapping[str, str], float]]) -> list[str]:
    full = f"strata_integrity_{name}"
    lines = [f"# HELP {full} {about}", f"# TYPE {full} {kind}"]
    for labels, value in values:
        inside = ",".join(f'{k}="{_escaped(v)}"' for k, v in labels.items())
        lines.append(f"{full}{{{inside}}} {value:.10g}" if inside else f"{full} {value:.10g}")
    return lines


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
