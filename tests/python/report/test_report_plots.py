"""Plots of the report, read back from their drawings: curves, dots and numbers stand where the summary's
figures are, under the names and in the colours that belong to them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from drawn_plots import Axes, read
from synthetic_summaries import SUMMARIES

from strata.report.document import Plot
from strata.report.sections.compute import compute, noise, roofline_section
from strata.report.sections.memory import memory
from strata.report.source import Source

CLOSE = 1e-3  # relative: coordinates have six decimals, ticks stand at round numbers
NAMES = ("two-cores", "eight-domains", "hybrid")  # of the last no figure has an interval


@cache
def plots(name: str) -> dict[str, str]:
    source = Source(SUMMARIES[name]())
    sections = [memory(source), compute(source), noise(source), roofline_section(source)]
    return {each.key: each.svg for section in sections for each in section.blocks if isinstance(each, Plot)}


def task(name: str, benchmark: str, layout: str, bind: str = "core", stride: int = 1) -> dict[str, Any]:
    (found,) = [
        each
        for each in SUMMARIES[name]()["tasks"]
        if (each["benchmark"], each["layout"], each["bind"], each["stride"])
        == (benchmark, layout, bind, stride)
    ]
    return found


def cores(name: str) -> int:
    return len(SUMMARIES[name]()["machine"]["cores"])


def shown(value: float) -> str:
    """Three digits or all before the point, thousands apart."""
    return (
        f"{value:.3g}"
        if value < 1000
        else f"{value:.0f}"
        if value < 10_000
        else f"{value:,.0f}".replace(",", "\u2009")
    )


def near(found: np.ndarray, given: Any) -> None:
    assert np.shape(found) == np.shape(given)
    assert found == pytest.approx(np.array(given, dtype=float), rel=CLOSE)


def band(axes: Axes, colour: str, log: tuple[bool, bool]) -> dict[float, tuple[float, float]]:
    """Lowest and highest of a band at each x."""
    ends: dict[float, tuple[float, float]] = {}
    for x, y in axes.values(axes.bands[colour], log):
        low, high = ends.get(round(float(np.log2(x)), 3), (y, y))
        ends[round(float(np.log2(x)), 3)] = (min(low, y), max(high, y))
    return ends


@pytest.mark.parametrize("name", NAMES)
def test_curves_of_latency_are_the_summarys_with_their_bands_and_cache_sizes(name: str) -> None:
    (axes,) = read(plots(name)["latency"])
    log = (True, True)
    given = task(name, "latency", "1x1")["curves"]
    assert set(axes.legend) == {curve["name"] for curve in given}
    for curve in given:
        colour = axes.legend[curve["name"]]
        (line,) = [each for each in axes.lines if each.colour == colour]
        points = [point[:2] for point in curve["points"]]
        near(axes.values(line.path, log), points)
        if curve["points"][0][2] is None:
            assert colour not in axes.bands
            continue
        ends = band(axes, colour, log)
        assert len(ends) == len(points)
        for x, _, low, high in curve["points"]:
            assert ends[round(float(np.log2(x)), 3)] == pytest.approx((low, high), rel=CLOSE)
    machine = SUMMARIES[name]()["machine"]
    own = {
        f"L{c['level']}": c["size_bytes"]
        for c in machine["caches"]
        if 0 in c["cores"] and c["type"] != "instruction"
    }
    said = {text.split()[0]: float(axes.of("x", x, True)) for x, _, text in axes.words}
    assert said == pytest.approx(own, rel=CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_the_triad_has_a_point_for_each_number_of_cores_below_its_bound(name: str) -> None:
    (axes,) = read(plots(name)["triad"])
    widths = [2**n for n in range(9) if 2**n < cores(name)] + [cores(name)]
    log = (widths[-1] > 16, False)
    triads = [
        next(f["median"] for f in task(name, "stream", f"1x{n}")["figures"] if f["name"] == "triad")
        for n in widths
    ]
    (points,) = axes.marks(log).values()
    near(points, list(zip(widths, triads, strict=True)))
    bound = task(name, "stream", f"1x{widths[-1]}")["bound"]
    (level,) = [line.path for line in axes.lines if not len(line.marks)]
    near(axes.of("y", level[:, 1], False), [bound["value"]] * 2)
    assert [text for *_, text in axes.words] == [f"{bound['name']} {shown(bound['value'])} GB/s"]


@pytest.mark.parametrize("name", NAMES)
def test_dots_stand_at_medians_in_their_row_between_their_ends_with_their_bound(name: str) -> None:
    (axes,) = read(plots(name)["dgemm-several-cores"])
    every = [
        each
        for each in SUMMARIES[name]()["tasks"]
        if each["benchmark"] == "dgemm" and each["layout"] != "1x1"
    ]
    rows = {text: place for place, text in axes.names["y"]}
    assert len(rows) == len(every) > 2
    dots = [line for line in axes.lines if len(line.marks)]
    spans = [line.path for line in axes.lines if not len(line.marks)]
    high = min(abs(a - b) for a in rows.values() for b in rows.values() if a != b)
    for given in every:
        label = " ".join(
            [f"dgemm {given['layout']}"]
            + (["unbound"] if given["bind"] == "none" else [])
            + ([f"stride {given['stride']}"] if given["stride"] > 1 else [])
        )
        # The text's base line lies below the middle of the row by part of a letter.
        mine = [line for line in dots if 0 <= rows[label] - line.marks[0, 1] < high / 3]
        (figure,) = given["figures"]
        (dot,) = mine
        assert float(axes.of("x", dot.marks[0, 0], False)) == pytest.approx(figure["median"], rel=CLOSE)
        y = dot.marks[0, 1]
        (number,) = [text for _, at, text in axes.words if 0 < y - at < high / 2]
        assert float(number.replace("\u2009", "")) == pytest.approx(figure["median"], rel=6e-3)
        flat = [path for path in spans if np.abs(path[:, 1] - y).max() < 1e-3]
        if figure["low"] is None:
            assert flat == []
        else:
            near(axes.of("x", flat[0][:, 0], False), [figure["low"], figure["high"]])
        upright = [
            path for path in spans if np.ptp(path[:, 0]) < 1e-3 and path[:, 1].min() < y < path[:, 1].max()
        ]
        bounds = [float(axes.of("x", path[0, 0], False)) for path in upright]
        assert bounds == pytest.approx([given["bound"]["value"]] if given["bound"] else [], rel=CLOSE)


@pytest.mark.parametrize("name", ["eight-domains"])
def test_each_number_of_a_matrix_stands_in_its_row_and_column(name: str) -> None:
    domains = len(SUMMARIES[name]()["machine"]["domains"])
    given = next(each for each in SUMMARIES[name]()["tasks"] if each["benchmark"] == "domains")["matrices"]
    for n, matrix in enumerate(given):
        axes = read(plots(name)[f"domains-{n}"])[0]
        assert len(axes.words) == domains**2
        columns = [next(x for x, text in axes.names["x"] if text == str(c)) for c in matrix["columns"]]
        rows = [next(y for y, text in axes.names["y"] if text == str(r)) for r in matrix["rows"]]
        found = np.full((domains, domains), np.nan)
        for x, y, text in axes.words:
            i = int(np.argmin(np.abs(np.array(rows) - y)))
            j = int(np.argmin(np.abs(np.array(columns) - x)))
            assert np.isnan(found[i, j])
            found[i, j] = float(text.replace("\u2009", ""))
        assert found == pytest.approx(np.array(matrix["values"]), rel=6e-3)
        assert not np.allclose(found, found.T, rtol=1e-2) or matrix["name"] == "latency"


@pytest.mark.parametrize("name", NAMES)
def test_noise_has_a_dot_for_each_core_and_names_the_noisiest(name: str) -> None:
    curve = next(c for c in task(name, "noise", "1x1")["curves"] if c["name"] == "lost to other work")
    (axes,) = read(plots(name)["noise-0"])
    (points,) = axes.marks((False, False)).values()
    # The first core is at 0: there is no relative distance.
    assert points[:, 0] == pytest.approx([p[0] for p in curve["points"]], abs=1e-3 * cores(name))
    near(points[:, 1], [p[1] for p in curve["points"]])
    worst = max(curve["points"], key=lambda point: point[1])
    assert f"core {worst[0]:g}" in [text for *_, text in axes.words]


@pytest.mark.parametrize("name", NAMES)
def test_the_roofline_stands_on_the_measured_peak_and_bandwidth(name: str) -> None:
    """Its slopes are bandwidths, they end at the peak, and benchmarks are at their intensity and rate."""
    (axes,) = read(plots(name)["roofline"])
    log = (True, True)
    width = cores(name)
    (peak,) = [figure["median"] for figure in task(name, "peak", f"1x{width}")["figures"]]
    stream = task(name, "stream", f"1x{width}")["figures"]
    triad = next(figure["median"] for figure in stream if figure["name"] == "triad")
    for label, colour in axes.legend.items():
        (line,) = [each for each in axes.lines if each.colour == colour and len(each.path)]
        (left, low), (knee, top) = axes.values(line.path, log)
        said = float(label.rpartition(": ")[2].removesuffix(" GB/s").replace("\u2009", ""))
        assert low / left == pytest.approx(said, rel=6e-3) and top / knee == pytest.approx(said, rel=6e-3)
        assert top == pytest.approx(peak, rel=CLOSE)
        if label.startswith("memory (triad)"):
            assert low / left == pytest.approx(triad, rel=CLOSE)
    caches = [label.split(":")[0] for label in axes.legend if not label.startswith("memory")]
    assert caches and all(cache in ("L1", "L2", "L3") for cache in caches)
    (roof,) = [each.path for each in axes.lines if each.colour == "ink" and len(each.path)]
    near(axes.values(roof, log)[:, 1], [peak, peak])
    (rate,) = [figure["median"] for figure in task(name, "dgemm", f"1x{width}")["figures"]]
    placed = np.concatenate([axes.values(each.marks, log) for each in axes.lines if len(each.marks)])
    order = 2000  # the fixture's: 2 n^3 flop on 32 n^2 bytes; a triad does 2 flop on 24 bytes
    near(placed[:2], [[2 / 24, triad * 2 / 24], [order / 16, rate]])
    words = [text for *_, text in axes.words]
    assert words[:3] == [f"measured peak {shown(peak)} GF/s", "STREAM triad", "DGEMM"]
