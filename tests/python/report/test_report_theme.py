"""A claim about how plots become SVG."""

from __future__ import annotations

import io

import matplotlib
import numpy as np

from strata.report.figures import theme


def test_a_plot_is_what_matplotlib_itself_would_save() -> None:
    def drawn(figure: matplotlib.figure.Figure, axes: list) -> None:
        for axis in axes:
            axis.plot(np.arange(5), [1, 1e4, 3, 2, 9], "o-", label="a line")
            axis.set_ylabel("a name")
        figure.legend(loc="outside upper left")

    with theme.canvas(ncols=2) as (figure, axes):
        drawn(figure, axes)
        found = theme.finish(figure, "key")
    with theme.canvas(ncols=2) as (figure, axes):
        drawn(figure, axes)
        out = io.StringIO()
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        with matplotlib.rc_context({**theme._SETTINGS, "svg.hashsalt": "key"}):
            figure.savefig(out, format="svg", metadata=metadata)
    assert found == theme._tidy(out.getvalue(), "key")
