"""A picture of atoms: the frames of a trajectory at four times, seen from the side.

    strata run cases/md/coexistence.toml --layout 1x2 --out slab
    python cases/md/atoms_picture.py slab/trajectory.xyz slab.png

Nearer atoms are lighter. Below, where all directions are periodic: the density along x, at first and on
average over the second half.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np

from strata.md import frames

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def profile(frame: frames.Frame, bins: int) -> np.ndarray:
    """Atoms in a unit of volume, along x."""
    at = np.mod(frame.positions[:, 0] - frame.origin[0], frame.box[0])
    counted, _ = np.histogram(at, bins, (0, frame.box[0]))
    return counted * bins / np.prod(frame.box)


def draw(axes: plt.Axes, frame: frames.Frame, up: int) -> None:
    """Far atoms first."""
    depth = 3 - up  # x is to the right
    x = frame.positions - frame.origin
    wraps = np.array(frame.periodic)
    x[:, wraps] = np.mod(x[:, wraps], frame.box[wraps])
    x = x[np.argsort(x[:, depth])]
    axes.set_xlim(0, frame.box[0])
    axes.set_ylim(0, frame.box[up])
    axes.set_aspect("equal")
    width = axes.get_position().width * axes.figure.get_figwidth() * 72
    size = (0.9 * width / frame.box[0]) ** 2
    near = 1.3 * frame.box[depth]  # not quite white
    axes.scatter(
        x[:, 0], x[:, up], s=size, c=x[:, depth], cmap="Blues_r", vmin=0, vmax=near, lw=0.2, ec="#0b2545"
    )
    axes.set_title(f"time {frame.time:.3g}", fontsize=9, loc="left")


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("trajectory", type=Path, help="trajectory.xyz of a run's folder")
    arguments.add_argument("picture", type=Path, help="the file to write")
    arguments.add_argument("--vertical", choices=("y", "z"), default="y", help="what is upwards")
    given = arguments.parse_args()
    all_frames = list(frames.read(given.trajectory))
    if len(all_frames) < 4:
        raise SystemExit(f"{given.trajectory} has {len(all_frames)} frames; four are drawn")
    shown = [all_frames[round((len(all_frames) - 1) * share)] for share in (0, 0.1, 0.3, 1)]
    up = "xyz".index(given.vertical)
    along = all(shown[0].periodic)
    columns = 1 if shown[0].box[0] / shown[0].box[up] > 2 else 2
    rows = 4 // columns
    tall = 7.0 / columns * shown[0].box[up] / shown[0].box[0]
    heights = [tall] * rows + [1.4] * along
    figure = plt.figure(figsize=(7.6, sum(heights) + 0.45 * len(heights) + 0.2), dpi=110)
    grid = figure.add_gridspec(rows + along, columns, height_ratios=heights)
    figure.subplots_adjust(
        left=0.09, right=0.98, hspace=0.45 / (sum(heights) / len(heights)), top=0.95, bottom=0.07
    )
    for k, frame in enumerate(shown):
        draw(figure.add_subplot(grid[k // columns, k % columns]), frame, up)
    if along:
        axes = figure.add_subplot(grid[rows, :])
        bins = 100
        at = (np.arange(bins) + 0.5) / bins * shown[0].box[0]
        late = np.mean([profile(each, bins) for each in all_frames[len(all_frames) // 2 :]], axis=0)
        axes.plot(at, profile(shown[0], bins), c="#b0b7bf", lw=1, label="at first")
        axes.plot(at, late, c="#0b2545", lw=1.5, label="second half")
        axes.set_xlim(0, shown[0].box[0])
        axes.set_xlabel("x")
        axes.set_ylabel("density")
        axes.legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(given.picture)


if __name__ == "__main__":
    main()
