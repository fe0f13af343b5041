"""A finding: what was read or measured about this machine that costs its user something, and what to do about
it.

A finding exists only where a fact or a sample supports it. Each says what it is, the evidence, the
consequence and a remedy that can be pasted.
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
