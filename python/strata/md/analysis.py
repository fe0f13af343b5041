"""What a run says: averages with errors, drift, g(r), diffusion, viscosity, densities of a slab.

from strata.md.analysis import Asked, analyse

found = analyse(Asked(Path("results/argon")))
found.averages["temperature"].mean, found.viscosity.interval()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

from strata.errors import StrataError
from strata.md import frames
from strata.md.averages import Average, Equilibrated, average, equilibrated, steps_within
from strata.md.displacement import Diffusion, Displacement, DisplacementSum, diffusion
from strata.md.frames import Frame
from strata.md.profile import ProfileSum, Slab
from strata.md.radial import Radial, RadialSum
from strata.md.units import UNITS, Units
from strata.md.viscosity import TENSOR, Viscosity, viscosity
from strata.run.series import Series
from strata.run.series import read as read_series

# Quantities by which equilibrium is judged: those of the series that are there.
JUDGED = ("temperature", "potential energy", "pressure", "volume")
_MOST_SPECIES = 3  # with more, g(r) of all atoms alone


@dataclass(frozen=True)
class Asked:
    """What is to be found out. `begin`: the step from which on values count (default: detected). `volume`:
    where no file says it.
    """

    run: Path
    trajectory: Path | None = None
    begin: int | None = None
    units: str | None = None
    volume: float | None = None
    slab: str | None = None
    longest: float | None = None  # of correlations and displacements, as a time
    cutoff: float | None = None  # of the viscosity's integral, as a time


@dataclass
class Analysis:
    """Everything that was found; what could not be found out is None, with its reason in `said`."""

    asked: Asked
    units: Units
    thermo: Series
    begin: int
    equilibrium: dict[str, Equilibrated]
    averages: dict[str, Average]
    drift: tuple[float, float] | None = None  # of the conserved energy, in a unit of time, and its error
    trajectory: Path | None = None
    atoms: int | None = None
    volume: float | None = None
    radial: dict[str, Radial] = field(default_factory=dict)
    displacement: dict[str, Displacement] = field(default_factory=dict)
    diffusion: dict[str, Diffusion] = field(default_factory=dict)
    viscosity: Viscosity | None = None
    slab: Slab | None = None
    said: list[str] = field(default_factory=list)


def analyse(asked: Asked, progress: Callable[[str], None] = lambda _: None) -> Analysis:
    """Reads a run's series and its trajectory, twice, a frame at a time."""
    series = read_series(asked.run)
    if len(series) < 16:
        raise StrataError(
            "the series is too short to say anything",
            at=str(series.path),
            given=f"{len(series)} rows",
            allowed="16 or more",
            remedy="a longer run, or more rows: output.thermo of the case",
        )
    known = (*JUDGED, "total energy", *(f"pressure {ij}" for ij in TENSOR))
    if _trajectory_of(asked) is None and not any(name in series for name in known):
        raise StrataError(
            "not a run of molecular dynamics",
            at=str(series.path),
            given=f"a series of {', '.join(name for name in series if name not in ('step', 'time'))}",
            allowed=f"one with {', '.join(JUDGED)}, or a trajectory beside it",
        )
    units = UNITS[asked.units] if asked.units else _units_of(series)
    judged = {name: equilibrated(series[name]) for name in JUDGED if name in series and _varies(series[name])}
    row = max((one.start for one in judged.values()), default=0)
    if asked.begin is not None:
        row = int(np.searchsorted(series["step"], asked.begin))
        if row > len(series) - 8:
            raise StrataError(
                "fewer than 8 rows are left",
                at="--begin",
                given=str(asked.begin),
                allowed=f"at most {series['step'][-8]}",
            )
    rest = series.after(row)
    means = {name: average(rest[name]) for name in rest if name not in ("step", "time")}
    found = Analysis(asked, units, series, int(rest["step"][0]), judged, means)
    found.said += [
        f"{name}: its correlations are as long as the series, so its error is a lower bound."
        for name, one in means.items()
        if not one.settled and name != "momentum" and _varies(rest[name])  # which is rounding
    ]
    _drift(found, rest)
    _atoms(found, progress)
    _viscosity(found, rest)
    return found


def _varies(values: np.ndarray) -> bool:
    return bool(values.max() > values.min())


def _units_of(series: Series) -> Units:
    energy = next((series.units[name] for name in ("total energy", "potential energy") if name in series), "")
    return next((one for one in UNITS.values() if one.energy == energy), UNITS["lj"])


def _drift(found: Analysis, rest: Series) -> None:
    """The slope of the conserved energy; its error from the slopes of eight parts."""
    name = next((n for n in ("conserved energy", "total energy") if n in rest), None)
    if name is None or len(rest) < 32:
        return
    parts = zip(np.array_split(rest["time"], 8), np.array_split(rest[name], 8), strict=True)
    slopes = np.array([np.polyfit(t - t[0], e - e[0], 1)[0] for t, e in parts])
    whole = np.polyfit(rest["time"] - rest["time"][0], rest[name] - rest[name][0], 1)[0]
    # A slope's error falls with the length to the power 3/2.
    found.drift = float(whole), float(slopes.std(ddof=1) / 8**1.5)


def _trajectory_of(asked: Asked) -> Path | None:
    if asked.trajectory is not None:
        return asked.trajectory
    folder = asked.run if asked.run.is_dir() else asked.run.parent
    return next((path for ending in frames.ENDINGS for path in sorted(folder.glob(f"*{ending}"))), None)


def _atoms(found: Analysis, progress: Callable[[str], None]) -> None:
    file = found.trajectory = _trajectory_of(found.asked)
    if file is None:
        found.said.append("The run has no trajectory (.xyz or .dcd): no g(r) and no diffusion.")
        return
    per_step = found.thermo["time"][-1] / max(1, found.thermo["step"][-1])
    progress("counting frames")
    total, early, first = frames.count(file), 0, None
    for number, frame in enumerate(frames.read(file)):
        first = frame
        early = number
        if frame.step is None or frame.step >= found.begin:
            break
    if first is None:
        found.said.append("The trajectory has no frames.")
        return
    left = total - early
    found.atoms, found.volume = len(first), None if first.box is None else float(np.prod(first.box))
    sums = _Sums(found, first, left)
    for number, frame in enumerate(frames.read(file)):
        if number >= early:
            sums.add(frame, per_step)
            progress(f"frame {number - early + 1} of {left}")
    sums.finish()


class _Sums:
    """What is added up over frames."""

    def __init__(self, found: Analysis, first: Frame, left: int) -> None:
        self.found = found
        kinds = [] if first.species is None else sorted(set(first.species))
        apart = 1 < len(kinds) <= _MOST_SPECIES
        self.radial: dict[str, RadialSum] = {}
        if first.box is not None and all(first.periodic):
            if len(first) > 1:
                self.radial["all"] = RadialSum()
            if apart:
                for one, other in combinations_with_replacement(kinds, 2):
                    if one == other and len(first.of(one)) < 2:
                        found.said.append(f"No g(r) of {one}-{one}: there is one atom of {one}.")
                        continue
                    self.radial[f"{one}-{other}"] = RadialSum(pair=(one, other))
            if len(first) < 2:
                found.said.append("No g(r): there is one atom.")
        else:
            found.said.append("No g(r): the box is open.")
        lags = left // 5
        if found.asked.longest is not None and left > 1:
            steps = found.thermo["time"][-1] / found.thermo["step"][-1]
            seconds = (found.thermo["step"][-1] - found.begin) / (left - 1) * steps
            lags = min(lags, steps_within(found.asked.longest, seconds))
        self.moved: dict[str, DisplacementSum] = {}
        if lags >= 4:
            for kind in kinds if apart else [None]:
                self.moved[kind or "all"] = DisplacementSum(lags, left, kind)
        else:
            found.said.append(f"No diffusion: {left} frames are too few; 20 or more are needed.")
        self.profile = ProfileSum("xyz".index(found.asked.slab)) if found.asked.slab else None
        self.number = 0

    def add(self, frame: Frame, per_step: float) -> None:
        time = frame.step * per_step if frame.step is not None else frame.time
        for radial in self.radial.values():
            radial.add(frame)
        for moved in self.moved.values():
            moved.add(frame, float(self.number if time is None else time))
        if self.profile is not None:
            self.profile.add(frame)
        self.number += 1

    def finish(self) -> None:
        found = self.found
        found.radial = {name: one.result() for name, one in self.radial.items()}
        found.displacement = {name: one.result() for name, one in self.moved.items()}
        found.diffusion = {name: diffusion(one) for name, one in found.displacement.items()}
        for name, one in found.diffusion.items():
            if not 0.9 < one.power < 1.1:
                found.said.append(
                    f"Diffusion of {name}: displacements go with time to the power {one.power:.2f}, not 1; "
                    "a longer run is needed, or atoms do not diffuse."
                )
        if self.profile is not None:
            found.slab = self.profile.slab()


def _viscosity(found: Analysis, rest: Series) -> None:
    columns = [f"pressure {ij}" for ij in TENSOR]
    if not all(name in rest for name in columns):
        found.said.append("The series has no pressure tensor: no viscosity.")
        return
    volume = found.asked.volume or found.volume
    if "volume" in rest:
        volume = float(rest["volume"].mean())
    if volume is None:
        found.said.append("No viscosity: neither a trajectory nor --volume says how large the box is.")
        return
    steps = np.diff(rest["step"])
    if (steps[:-1] != steps[0]).any():
        found.said.append("No viscosity: rows of the series are not equally far apart.")
        return
    units = found.units
    rows = len(rest) - (steps[-1] != steps[0])  # the last step has a row of its own
    pressure = np.stack([rest[name][:rows] for name in columns], axis=1)
    thermal = units.boltzmann * found.averages["temperature"].mean
    # Pressure * time: V P^2 t / kT, with one P turned into energy / volume.
    factor = volume / (thermal * units.energy_density)
    interval = float(rest["time"][1] - rest["time"][0])
    try:
        found.viscosity = viscosity(
            pressure, interval, factor, longest=found.asked.longest, cutoff=found.asked.cutoff
        )
    except StrataError as error:
        if found.asked.cutoff is not None:
            raise
        found.said.append(f"No viscosity: {error.message} ({error.given}).")
        return
    one = found.viscosity
    if one.correlation[1] < 0.5 * one.correlation[0]:
        found.said.append(
            "Viscosity: rows of the series are too far apart for the correlation of the pressure; "
            "output.thermo of the case should be smaller."
        )


def document(found: Analysis) -> dict[str, object]:
    """As JSON (strata.md-analysis/1)."""
    u = found.units
    shown: dict[str, object] = {
        "schema": "strata.md-analysis/1",
        "run": str(found.asked.run),
        "units": u.name,
        "rows": len(found.thermo),
        "first_step_counted": found.begin,
        "averages": _averages(found),
        "notes": found.said,
    }
    if found.drift is not None:
        shown["drift"] = {
            "value": found.drift[0],
            "error": found.drift[1],
            "unit": f"{u.energy}/{u.time}",
            "atoms": found.atoms,
        }
    if found.trajectory is not None:
        shown["trajectory"] = str(found.trajectory)
    shown["radial"] = {
        name: {"r": one.r.tolist(), "g": one.g.tolist(), "error": _plain(one.error), "frames": one.frames}
        for name, one in found.radial.items()
    }
    shown["diffusion"] = _diffusion(found)
    if (eta := found.viscosity) is not None:
        shown["viscosity"] = {
            "value": eta.value,
            "error": eta.error,
            "unit": f"{u.pressure} {u.time}",
            "cutoff": eta.cutoff,
            "t": eta.t.tolist(),
            "running": eta.running.tolist(),
        }
    if (slab := found.slab) is not None:
        shown["slab"] = {
            "liquid": slab.liquid,
            "liquid_error": slab.liquid_error,
            "vapour": slab.vapour,
            "vapour_error": slab.vapour_error,
            "unit": f"1/{u.length}3",
            "thickness": slab.thickness,
        }
    return shown


def _averages(found: Analysis) -> dict[str, object]:
    return {
        name: {
            "mean": one.mean,
            "error": one.error,
            "unit": found.thermo.units[name],
            "independent": len(found.thermo) / one.inefficiency,
            "settled": one.settled,
        }
        for name, one in found.averages.items()
    }


def _diffusion(found: Analysis) -> dict[str, object]:
    return {
        name: {
            "value": one.value,
            "error": one.error,
            "unit": f"{found.units.length}2/{found.units.time}",
            "fit_from": one.begin,
            "fit_to": one.end,
            "power": one.power,
            "t": found.displacement[name].t.tolist(),
            "msd": found.displacement[name].msd.tolist(),
        }
        for name, one in found.diffusion.items()
    }


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
