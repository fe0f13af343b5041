"""The report of an analysis, as a document that `strata.report` writes as HTML and Markdown."""

from __future__ import annotations

from strata.md import figures
from strata.md.analysis import JUDGED, Analysis
from strata.report.document import (
    Block,
    Document,
    Plot,
    Points,
    Section,
    Table,
    Text,
    Tile,
    Tiles,
    numbered,
)


def document(found: Analysis, command: str) -> Document:
    """The whole report; `command` is what makes it again."""
    sections = [_first(found), _series(found)]
    if found.radial:
        sections.append(_radial(found))
    if found.displacement:
        sections.append(_diffusion(found))
    if found.viscosity is not None:
        sections.append(_viscosity(found))
    if found.slab is not None:
        sections.append(_slab(found))
    sections.append(_method(found, command))
    facts = [
        ("Run", str(found.asked.run)),
        ("Steps", f"{found.thermo['step'][-1]}"),
        ("Units", found.units.name),
    ]
    if found.atoms is not None:
        facts.append(("Atoms", f"{found.atoms:,}"))
    name = found.asked.run.resolve().name
    return Document(name, "Molecular dynamics: analysis", facts, None, numbered(sections))


def with_error(value: float, error: float) -> str:
    """0.8123 and 0.0042 as 0.812(4): the error counts in the last digit; two where it begins with 1."""
    if not error > 0:
        return f"{value:.6g}"
    digits = 1 if float(f"{error:.0e}") >= 2 * 10 ** _power(error) else 2
    places = digits - 1 - _power(error)
    scaled = round(error * 10.0**places)
    if places <= 0:
        return f"{round(value, places):.0f}({round(scaled * 10.0**-places)})"
    return f"{value:.{places}f}({scaled})"


def _power(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def _first(found: Analysis) -> Section:
    tiles = []
    u = found.units
    for name in ("temperature", "pressure"):
        if name in found.averages:
            one = found.averages[name]
            low, high = one.interval()
            tiles.append(
                Tile(name.capitalize(), f"{one.mean:.5g}", found.thermo.units[name], _between(low, high))
            )
    for name, d in found.diffusion.items():
        label = "Diffusion" if name == "all" else f"Diffusion of {name}"
        tiles.append(Tile(label, f"{d.value:.4g}", f"{u.length}²/{u.time}", _between(*d.interval())))
    if (eta := found.viscosity) is not None:
        tiles.append(
            Tile("Viscosity", f"{eta.value:.4g}", f"{u.pressure} {u.time}", _between(*eta.interval()))
        )
    if (slab := found.slab) is not None:
        for label, value, error in (
            ("Liquid", slab.liquid, slab.liquid_error),
            ("Vapour", slab.vapour, slab.vapour_error),
        ):
            tiles.append(Tile(label, f"{value:.4g}", f"1/{u.length}³", f"standard error {error:.1g}"))
    blocks: list[Block] = [Tiles(tiles[:6])] if tiles else []
    rows = []
    for name, one in found.averages.items():
        low, high = one.interval()
        rows.append(
            [
                name,
                with_error(one.mean, one.error),
                found.thermo.units[name],
                f"{low:.6g} to {high:.6g}",
                f"{one.inefficiency:.1f}",
                "yes" if one.settled else "no: a lower bound",
            ]
        )
    head = ("Quantity", "Mean (error)", "Unit", "95 %", "Rows that count as one", "Error settled")
    blocks.append(Table(head, rows, frozenset({1, 3, 4})))
    if found.drift is not None:
        value, error = found.drift
        per = f", {value / found.atoms:.2g} for each atom" if found.atoms else ""
        blocks.append(
            Text(f"Drift of the conserved energy: {value:.3g} ± {error:.1g} {u.energy}/{u.time}{per}.")
        )
    if found.said:
        blocks.append(Points(found.said))
    return Section("overview", "At a glance", blocks)


def _between(low: float, high: float) -> str:
    return f"95 %: {low:.4g} to {high:.4g}"


def _series(found: Analysis) -> Section:
    how = "as asked" if found.asked.begin is not None else "detected"
    blocks: list[Block] = [Text(f"Values count from step {found.begin} on ({how}).")]
    shown = [name for name in (*JUDGED, "total energy") if name in found.averages][:5]
    for i, name in enumerate(shown):
        blocks.append(
            Plot(f"series-{i + 1}", name.capitalize(), figures.series(f"series-{i + 1}", found, name))
        )
    blocks.append(
        Plot(
            "blocks",
            "Errors by blocks",
            figures.blocks("blocks", found, shown[:3]),
            "Against the error as if rows were independent. Dashed: what is taken.",
        )
    )
    return Section("series", "Over time", blocks)


def _radial(found: Analysis) -> Section:
    rows = []
    for name, one in found.radial.items():
        r, height = one.peak()
        rows.append([name, f"{r:.3f}", f"{height:.3f}", str(one.frames)])
    return Section(
        "radial",
        "Radial distribution",
        [
            Plot("radial", "g(r)", figures.radial("radial", found), "Band: twice the standard error."),
            Table(
                ("Pairs", f"Peak at, {found.units.length}", "g there", "Frames"), rows, frozenset({1, 2, 3})
            ),
        ],
    )


def _diffusion(found: Analysis) -> Section:
    u = found.units
    rows = []
    for name, d in found.diffusion.items():
        si = f"{d.value * u.metre**2 / u.second:.3g} m²/s" if u.second else ""
        rows.append(
            [name, with_error(d.value, d.error), si, f"{d.begin:.3g} to {d.end:.3g}", f"{d.power:.2f}"]
        )
    head = ("Atoms", f"D (error), {u.length}²/{u.time}", "", f"Slope between, {u.time}", "Power of time")
    return Section(
        "diffusion",
        "Diffusion",
        [
            Plot(
                "displacement",
                "Mean squared displacement",
                figures.displacement("displacement", found),
                "Dashed: the line whose slope is 6 D.",
            ),
            Table(head, rows, frozenset({1, 3, 4})),
            Text(
                "In a periodic cube of edge L, D is smaller than in an infinite system by "
                "2.837 k T / (6 π η L) (Yeh and Hummer 2004); the table has it as it is."
            ),
        ],
    )


def _viscosity(found: Analysis) -> Section:
    eta, u = found.viscosity, found.units
    assert eta is not None
    si = f", {eta.value * u.pascal * u.second:.3g} Pa s" if u.pascal else ""
    return Section(
        "viscosity",
        "Viscosity",
        [
            Plot(
                "green-kubo",
                "Green-Kubo",
                figures.green_kubo("green-kubo", found),
                "Bands: twice the standard error over parts of the series. Dotted: where the integral ends.",
                wide=True,
            ),
            Text(
                f"{with_error(eta.value, eta.error)} {u.pressure} {u.time}{si}: the integral up to "
                f"{eta.cutoff:.3g} {u.time}, where the correlation is first less than its error. "
                "`--cutoff` takes another end."
            ),
        ],
    )


def _slab(found: Analysis) -> Section:
    slab, u = found.slab, found.units
    assert slab is not None
    return Section(
        "slab",
        "Liquid and vapour",
        [
            Plot("slab", "Density across the slab", figures.slab("slab", found)),
            Text(
                f"Liquid {with_error(slab.liquid, slab.liquid_error)}, vapour "
                f"{with_error(slab.vapour, slab.vapour_error)} 1/{u.length}³; the interface is "
                f"{slab.thickness:.3g} {u.length} thick."
            ),
        ],
    )


def _method(found: Analysis, command: str) -> Section:
    points = [
        "Errors of means: blocks (Flyvbjerg and Petersen 1989), their length by Jonsson's test (2018). "
        "Intervals by Student's distribution.",
        "Equilibrium: the start that leaves most independent values (Chodera 2016), the latest of all "
        "quantities that are judged.",
        "g(r): pairs counted in shells, against N (N - 1) / V; errors over ten blocks of frames.",
        "Diffusion: Einstein's relation; errors over eight groups of origins.",
        "Viscosity: Green-Kubo over the traceless pressure tensor (Daivis and Evans 1994), errors over ten "
        "parts of the series.",
    ]
    if found.trajectory is not None:
        points.append(f"Trajectory: `{found.trajectory}`.")
    return Section("method", "Method", [Points(points), Text(f"Made by `{command}`.")])
