"""All findings about a machine: `checks_system` looks at the machine document alone, `checks_samples` at the
summary as well.
"""

from __future__ import annotations

from strata.advice import checks_samples, checks_system
from strata.advice.finding import SEVERITIES, Finding
from strata.advice.samples import Machine, Summary


def findings(machine: Machine, summary: Summary | None = None) -> list[Finding]:
    """All findings, the costly ones first; within one severity in the order of the checks."""
    found = [f for check in (*checks_system.CHECKS, *checks_samples.CHECKS) for f in check(machine, summary)]
    return sorted(found, key=lambda f: SEVERITIES.index(f.severity))
