"""What the history of a machine says: how long each core was tested by what, what was found, what to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from strata.centre.integrity.history import SCHEMA, Event, History, added, added_by

CERTAIN = {"core", "memory", "repeated"}  # verdicts of which one is enough
_ONCE = 2  # so many findings on a core that did not repeat are a core to be drained


@dataclass(frozen=True)
class Analysis:
    """`open`: findings since the last `--clear`. `lost`: passes that ended with the machine or by SIGKILL."""

    passes: int
    lost: list[Event]
    sums: list[Event]
    yielded: list[Event]
    findings: list[Event]
    open: list[Event]
    runs: list[Event]
    damaged: int

    @property
    def rounds(self) -> int:
        return sum(row["rounds"] for row in self.sums)

    @property
    def seconds(self) -> float:
        return sum(row["seconds"] for row in self.sums)

    def cores(self) -> list[int]:
        return sorted({row["core"] for row in self.sums} | {f["core"] for f in self.findings})

    def kernels(self) -> list[str]:
        return list(dict.fromkeys(row["kernel"] for row in self.sums))


def analyse(history: History) -> Analysis:
    runs = history.of("run")
    all_runs = [*history.of("folded"), *runs]
    findings = _judged(history)
    cleared = max((i for i, e in enumerate(history.events) if e["event"] == "cleared"), default=-1)
    recent = {id(e) for e in history.events[cleared + 1 :]}
    return Analysis(
        sum(e.get("passes", 1) for e in all_runs),
        [e for e in runs if e.get("ended_by") == "lost"],
        added(e.get("sums", []) for e in all_runs),
        added_by(("core",), (e.get("yielded", []) for e in all_runs)),
        findings,
        [f for f in findings if id(f) in recent],
        runs,
        history.damaged,
    )


def _judged(history: History) -> list[Event]:
    """Findings, and suspects for whose verdict there was no time: the machine went down first."""
    found = history.of("finding")
    told = {(f.get("run"), f.get("id")) for f in found}
    for event in history.of("suspect"):
        if (event.get("run"), event.get("id")) not in told:
            event["verdict"] = "not judged"
            found.append(event)
    return found


def reason(whole: Analysis) -> str | None:
    """Why no jobs should run here, in one line; None where nothing speaks against it."""
    for finding in whole.open:
        if finding["verdict"] in CERTAIN:
            return described(finding)
    times = Counter(f["core"] for f in whole.open if f["verdict"] in ("not repeated", "not judged"))
    for core, count in times.most_common(1):
        if count >= _ONCE:
            return f"core {core}: {count} wrong answers that did not repeat"
    return None


def described(finding: Event) -> str:
    """A finding in one line: what a drained node shows as its reason."""
    what = finding.get("what") or "wrong answer"
    where = f"core {finding['core']}"
    if finding["verdict"] == "memory":
        where = f"memory at {finding['physical']}" if finding.get("physical") else "memory"
    replay = f", {finding['replay']}" if finding.get("replay") else ""
    return f"{where}: {what} of {finding['kernel']} ({finding['verdict']}{replay})"


def document(whole: Analysis, host: str) -> dict[str, Any]:
    """As JSON."""
    return {
        "schema": SCHEMA,
        "host": host,
        "passes": whole.passes,
        "passes_lost": len(whole.lost),
        "rounds": whole.rounds,
        "seconds": whole.seconds,
        "sums": whole.sums,
        "yielded": whole.yielded,
        "findings": whole.findings,
        "open": len(whole.open),
        "drain": reason(whole),
    }
