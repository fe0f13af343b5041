#!/usr/bin/env python3
"""Errors of a case with an exact solution, and their order, with more and more cells.

cases/mpm/orders.py cases/mpm/manufactured-bar.toml 16 32 64 128
cases/mpm/orders.py cases/mpm/manufactured-cube.toml 8 16 32 --set quadrature=cells --set deformation=backward

Directions in which the case has one cell keep it. --set changes a key that the case has, or adds one to
[method]; a value that is a word needs no quotes.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def changed(text: str, key: str, value: str) -> str:
    """A case's text with another value of a key; a key that it lacks is added to [method]."""
    line = f"{key} = {value}"
    found, times = re.subn(rf"^{re.escape(key)} = .*$", lambda _: line, text, flags=re.MULTILINE)
    return found if times else text.replace("[method]\n", f"[method]\n{line}\n", 1)


def with_cells(text: str, n: int) -> str:
    """The case with n cells in each direction in which it has several."""
    match = re.search(r"^cells = \[(.*)\]", text, flags=re.MULTILINE)
    if match is None:
        sys.exit("orders.py: error: the case has no line 'cells = [nx, ny, nz]'")
    cells = [1 if int(c) == 1 else n for c in match[1].split(",")]
    text = changed(text, "cells", str(cells))
    return changed(text, "patch", str([min(c, 8) for c in cells]))


def error_of(strata: str, text: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        case, out = Path(folder) / "case.toml", Path(folder) / "out"
        case.write_text(changed(text, "error", "1e9"))  # an error is asked for here, not judged
        ended = subprocess.run(
            [strata, "run", case, "--out", out], capture_output=True, text=True, check=False
        )
        if ended.returncode != 0:
            sys.exit(ended.stderr)
        return json.loads((out / "result.json").read_text())["verification"]["value"]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("case", type=Path)
    options.add_argument("cells", type=int, nargs="+")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="amplitude=0.001")
    options.add_argument("--strata", default="strata", help="the command, where it is not on PATH")
    given = options.parse_args()
    text = given.case.read_text()
    for change in given.set:
        key, equals, value = change.partition("=")
        if not equals:
            options.error(f"--set {change}: KEY=VALUE is needed")
        text = changed(text, key.strip(), f'"{value}"' if value.isalpha() else value)
    before: tuple[int, float] | None = None
    for n in given.cells:
        error = error_of(given.strata, with_cells(text, n))
        order = math.log(before[1] / error) / math.log(n / before[0]) if before else None
        shown = "" if order is None else f"  order {order:.2f}"
        print(f"{n:6d} cells  error {error:.3g}{shown}", flush=True)
        before = n, error


if __name__ == "__main__":
    main()
