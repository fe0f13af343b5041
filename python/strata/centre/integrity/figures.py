"""The plot of an integrity report: CPU time by core and kernel, with crosses where answers were wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from strata.centre.integrity.history import Event
from strata.report.figures.theme import INK, SERIES, canvas, finish

_LABELS = 32  # cores with a label of their own


def coverage(
    key: str,
    cores: Sequence[int],
    kernels: Sequence[str],
    cell: Mapping[tuple[int, str], Event],
    findings: Sequence[Event],
) -> str:
    """A square for each core and kernel, darker the longer it was tested."""
    hours = np.array(
        [[cell[c, k]["seconds"] / 60 if (c, k) in cell else 0.0 for c in cores] for k in kernels]
    )
    with canvas(7.4, 1.2 + 0.26 * len(kernels)) as (figure, axes):
        top = max(float(hours.max()), 1e-9)
        image = axes.pcolormesh(
            np.arange(len(cores) + 1), np.arange(len(kernels) + 1), hours, cmap="Blues", vmin=0, vmax=top
        )
        wrong = {
            (cores.index(f["core"]) + 0.5, kernels.index(f["kernel"]) + 0.5)
            for f in findings
            if f["kernel"] in kernels
        }
        if wrong:
            x, y = zip(*sorted(wrong), strict=True)
            axes.plot(x, y, "x", color=SERIES[4], markersize=8, markeredgewidth=2)
        step = max(1, -(-len(cores) // _LABELS))
        axes.set_xticks(np.arange(len(cores))[::step] + 0.5, [str(c) for c in cores[::step]])
        axes.set_yticks(np.arange(len(kernels)) + 0.5, kernels)
        axes.invert_yaxis()
        axes.set_xlabel("core")
        axes.grid(False)
        bar = figure.colorbar(image, ax=axes, shrink=0.9)
        bar.set_label("minutes", color=INK)
        return finish(figure, key)
