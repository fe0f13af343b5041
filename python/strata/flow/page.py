"""Reports of a run and of a study of uncertainty, as documents that `strata.report` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strata.flow import figures, rotor, wake
from strata.flow.slices import Slice
from strata.flow.surface import Curve, Surface
from strata.flow.uncertainty import NAMES, Study, with_uncertainty
from strata.report.document import Block, Document, Plot, Points, Section, Table, Text, Tile, Tiles, numbered
from strata.run.series import Series

_OF_ROTOR = {"thrust": "CT", "power": "CP"}


def of_run(
    run: Path,
    result: dict[str, Any],
    rows: Series,
    walls: Surface | None,
    beside: Sequence[Curve],
    command: str,
    slices: Sequence[Slice] = (),
) -> Document:
    """Forces, Cp and Cf beside recorded curves, sections of a rotor's blades, vortices, convergence."""
    found = {each["name"]: each for each in result.get("figures", [])}
    names = {name: short for name, short in {**_OF_ROTOR, **NAMES}.items() if name in rows}
    shown = [
        Tile(short, f"{rows[name][-1]:.5g}", "", f"after {rows['step'][-1]} iterations")
        for name, short in names.items()
    ]
    table = [[name, f"{each['value']:.6g}"] for name, each in found.items()]
    overview: list[Block] = [Tiles(shown), Table(("Figure", "Value"), table, frozenset({1}))]
    sections = [Section("overview", "At a glance", overview)]
    if walls is not None:
        blocks: list[Block] = [Plot("cp", "Pressure", figures.pressure("cp", walls, _of("cp", beside)))]
        if walls.cf.any():  # there is none without viscosity
            blocks.append(Plot("cf", "Friction", figures.friction("cf", walls, _of("cf", beside))))
            blocks.append(
                Text(f"y+ of first cells: {walls['yplus'].min():.3g} to {walls['yplus'].max():.3g}.")
            )
        sections.append(Section("walls", "Walls", blocks))
    sections += _of_rotor(result, _of("cl", beside))
    sections += _of_vortices(result, walls, slices)
    iterations: list[Block] = [Plot("residuals", "Residuals", figures.convergence("residuals", rows))]
    for name, short in names.items():
        if rows[name][-1] != 0:
            iterations.append(Plot(name, short, figures.coefficient(name, rows, name)))
    sections.append(Section("iterations", "Iteration", [*iterations, Text(f"Made by `{command}`.")]))
    facts = [("Run", str(run)), ("Iterations", str(rows["step"][-1]))]
    return Document(run.resolve().name, "Compressible flow", facts, None, numbered(sections))


def _of_rotor(result: dict[str, Any], beside: Sequence[Curve]) -> list[Section]:
    stations = rotor.sections(result)
    if not stations:
        return []
    blocks: list[Block] = [
        Plot("sections", "Lift of sections", figures.sections("sections", stations, beside))
    ]
    for curve in beside:
        rows = rotor.beside(stations, curve)
        blocks.append(Table(("r / R", "This run", curve.name, "Off"), rows, frozenset(range(4))))
    return [Section("sections", "Sections of the blades", blocks)]


def _of_vortices(result: dict[str, Any], walls: Surface | None, slices: Sequence[Slice]) -> list[Section]:
    turning = rotor.of_result(result)
    blocks: list[Block] = []
    for cut in wake.drawn(slices, turning):
        key = f"vortices-{cut.name.replace('.', '_')}"
        if cut.kind == "q":
            title, svg = f"Surface Q = {cut.value:g}", wake.surface(key, cut, walls, turning)
        else:
            where = "azimuth" if cut.kind == "azimuth" else cut.kind
            unit = " degrees" if cut.kind == "azimuth" else ""
            title, svg = f"Q criterion, {where} = {cut.value:g}{unit}", wake.plane(key, cut, turning)
        blocks.append(Plot(key, title, svg, wide=True))
    if not blocks:
        return []
    says = (
        "Q = (|Omega|^2 - |S|^2) / 2 is above 0 where a fluid turns more than it is sheared (Hunt et al. "
        "1988)."
    )
    return [Section("vortices", "Vortices", [*blocks, Text(says)])]


def _of(quantity: str, curves: Sequence[Curve]) -> list[Curve]:
    return [curve for curve in curves if curve.quantity == quantity]


_METHOD = Points(
    [
        "Grid: least squares of phi0 + a h^p; 1.25 or 3 times the distance to the limit (Eça and "
        "Hoekstra, J. Comput. Phys. 262 (2014) 104).",
        "Iteration: what a geometric series has still to come (Eça and Hoekstra, Comput. Fluids 38 "
        "(2009) 1580). It adds to the grid's.",
        "Far field: the change on the second grid where it is twice as far away. It is independent of "
        "both: squares are added.",
        "Overlap: the change on the second grid where meshes that overlap do so elsewhere "
        "(overset.fringe and overset.lean). Its square is added too.",
    ]
)


def _coefficients(found: Study) -> Table:
    rows = []
    for one in found.coefficients:
        rows.append(
            [
                NAMES[one.name],
                f"{one.value:.6g}",
                f"{one.uncertainty:.2g}",
                f"{one.grid:.2g}",
                f"{one.iteration:.2g}",
                "not tried" if one.far_field is None else f"{one.far_field:.2g}",
                "none" if one.overlap is None else f"{one.overlap:.2g}",
                "none" if one.refined.order is None else f"{one.refined.order:.2f}",
                f"{one.refined.limit:.6g}",
            ]
        )
    head = ("", "Value", "Uncertainty", "Grid", "Iteration", "Far field", "Overlap", "Order", "Limit")
    return Table(head, rows, frozenset(range(1, 9)))


def of_study(found: Study, command: str) -> Document:
    """Coefficients with their intervals, and the grids they come from."""
    tiles = [
        Tile(
            NAMES[one.name],
            with_uncertainty(one.value, one.uncertainty).replace("+-", "±"),
            "",
            "95 %, by Eça and Hoekstra",
        )
        for one in found.coefficients
    ]
    blocks: list[Block] = [Tiles(tiles), _coefficients(found)]
    blocks.append(Points([*found.said, "Layout: 0, the same bits on every one."]))
    plots: list[Block] = []
    for one in found.coefficients:
        key = f"grids-{one.name}"
        plots.append(
            Plot(key, NAMES[one.name], figures.grids(key, one.refined, NAMES[one.name], one.uncertainty))
        )
    table = [
        [f"{g.width:g}", *(f"{g.values[one.name]:.6g}" for one in found.coefficients), str(g.folder)]
        for g in found.grids
    ]
    plots.append(Table(("Width", *(NAMES[o.name] for o in found.coefficients), "Run"), table))
    return Document(
        found.case.stem,
        "Compressible flow: uncertainty",
        [("Case", str(found.case))],
        None,
        numbered(
            [
                Section("overview", "At a glance", blocks),
                Section("grids", "Series of grids", plots),
                Section("method", "Method", [_METHOD, Text(f"Made by `{command}`.")]),
            ]
        ),
    )
