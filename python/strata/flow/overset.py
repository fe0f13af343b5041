"""`strata overset check`: what the native program found, as a report with pictures of the meshes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strata import own_folders, paths
from strata.errors import FAILED, StrataError, why
from strata.flow import overset_figures
from strata.flow.overset_cells import Patch, orphans, patches
from strata.measure.files import write_json
from strata.report.build import write
from strata.report.document import Block, Document, Plot, Section, Table, Text, Tile, Tiles, numbered

PROGRAM = "strata-overset"
_LISTED = 200  # orphans of the report's table


def _programs() -> tuple[Path, Path]:
    """The front, and the native program. Raises StrataError where that is not built."""
    front = paths.native().front
    paths.need_programs(front, [PROGRAM])
    program = paths.sibling(front, PROGRAM)
    if program is None:
        raise StrataError(f"{PROGRAM} is not built", remedy="./strata setup", code=FAILED)
    return front, program


def write_map(grid: Path, out: Path | None, more: Sequence[str]) -> int:
    """Writes the neutral map file of a grid (default: beside it, GRID.nmf). Returns the native program's
    exit status. `more`: its options.
    """
    _, program = _programs()
    stem = Path(grid.stem).stem if grid.suffix == ".xz" else grid.stem
    at = out or grid.parent / f"{stem}.nmf"  # also of a folder, of which the program says that it is no grid
    words = [str(program), "--map", str(at), *more, str(grid)]
    sys.stdout.flush()
    return subprocess.run(words, check=False).returncode


def check(grids: Sequence[str], more: Sequence[str], layout: str, out: Path | None, command: str) -> int:
    """Runs the native program under `layout`, writes its report. Returns its exit status: 1 where there are
    more orphans than may be. `more`: its options.
    """
    front, program = _programs()
    name = Path(grids[0]).stem if len(grids) == 1 else "grids"
    folder = out or paths.results_base() / f"overset-{name}"
    if out is None:
        own_folders.need(folder, "results", "--out FOLDER, or STRATA_RESULTS=/a/folder/of/yours")
    try:
        own_folders.make_results(folder)
    except OSError as error:
        raise StrataError("cannot make the folder", at=str(folder), given=why(error), code=FAILED) from None
    cells = folder / "cells"
    shutil.rmtree(cells, ignore_errors=True)  # of another number of processes, perhaps
    words = [str(front), "launch", "--layout", layout, "--", str(program), *grids, *more, "--out", str(cells)]
    sys.stdout.flush()
    status = subprocess.run(words, check=False).returncode
    if not (cells / "check.json").exists():
        return status or FAILED
    found = json.loads((cells / "check.json").read_text(encoding="utf-8"))
    path = write(page(found, list(patches(cells, found)), name, command), folder)
    shutil.rmtree(cells, ignore_errors=True)
    write_json(folder / "check.json", found)
    print(f"report: {path}")
    return status


def page(found: dict[str, Any], all_patches: Sequence[Patch], name: str, command: str) -> Document:
    """The report of a check."""
    zones = found["zones"]
    total = {
        kind: sum(zone[kind] for zone in zones)
        for kind in ("computed", "receptors", "holes", "covered", "orphans")
    }
    cells = sum(total.values())
    allowed = int(found["orphans_allowed"])
    tiles = [
        Tile("Orphans", str(total["orphans"]), "", f"{allowed} may be"),
        Tile("Computed", f"{100 * total['computed'] / cells:.1f}", "%", f"of {cells} cells"),
        Tile("Receptors", str(total["receptors"]), "", "cells that take values from another mesh"),
        Tile("Donors", _ratios(found), "", "their volume over the receptor's, of 9 in 10"),
    ]
    head = ("Zone", "Mesh", "Cells", "Computed", "Receptors", "In walls", "Covered", "Orphans")
    rows = [
        [
            zone["name"] or str(n + 1),
            found["meshes"][zone["mesh"]],
            " x ".join(str(c) for c in zone["cells"]),
            *(str(zone[kind]) for kind in ("computed", "receptors", "holes", "covered", "orphans")),
        ]
        for n, zone in enumerate(zones)
    ]
    overview: list[Block] = [Tiles(tiles), Table(head, rows, frozenset(range(3, 8)))]
    overview.append(
        Text(
            "Covered cells lie where another mesh is better and no computed cell sees them. They are left "
            "out, as cells inside walls are."
        )
    )
    pictures: list[Block] = []
    for key, title, svg in overset_figures.pictures(all_patches, found):
        pictures.append(Plot(key, title, svg, wide=True))
    sections = [
        Section("overview", "At a glance", overview),
        Section("pictures", "Cells", pictures),
        Section("quality", "Quality of cells", [_quality(zones), *_matching(found)]),
    ]
    if lost := orphans(all_patches, zones):
        sections.append(Section("orphans", "Orphans", _orphans(lost)))
    sections[-1].blocks.append(Text(f"Made by `{command}`; {found['seconds']:.3g} s in the native program."))
    attention = f"{total['orphans']} cells have no donor" if total["orphans"] > allowed else None
    facts = [("Meshes", ", ".join(found["meshes"])), ("Better is", f"the smaller {found['better']}")]
    return Document(name, "Meshes that overlap", facts, attention, numbered(sections))


def _quality(zones: Sequence[dict[str, Any]]) -> Table:
    return Table(
        ("Zone", "Aspect", "Skew (degrees)", "Growth"),
        [
            [
                zone["name"] or str(n + 1),
                f"{zone['aspect']:.3g}",
                f"{zone['skew']:.3g}",
                f"{zone['growth']:.3g}",
            ]
            for n, zone in enumerate(zones)
        ],
        frozenset({1, 2, 3}),
        caption="The worst of each zone: longest over shortest edge; largest angle away from a right one; "
        "volume over a neighbour's.",
    )


def _orphans(lost: Sequence[Sequence[int]]) -> list[Block]:
    rows = [[str(n) for n in one] for one in lost[:_LISTED]]
    more = [Text(f"The first {_LISTED} of {len(lost)}.")] if len(lost) > _LISTED else []
    return [Table(("Zone", "i", "j", "k"), rows, frozenset(range(4))), *more]


def _ratios(found: dict[str, Any]) -> str:
    """Between which nine of ten receptors are."""
    if found["least_ratio"] is None or found["greatest_ratio"] is None:
        return "none"
    middle = found["ratio_percentiles"]
    return f"{middle['5']:.2g} to {middle['95']:.2g}"


def _matching(found: dict[str, Any]) -> list[Block]:
    """How far donors and receptors differ in volume."""
    if found["least_ratio"] is None or found["greatest_ratio"] is None:
        return []
    shares = list(found["ratio_percentiles"].items())
    head = ("Least", *(f"{share} % below" for share, _ in shares), "Greatest")
    row = [
        f"{value:.2g}" for value in (found["least_ratio"], *(v for _, v in shares), found["greatest_ratio"])
    ]
    caption = (
        "Volumes of donors over those of their receptors. Meshes match where most of them lie between 0.2 "
        "and 5; what is finer than its donor gets less than it could resolve."
    )
    return [Table(head, [row], frozenset(range(len(head))), caption=caption)]
