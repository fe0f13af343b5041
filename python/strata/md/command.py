"""`strata md`: what was asked, and the report. A notebook calls strata.md.analysis instead."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from strata import own_folders
from strata.errors import StrataError
from strata.md import page
from strata.md.analysis import Asked, analyse, document
from strata.measure.files import storage_error, write_json
from strata.report.build import write
from strata.scripts import visible


def analyse_run(asked: Asked, out: Path | None, as_json: bool, command: str) -> int:
    """Writes the report, or prints the JSON; says where it is."""
    found = analyse(asked, _Progress() if sys.stderr.isatty() else lambda _: None)
    if as_json:
        json.dump(document(found), sys.stdout, indent=1)
        print()
        return 0
    run = asked.run if asked.run.is_dir() else asked.run.parent
    folder = out or run / "analysis"
    if folder.exists() and not folder.is_dir():
        raise StrataError("not a folder", at="--out", given=str(folder), allowed="a folder, made if needed")
    path = write(page.document(found, command), folder)
    try:
        with own_folders.held(folder) as inside:
            write_json(inside / "analysis.json", document(found))
    except OSError as error:
        raise storage_error(error, folder) from error
    for name in ("temperature", "potential energy", "total energy", "pressure"):
        if name in found.averages:
            one = found.averages[name]
            print(f"{name}: {page.with_error(one.mean, one.error)} {found.thermo.units[name]}")
    u = found.units
    for name, d in found.diffusion.items():
        which = "" if name == "all" else f" of {name}"
        print(f"diffusion{visible(which)}: {page.with_error(d.value, d.error)} {u.length}2/{u.time}")
    if (eta := found.viscosity) is not None:
        print(f"viscosity: {page.with_error(eta.value, eta.error)} {u.pressure} {u.time}")
    if (slab := found.slab) is not None:
        print(
            f"liquid {page.with_error(slab.liquid, slab.liquid_error)}, vapour "
            f"{page.with_error(slab.vapour, slab.vapour_error)} 1/{u.length}3"
        )
    for said in found.said:
        print(visible(said))
    print(f"report: {path}")
    return 0


class _Progress:
    """One line on a terminal, ten times a second at most."""

    def __init__(self) -> None:
        self.shown = 0.0

    def __call__(self, text: str) -> None:
        if (now := time.monotonic()) - self.shown > 0.1:
            self.shown = now
            sys.stderr.write(f"\r\x1b[K{text}")
            if "frame " not in text:
                return
            number, _, whole = text.removeprefix("frame ").partition(" of ")
            if number == whole:
                sys.stderr.write("\r\x1b[K")
