"""Makes the pictures of the documentation: runs the commands that a reader would, and draws what came out.

    python docs/images/make.py                   # all of them: a quarter of an hour, most of it measuring
    python docs/images/make.py vortex graph      # these
    python docs/images/make.py --strata PROGRAM  # with another strata than the checkout's

Needs Strata's Python environment (Matplotlib, Pillow), a C compiler with OpenMP, HDF5, and Chromium for the
picture of a report. Every picture has a light ground of its own, so that it reads the same on a light and on
a dark page, and has less than 150 kB.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "cases" / "mpm"))
import points_file  # noqa: E402

MOST_BYTES = 150_000

# Reads and writes 64 MiB with all threads, so it is bound by memory: what pinning changes shows.
TRIAD = """
#include <stdlib.h>
int main(void) {
    const long n = 1L << 22;
    double *a = malloc(n * 8), *b = malloc(n * 8);
#pragma omp parallel for
    for (long i = 0; i < n; ++i) a[i] = 0, b[i] = i;
    for (int k = 0; k < 60; ++k)
#pragma omp parallel for
        for (long i = 0; i < n; ++i) a[i] += 0.5 * b[i];
    return a[n - 1] != 30.0 * (n - 1);
}
"""

LOOPS = """
schema = "strata.study/1"
name = "loops"
launches = 8

[[toolchain]]
name = "gcc"
tools = {{ cc = "gcc" }}
flags = "{flags}"

[[program]]
name = "loops"
build = "{{cc}} {{flags}} {source} -o {{build}}/kernels -lm"
command = "{{build}}/kernels {{loop}}"
values = {{ loop = ["triad", "dot", "stencil", "roots", "matrices"] }}
expected_s = 0.45

[[program.figure]]
name = "rate"
pattern = '^rate: ([0-9.e+]+) GF/s$'
unit = "GF/s"

[[layout]]
name = "pinned"
layouts = ["1x1"]
"""


@dataclass
class Maker:
    """What every picture needs: the command, and a folder that goes when all is made."""

    strata: str
    work: Path

    def run(self, *words: str | Path) -> None:
        """One command of Strata's; what it prints is shown."""
        command = [self.strata, *map(str, words)]
        print("+", " ".join(command), flush=True)
        # A comparison that found a regression ends with 3.
        if subprocess.run(command, cwd=ROOT).returncode not in (0, 3):
            raise SystemExit(f"{words[0]}: this command failed; its picture was not made")

    def solve(self, case: str, every: int, *more: str) -> Path:
        """The folder of the fields of a case that was run, written every so many steps."""
        out = self.work / Path(case).stem
        self.run("run", f"cases/{case}.toml", "--layout", "1x2", "--out", out, "--fields", str(every), *more)
        return out / "fields"


# -- drawn by Strata -----------------------------------------------------------------------------------------


def machine(maker: Maker) -> None:
    """A machine that is only described: two packages with two domains each, and devices."""
    node = "tests/fixtures/machines/gpu-node.xml"
    maker.run("machine", "--no-findings", "--input", node, "--svg", HERE / "machine.svg")


def graph(maker: Maker) -> None:
    maker.run("graph", "show", "cases/transport/heat.toml", "--svg", HERE / "graph.svg")


def balance(maker: Maker) -> None:
    words = ("--generate", "origin2000", "--cpus", "512", "--processes", "69")
    maker.run("balance", *words, "--svg", HERE / "balance.svg")


def study(maker: Maker) -> None:
    maker.run("study", "run", "pinning", "--budget", "90s", "--out", maker.work / "study")
    take_figure(maker.work / "study", "study-0", "study.svg")


def tune(maker: Maker) -> None:
    source, program = maker.work / "triad.c", maker.work / "triad"
    source.write_text(TRIAD)
    subprocess.run(["gcc", "-O3", "-fopenmp", source, "-o", program], check=True)
    maker.run("tune", "--budget", "90s", "--out", maker.work / "tune", "--", program)
    take_figure(maker.work / "tune", "final-0", "tune.svg")


def compare(maker: Maker) -> None:
    """The same loops built twice, with -O1 and with -O3."""
    for level in ("O1", "O3"):
        file = maker.work / f"{level}.toml"
        file.write_text(
            LOOPS.format(flags=f"-{level} -march=native", source=ROOT / "cases/studies/programs/kernels.c")
        )
        maker.run("study", "run", file, "--out", maker.work / level)
    pair = (maker.work / "O1", maker.work / "O3")
    maker.run("report", "compare", *pair, "--out", maker.work / "compare")
    take_figure(maker.work / "compare", "comparison", "compare.svg")


def take_figure(folder: Path, figure: str, name: str) -> None:
    """A plot of a report: the Markdown version has them as files, in plain colours on white."""
    made = {each.stem: each for each in folder.rglob("figures/*.svg")}
    if figure not in made:
        raise SystemExit(f"{folder} has no figure {figure}; it has {', '.join(sorted(made)) or 'none'}")
    shutil.copyfile(made[figure], HERE / name)


# -- photographed --------------------------------------------------------------------------------------------


def report(maker: Maker) -> None:
    """The first page of a characterization of this machine, as a browser shows it."""
    maker.run("characterize", "--budget", "3m", "--out", maker.work / "characterize")
    page, shot = maker.work / "characterize" / "report" / "report.html", maker.work / "report.png"
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("report: no Chromium was found; its picture was not made")
    words = ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,1300")
    subprocess.run([browser, *words, f"--screenshot={shot}", page.as_uri()], check=True)
    write_png(Image.open(shot), HERE / "report.png")


# -- drawn from fields ---------------------------------------------------------------------------------------


def steps(fields: Path, name: str, shares: tuple[float, ...]) -> list[dict]:
    """Of the steps that were written those at these shares of the way: `name` of the file, `time` in s."""
    written = json.loads((fields / f"{name}.vtkhdf.series").read_text())["files"]
    return [written[round((len(written) - 1) * share)] for share in shares]


def vortex(maker: Maker) -> None:
    """A Gaussian in a vortex that turns back half way: the temperature at four times."""
    fields = maker.solve("transport/vortex", 10)
    figure, panels = plt.subplots(1, 4, figsize=(9.2, 2.6), dpi=110, sharey=True, layout="constrained")
    written = steps(fields, "grid", (0, 0.25, 0.5, 1))
    files = [fields / step["name"] for step in written]
    states = [points_file.read_set(file, "CellData/temperature").squeeze() for file in files]
    least, most = states[0].min(), states[0].max()
    shown = None
    for axes, step, T in zip(panels, written, states, strict=True):
        shown = axes.imshow(T, origin="lower", extent=(0, 1, 0, 1), cmap="inferno", vmin=least, vmax=most)
        axes.set_title(f"{step['time']:.2f} s", fontsize=9)
        axes.set_xlabel("m")
    figure.colorbar(shown, ax=panels, label="temperature, K", shrink=0.9)
    save(figure, "vortex.png")


def mpm_disks(maker: Maker) -> None:
    """Two disks before, in and after their collision, coloured by the speed of their points."""
    fields = maker.solve("mpm/disks", 10)
    figure, panels = plt.subplots(1, 4, figsize=(9.2, 2.6), dpi=110, sharey=True, layout="constrained")
    shown = None
    for axes, step in zip(panels, steps(fields, "points", (0, 0.45, 0.6, 1)), strict=True):
        points = points_file.read(fields / step["name"])
        speed = np.linalg.norm(points["velocity"], axis=1)
        shown = dots(axes, points["Points"], speed, (0, 1.2), (0, 1.2), vmin=0, vmax=0.15)
        axes.set_title(f"{step['time']:.2f} s", fontsize=9)
        axes.set_xlabel("m")
    figure.colorbar(shown, ax=panels, label="speed, m/s", shrink=0.9)
    save(figure, "mpm-disks.png")


def dots(axes, where: np.ndarray, value: np.ndarray, x: tuple, y: tuple, size: float = 5, **colours):
    """Points in the plane of x and y, coloured by a value."""
    axes.set_xlim(*x)
    axes.set_ylim(*y)
    axes.set_aspect("equal")
    colours.setdefault("cmap", "viridis")
    return axes.scatter(where[:, 0], where[:, 1], c=value, s=size, lw=0, **colours)


def mpm_cases(maker: Maker) -> None:
    """The last step of four cases, each coloured by what it is about."""
    figure, panels = plt.subplots(2, 2, figsize=(9.2, 6.2), dpi=110, layout="constrained")
    for axes, draw in zip(panels.flat, (bar, incline, cylinder, turned_ring), strict=True):
        title, label, shown = draw(maker, axes)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("m")
        figure.colorbar(shown, ax=axes, label=label, shrink=0.8)
    save(figure, "mpm-cases.png")


Drawn = tuple[str, str, object]


def last(fields: Path) -> dict[str, np.ndarray]:
    return points_file.read(fields / steps(fields, "points", (1.0,))[0]["name"])


def gradient(points: dict[str, np.ndarray]) -> np.ndarray:
    """The deformation gradient of each point, [point, row, column]."""
    return points["deformation gradient"].reshape(-1, 3, 3)


def bar(maker: Maker, axes) -> Drawn:
    points = last(maker.solve("mpm/bar", 1000))
    near = np.abs(points["Points"][:, 2] - 0.5) < 0.021  # one layer of points
    stretch = (gradient(points)[near, 0, 0] - 1) * 100
    shown = dots(axes, points["Points"][near], stretch, (0, 2.4), (0, 1), size=4)
    return "bar.toml: waves from both ends have met", "stretch along the bar, %", shown


def incline(maker: Maker, axes) -> Drawn:
    points = last(maker.solve("mpm/incline", 1000))
    tilt = math.radians(-30)  # in the case gravity is turned; here the ground is
    turn = np.array([[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]])
    where = points["Points"][:, :2] @ turn.T
    speed = np.linalg.norm(points["velocity"], axis=1)
    shown = dots(axes, where, speed, (-0.1, 3.9), (-2.1, 0.8), size=3)
    return "incline.toml: a block slides with friction 0.3", "speed, m/s", shown


def cylinder(maker: Maker, axes) -> Drawn:
    points = last(maker.solve("mpm/cylinder", 100000))
    massive = points["mass"].ravel() > 0  # others carry the load
    where, F = points["Points"][massive], gradient(points)[massive]
    along = np.stack([-where[:, 1], where[:, 0]], axis=1) / np.hypot(where[:, 0], where[:, 1])[:, None]
    hoop = np.einsum("pi,pij,pj->p", along, F[:, :2, :2] - np.eye(2), along)
    shown = dots(axes, where, hoop * 1e4, (0, 1.1), (0, 1.1), size=4)
    return "cylinder.toml: pressure inside, at rest", "hoop strain, 1e-4", shown


def turned_ring(maker: Maker, axes) -> Drawn:
    fields = maker.solve("mpm/manufactured-vortex", 10)
    points = points_file.read(fields / steps(fields, "points", (0.25,))[0]["name"])
    where, F = points["Points"], gradient(points)
    shear = np.sqrt(np.maximum(np.einsum("pij,pij->p", F, F) - 3, 0))  # of a simple shear g: F:F = 3 + g^2
    shown = dots(axes, where, shear, (0, 2.6), (0, 2.6), size=4)
    return "manufactured-vortex.toml: turned in its middle", "shear", shown


def sphere(maker: Maker) -> None:
    fields = maker.solve("mpm/sphere", 100)
    picture = maker.work / "sphere.png"
    subprocess.run([sys.executable, ROOT / "cases/mpm/sphere_picture.py", fields, picture], check=True)
    write_png(Image.open(picture), HERE / "sphere.png")


def save(figure, name: str) -> None:
    made = io.BytesIO()
    figure.savefig(made, format="png", bbox_inches="tight")
    plt.close(figure)
    write_png(Image.open(made), HERE / name)


def write_png(picture: Image.Image, path: Path) -> None:
    """With 128 colours of its own, which a drawing does not miss and which take a third of the room."""
    picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


PICTURES: dict[str, Callable[[Maker], None]] = {
    "machine": machine,
    "graph": graph,
    "balance": balance,
    "vortex": vortex,
    "mpm-disks": mpm_disks,
    "mpm-cases": mpm_cases,
    "sphere": sphere,
    "study": study,
    "tune": tune,
    "compare": compare,
    "report": report,
}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; all if left out")
    words.add_argument("--strata", default=str(ROOT / "strata"), help="the command (the checkout's)")
    given = words.parse_args()
    unknown = set(given.names) - set(PICTURES)
    if unknown:
        words.error(f"no such picture: {', '.join(sorted(unknown))}; allowed: {', '.join(PICTURES)}")
    with tempfile.TemporaryDirectory(prefix="strata-pictures-") as folder:
        maker = Maker(given.strata, Path(folder))
        for name in given.names or PICTURES:
            PICTURES[name](maker)
    for path in sorted(HERE.glob("*.svg")) + sorted(HERE.glob("*.png")):
        size = path.stat().st_size
        print(f"{path.name:16} {size / 1000:6.1f} kB{'  TOO LARGE' if size > MOST_BYTES else ''}")


if __name__ == "__main__":
    main()
