"""Findings: what was read or measured about this machine that costs its user something, and what to do about
it.

A finding exists only where a fact or a sample supports it. Each says what it is, the evidence, the
consequence and a remedy that can be pasted. `checks_system` looks at the machine document alone,
`checks_samples` at the summary as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from strata.advice.samples import Machine, Summary

SEVERITIES = ("problem", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """severity: 'problem' costs a factor or makes figures wrong, 'warning' costs per cents or may, 'note' is
    good to know.
    """

    severity: str
    what: str
    evidence: str
    consequence: str
    remedy: str
    code: str = ""

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


Check = Callable[[Machine, Summary | None], Iterable[Finding]]


def findings(machine: Machine, summary: Summary | None = None) -> list[Finding]:
    """All findings, the costly ones first; within one severity in the order of the checks."""
    from strata.advice import checks_samples, checks_system

    found = [f for check in (*checks_system.CHECKS, *checks_samples.CHECKS) for f in check(machine, summary)]
    return sorted(found, key=lambda f: SEVERITIES.index(f.severity))
