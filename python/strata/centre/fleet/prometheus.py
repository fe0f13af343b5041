"""The fleet as metrics for Prometheus' node exporter (its textfile collector)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from strata.centre.fleet.analysis import Analysis


def metrics(whole: Analysis) -> str:
    """Text in Prometheus' exposition format 0.0.4."""
    return "\n".join(_lines(whole)) + "\n"


def _lines(whole: Analysis) -> Iterator[str]:
    fleet = whole.fleet
    for name, help_text, value in (
        ("nodes", "Nodes of the fleet.", len(fleet.nodes)),
        ("suspects", "Nodes that are suspects.", len(whole.suspects)),
        ("again", "Nodes to be measured again.", len(whole.again)),
        ("silent", "Nodes that were to be measured and left no file.", len(whole.silent)),
    ):
        yield from _head(f"strata_fleet_{name}", help_text)
        yield f"strata_fleet_{name} {value}"
    yield from _head("strata_fleet_suspect", "1 for a suspect; cause in words.")
    for suspect in whole.suspects:
        yield f"strata_fleet_suspect{{node={_quoted(suspect.name)},cause={_quoted(suspect.cause)}}} 1"
    yield from _head("strata_fleet_slow_ratio", "How much slower than the fleet: 0.12 for 12 %, worst part.")
    for column, figure in enumerate(fleet.figures):
        for node, level in zip(fleet.nodes, whole.levels[:, column], strict=True):
            if np.isfinite(level):
                labels = f"{{node={_quoted(node)},figure={_quoted(figure)}}}"
                yield f"strata_fleet_slow_ratio{labels} {-np.expm1(-level):.4f}"
    yield from _head("strata_fleet_measured_seconds", "When a node was measured last, in seconds since 1970.")
    for node, run in zip(fleet.nodes, fleet.newest(), strict=True):
        yield f"strata_fleet_measured_seconds{{node={_quoted(node)}}} {fleet.time[run]:.0f}"


def _head(name: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'
