"""Claims about how plots become SVG."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from drawn_plots import SVG

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


def test_no_settings_of_the_current_folder_count(tmp_path: Path) -> None:
    def drawn() -> str:
        with theme.canvas() as (figure, axis):
            axis.plot([1, 2], [3, 1])
            axis.set_title("a title")
        return theme.finish(figure, "key")

    plain = drawn()
    with matplotlib.rc_context({"text.usetex": True, "lines.dashed_pattern": (1, 1), "axes.ymargin": 0.4}):
        assert drawn() == plain
    os.mkfifo(tmp_path / "matplotlibrc")
    code = "from strata.report.figures import theme\nwith theme.canvas(): print(open('there').read())"
    (tmp_path / "there").write_text("here")
    words = [sys.executable, "-P", "-c", code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "here\n", done.stderr


NAMES = {
    "$": "$",
    "$$x": "$$x",
    r"$\nonsense{$": r"$\nonsense{$",
    r"\$a\$ {b} a_b^c": r"\$a\$ {b} a_b^c",
    "cost $5$": "cost $5$",
    "\x1b[31m\x00\u202e\udcff\uffff": r"\x1b[31m\x00\u202e\udcff\uffff",
    "font: 'DejaVu Sans', id=\"a\" url(#a) #010203 var(--ink)": None,
    "</text><script>&amp;": None,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_as_it_is(name: str) -> None:
    with theme.canvas() as (figure, axes):
        axes.plot([1, 2], [1, 2], label=name)
        axes.set_title(name)
        axes.set_xlabel(name)
        axes.set_xticks([1, 2], [name, "other"])
        axes.annotate(name, (1, 1))
        figure.legend(loc="outside upper left")
        found = theme.finish(figure, "key")
    words = [each.text for each in ET.fromstring(theme.standalone(found)).iter(f"{SVG}text")]
    assert words.count(NAMES[name] or name) == 5


def test_lines_of_a_name_stand_below_each_other() -> None:
    with theme.canvas() as (figure, axes):
        axes.set_title("one $\ntwo $")
        found = theme.finish(figure, "key")
    assert ">one $<" in found and ">two $<" in found


def test_powers_at_ticks_are_plain_text() -> None:
    with theme.canvas() as (figure, axes):
        axes.loglog([1e-3, 1], [2, 5])
        axes.yaxis.set_tick_params(which="minor", labelleft=True)
        found = theme.finish(figure, "key")
    assert ">10⁻³<" in found and ">2 × 10⁰<" in found and "mathdefault" not in found
