"""The patch-size study of the Uintah paper (McCorquodale et al. 2001, Figures 3 and 4).

    python cases/mpm/patch_size.py --layout 1x1
    python cases/mpm/patch_size.py --layout 1x2 --csv patches.csv

A bar under tension on 100 patches, with 8 to 7200 points a patch in eleven runs: points updated a second,
in all and in task code alone (Figure 3), and the share of time that is not task code (Figure 4). Takes
about half a minute. STRATA_BIN names the strata to use, else the one on PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PATCHES = (5, 5, 4)
# Cells of a patch, eight points in each: 8 to 7200 points.
SIZES = (
    (1, 1, 1),
    (2, 2, 2),
    (3, 3, 3),
    (4, 4, 4),
    (5, 5, 5),
    (5, 6, 6),
    (6, 6, 6),
    (7, 7, 7),
    (8, 8, 8),
    (9, 9, 9),
    (9, 10, 10),
)
SPACING, WAVE_SPEED, CFL = 0.04, 110.63, 0.4
CASE = """solver = "mpm"
[grid]
cells = {cells}
patch = {patch}
size = {size}
[method]
shape = "linear"
flip = 1.0
[materials]
law = ["mooney-rivlin"]
density = [1000.0]
c1 = [1e5]
c2 = [2e4]
poisson = [0.49]
[bodies]
shapes = ["box 0 0 0 {box}"]
[loads]
pull = 100.0
[time]
end = {end}
cfl = {cfl}
[verify]
energy = 10.0  # what it costs is measured, not what it gives
"""


def measure(strata: str, layout: str, patch: tuple[int, int, int], folder: Path) -> dict[str, float]:
    """One run: points a patch, million points a second in all and in task code, share of the runtime."""
    points = 8 * patch[0] * patch[1] * patch[2]
    count = PATCHES[0] * PATCHES[1] * PATCHES[2]
    steps = max(20, min(1500, 2_500_000 // (count * points)))
    cells = [n * p for n, p in zip(patch, PATCHES, strict=True)]
    size = [SPACING * n for n in cells]
    case = folder / "case.toml"
    box = " ".join(map(repr, size))
    end = steps * CFL * SPACING / WAVE_SPEED
    case.write_text(CASE.format(cells=cells, patch=list(patch), size=size, box=box, end=end, cfl=CFL))
    out = folder / f"points-{points}"
    words = ["run", case, "--layout", layout, "--out", out, "--quiet", "--profile", "--series", 0]
    done = subprocess.run([strata, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    profile = json.loads((out / "profile.json").read_text())
    calls = next(row["calls"] for row in profile["rows"] if row["name"] == "M2G")
    updates = calls * points / 1e6
    return {
        "points a patch": points,
        "Mpoint/s": updates / profile["wall_seconds"],
        "Mpoint/s and thread in task code": updates / profile["task_seconds"],
        "runtime share %": 100 * profile["runtime_share"],
    }


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--layout", default="1x1", help="processes x threads (default: 1x1)")
    arguments.add_argument("--csv", type=Path, help="also write the table to this file")
    given = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for patch in SIZES:
            row = measure(os.environ.get("STRATA_BIN", "strata"), given.layout, patch, Path(folder))
            rows.append(row)
            if len(rows) == 1:
                print("".join(f"{name:>34}" for name in row))
            print("".join(f"{value:>34.4g}" for value in row.values()), flush=True)
    if given.csv:
        lines = [",".join(rows[0]), *(",".join(f"{v:.6g}" for v in row.values()) for row in rows)]
        given.csv.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
