"""Study files (`strata.study/1`): which programs, with which values, under which layouts and toolchains."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.casefile import CaseFile, Place
from strata.errors import StrataError
from strata.measure.plan import Pattern
from strata.measure.taint import Limits
from strata.study import toolchain
from strata.study.runs import Maker, Run
from strata.study.schema import AXES, FIGURE, LAYOUTS, NOT_OPTIONS, PLOT, PROGRAM, TOP
from strata.study.toolchain import Build, Toolchain


@dataclass(frozen=True)
class Study:
    """A checked study file."""

    path: Path
    top: Mapping[str, Any]
    limits: Limits
    programs: tuple[dict[str, Any], ...]
    layouts: tuple[dict[str, Any], ...]
    runs: tuple[Run, ...]
    toolchains: tuple[Toolchain, ...] = ()
    builds: tuple[Build, ...] = ()
    plots: tuple[dict[str, Any], ...] = ()

    @property
    def name(self) -> str:
        return str(self.top["name"])

    def program(self, name: str) -> dict[str, Any]:
        return next(p for p in self.programs if p["name"] == name)


def read(path: Path, builds: Path = Path("builds")) -> Study:
    """The study in this file, every key checked; `builds` is where its programs are to be made."""
    file = CaseFile(path, "`strata study list` names those that come with Strata", "cases/studies/pages.toml")
    top = file.checked(file.value, TOP)
    programs = tuple(_program(file, p, n) for n, p in enumerate(top["program"], start=1))
    layouts = tuple(_layout(file, w, n) for n, w in enumerate(top["layout"], start=1))
    toolchains = tuple(toolchain.checked(file, t, n) for n, t in enumerate(top["toolchain"], start=1))
    names = [t.name for t in toolchains]
    for kind, known in (("program", [p["name"] for p in programs]), ("layout", [w["name"] for w in layouts])):
        _no_twins(file, kind, known)
    _no_twins(file, "toolchain", names)
    _known(file, "layout", "programs", layouts, [p["name"] for p in programs])
    _known(file, "program", "toolchains", programs, names)
    _known_axis(file, top["x"], programs)
    plots = tuple(_plot(file, p, n, programs) for n, p in enumerate(top["plot"], start=1))
    if (top["view"] == "panels") != bool(plots):
        raise StrataError(
            "the view `panels` and tables [[plot]] go together",
            at=file.at("view"),
            given=f'view = "{top["view"]}" and {len(plots)} [[plot]]',
            remedy="[[plot]] says what is drawn: x, and what has a panel each",
        )
    maker = Maker(file, builds.absolute() / str(top["name"]), toolchains)
    runs = tuple(run for n, p in enumerate(programs, start=1) for run in maker.runs(p, n))
    made = tuple(b for n, p in enumerate(programs, start=1) for b in maker.builds(p, n))
    limits = Limits.from_dict(top["limits"], file.at("limits"))
    return Study(path, top, limits, programs, layouts, runs, toolchains, made, plots)


def _program(file: CaseFile, value: Any, n: int) -> dict[str, Any]:
    place: Place = (("program", n),)
    program = file.checked(value, PROGRAM, place)
    found = []
    for m, entry in enumerate(program["figure"], start=1):
        inner = (*place, ("figure", m))
        figure = file.checked(entry, FIGURE, inner)
        try:
            groups = re.compile(figure["pattern"]).groups
        except re.error as error:
            raise StrataError(
                "not a regular expression",
                at=file.at("pattern", inner),
                given=f"{figure['pattern']} ({error})",
                remedy="write it between '...' so that TOML leaves \\ alone",
            ) from None
        if groups != 1:
            raise StrataError(
                "a figure's pattern needs one group around the number",
                at=file.at("pattern", inner),
                given=f"{figure['pattern']} with {groups} groups",
                allowed="for example 'rate: ([0-9.]+)'; (?:...) groups without counting",
            )
        found.append(Pattern(**figure))
    return {**program, "figure": tuple(found)}


def _layout(file: CaseFile, value: Any, n: int) -> dict[str, Any]:
    place: Place = (("layout", n),)
    layout = file.checked(value, LAYOUTS, place)
    for word in layout["options"]:
        if word.partition("=")[0] in NOT_OPTIONS:
            raise StrataError(
                "this option is not one of a layout",
                at=file.at("options", place),
                given=word,
                allowed="options of `strata launch` other than " + ", ".join(NOT_OPTIONS),
                remedy="layouts, stride and bind are keys of their own",
            )
    alone = set(layout["layouts"]) <= {"1x2", "2x1"} and layout["stride"] == 1 and layout["bind"] == "core"
    if layout["distances"] and not alone:
        raise StrataError(
            "distances are those of two threads, on cores that the machine decides",
            at=file.at("distances", place),
            given=f"layouts = {layout['layouts']}, stride = {layout['stride']}, bind = {layout['bind']}",
            allowed="layouts 2x1 and 1x2, without stride and bind",
        )
    if layout["pairs"] and (layout["distances"] or layout["stride"] != 1 or layout["bind"] != "core"):
        raise StrataError(
            "the domains of pairs decide on which cores they run",
            at=file.at("pairs", place),
            given=f"stride = {layout['stride']}, bind = {layout['bind']}, distances = {layout['distances']}",
            allowed="pairs without stride, bind and distances",
        )
    where = file.at("name", place).removesuffix(" name")
    return {**layout, "at": f"{where} [[layout]] {layout['name']}"}


def _no_twins(file: CaseFile, kind: str, names: list[str]) -> None:
    for n, name in enumerate(names, start=1):
        if name in names[: n - 1]:
            raise StrataError(
                f"two {kind}s have the same name",
                at=file.at("name", ((kind, n),)),
                given=name,
                allowed="each name once",
            )


def _known(
    file: CaseFile, table: str, key: str, entries: Sequence[Mapping[str, Any]], names: list[str]
) -> None:
    for n, entry in enumerate(entries, start=1):
        for name in entry[key]:
            if name not in names:
                raise StrataError(
                    f"no such {key.removesuffix('s')}",
                    at=file.at(key, ((table, n),)),
                    given=name,
                    allowed=", ".join(names) or f"none is defined: add a [[{key.removesuffix('s')}]]",
                )


def _plot(file: CaseFile, value: Any, n: int, programs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    place: Place = (("plot", n),)
    plot = file.checked(value, PLOT, place)
    _known_axis(file, plot["x"], programs, place)
    values = sorted({key for p in programs for key in p["values"]})
    figures = {name for p in programs for name in (*p["figures"], *(f.name for f in p["figure"]))}
    for key, allowed in (
        ("apart", ["cores", "processes", "threads"]),
        ("panels", ["program", "toolchain", *values]),
        ("figure", sorted(figures)),
    ):
        if plot[key] and plot[key] not in allowed:
            raise StrataError(
                f"no such {key} in this study",
                at=file.at(key, place),
                given=plot[key],
                allowed=", ".join(allowed),
            )
    return plot


def _known_axis(file: CaseFile, x: str, programs: Sequence[Mapping[str, Any]], place: Place = ()) -> None:
    values = {key for p in programs for key in p["values"]}
    if x not in AXES and x not in values:
        raise StrataError(
            "nothing of that name varies in this study",
            at=file.at("x", place),
            given=x,
            allowed=", ".join([*AXES, *sorted(values)]),
        )
