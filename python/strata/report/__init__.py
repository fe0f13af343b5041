"""The page made from a summary: `build(summary, out)` writes report.html, report.md and figures/."""

from strata.report.build import build

__all__ = ["build"]
