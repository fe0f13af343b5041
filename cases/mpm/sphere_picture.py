"""The picture of docs/mpm.md: a sphere strikes a block (cases/mpm/sphere.toml), cut through the middle.

    strata run cases/mpm/sphere.toml --layout 1x2 --out run --fields 100
    python cases/mpm/sphere_picture.py run/fields sphere.png

Draws four of the steps that were written, from first to last; the quarter that was computed and its
image. Colours: equivalent plastic strain of the block.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import points_file

SLICE = 0.0005  # m: one cell
SIDE = 0.00025  # m: of a point


def draw(axes, points: dict[str, np.ndarray], most: float):
    """Points of the slice at z = 0 as squares, each side mirrored."""
    near = points["Points"][:, 2] < SLICE / 2
    x, material = points["Points"][near], points["material"][near]
    alpha = points["equivalent plastic strain"][near]
    x = np.concatenate([x, x * [-1, 1, 1]]) * 1e3
    material, alpha = np.tile(material, 2), np.tile(alpha, 2)
    size = (axes.get_window_extent().width * 72 / axes.figure.dpi * SIDE * 1e3 / 38) ** 2 * 2.4
    ball = material == 0
    axes.scatter(x[ball, 0], x[ball, 1], s=size, c="#53606e", marker="s", lw=0)
    return axes.scatter(
        x[~ball, 0], x[~ball, 1], s=size, c=alpha[~ball], marker="s", lw=0, cmap="inferno", vmin=0, vmax=most
    )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("fields", type=Path, help="folder of a run's fields")
    arguments.add_argument("picture", type=Path, help="the file to write")
    given = arguments.parse_args()
    written = json.loads((given.fields / "points.vtkhdf.series").read_text())["files"]
    if len(written) < 4:
        raise SystemExit(f"{given.fields} has {len(written)} steps; four are drawn (--fields)")
    # Most happens at first.
    steps = [written[round((len(written) - 1) * share)] for share in (0, 0.15, 0.35, 1)]
    figure, panels = plt.subplots(
        2, 2, figsize=(7.6, 4.4), dpi=110, sharex=True, sharey=True, layout="constrained"
    )
    shown = None
    for axes, step in zip(panels.flat, steps, strict=True):
        axes.set_xlim(-19, 19)
        axes.set_ylim(-0.5, 22.5)
        axes.set_aspect("equal")
        axes.set_title(f"{step['time'] * 1e6:.1f} µs", fontsize=9)
        shown = draw(axes, points_file.read(given.fields / step["name"]), 1.5)
    for axes in panels[1]:
        axes.set_xlabel("mm")
    figure.colorbar(shown, ax=panels, label="equivalent plastic strain", shrink=0.9)
    figure.savefig(given.picture)


if __name__ == "__main__":
    main()
