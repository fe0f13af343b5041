"""`strata study run|list|show`: what is asked, and the plan for it. A notebook calls the same functions."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strata import paths
from strata.advice import views
from strata.advice.words import count
from strata.characterize import answer, console, session
from strata.characterize.session import Prepared
from strata.characterize.words import of_task
from strata.errors import StrataError
from strata.measure import store
from strata.measure.lock import HOST_LOCK
from strata.measure.order import fresh_seed
from strata.measure.plan import build_id, identity
from strata.measure.progress import duration
from strata.measure.standings import Standings
from strata.scripts import visible_lines
from strata.site import slurm
from strata.study import planner, settings, toolchain
from strata.study.case import Study, read
from strata.study.toolchain import Toolchain

GROUP = "studies"


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    study: str
    out: Path | None = None
    budget_s: float | None = None
    strict: bool = False
    dry_run: bool = False
    machine: str | None = None  # another one, described, for a dry run
    new: bool = False
    accept_change: bool = False
    here: bool = False
    seed: int | None = None
    verbose: bool = False  # the table of all figures is printed too
    argv: tuple[str, ...] = ()


def find(name: str) -> Path:
    """The file of a study: one that comes with Strata by its name, else a path."""
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    known = shipped()
    if name in known:
        return known[name]
    raise StrataError(
        "no such study",
        given=name,
        allowed=", ".join(sorted(known)) + ", or the path of a TOML file",
        remedy="strata study list",
    )


def shipped() -> dict[str, Path]:
    """The studies that come with Strata, by name."""
    folder = paths.case_file(GROUP, "pages").parent
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def prepare(request: Request) -> Prepared:
    """The plan for this machine."""
    native = paths.native()
    study = read(
        find(request.study), request.out / "builds" if request.out else paths.results_base() / "builds"
    )
    usable, absent = toolchain.usable(study.toolchains)
    gone = {chain.name for chain, _ in absent}
    study = replace(
        study,
        runs=tuple(r for r in study.runs if r.toolchain is None or r.toolchain.name not in gone),
        builds=tuple(b for b in study.builds if b.toolchain.name not in gone),
    )
    paths.need_programs(native.front, planner.programs_of(study))
    if not request.dry_run:
        toolchain.make(study.builds, lambda text: print(text, file=sys.stderr, flush=True))
    machine = session.read_machine(native, request.machine)
    made = planner.build(
        study,
        machine,
        identity(machine),
        build_id([*native.all(), *foreign_programs(study)]),
        list(native.programs),
        settings.try_settings(str(native.front), settings.settings_of(study, machine), request.machine),
        request.seed if request.seed is not None else fresh_seed(),
        request.budget_s,
        request.strict,
    )
    facts = {
        "study": {
            "name": study.name,
            "title": study.top["title"] or study.name,
            "about": study.top["about"],
            "view": study.top["view"],
            "settings": [layout["name"] for layout in study.layouts],
            "x": study.top["x"],
            "plots": list(study.plots),
            "shortened": made.shortened,
            "unavailable": [
                *made.unavailable,
                *({"setting": f"toolchain {c.name}", "layout": "", "why": why} for c, why in absent),
            ],
            "toolchains": [_toolchain_facts(chain, study) for chain in usable],
        }
    }
    return Prepared(native, machine, made.plan, made.notes, study.path, facts)


def _toolchain_facts(chain: Toolchain, study: Study) -> dict[str, Any]:
    """What the report says of a toolchain."""
    return {
        "name": chain.name,
        "tools": dict(chain.tools),
        "versions": chain.versions(),
        "flags": chain.flags,
        "libraries": chain.libraries,
        "environment": dict(chain.environment),
        "builds": {
            b.program: [shlex.join(c) for c in b.commands]
            for b in study.builds
            if b.toolchain.name == chain.name
        },
    }


def foreign_programs(study: Study) -> list[Path]:
    """The users' programs of a study: rebuilt, they are other programs, and their samples are not mixed."""
    return sorted({path for run in study.runs for path in foreign_file(run.command[0])})


def foreign_file(name: str) -> list[Path]:
    """The file that a command names, if it names one."""
    found = shutil.which(name)
    return [Path(found).resolve()] if found else []


def run(request: Request, lock: str = HOST_LOCK) -> int:
    """`strata study run`; returns its exit code."""
    session.refuse_to_run(request.machine, request.dry_run)
    if request.dry_run:
        return _dry_run(prepare(request))
    command = shlex.join(["strata", *request.argv])
    if slurm.is_login_node() and not request.here:
        raise slurm.refusal(command)
    prepared = prepare(request)
    target = session.Target(
        name=f"study-{prepared.plan.mode}",
        results=request.out,
        new=request.new,
        accept_change=request.accept_change,
        argv=request.argv,
        command=command,
        verbose=request.verbose,
    )
    return session.run(target, lambda: prepared, lock, views.statements)


def _dry_run(prepared: Prepared) -> int:
    plan = prepared.plan
    total = 0.0
    times = str(plan.policy.launches)
    if plan.policy.precision is not None:
        times += f" to {plan.policy.most}"
    times += " time" if times == "1" else " times"
    for task in plan.tasks:
        took = task.expected_s * (plan.policy.launches + 1)
        total += took
        placed = ["--layout", task.layout, "--stride", str(task.stride), "--bind", task.bind, *task.options]
        print(f"{of_task(task)}: {times} and once to warm up, about {duration(took)}   # {task.id}")
        print(f"    {shlex.join(['strata', 'launch', *placed, '--', *task.command])}")
    for note in prepared.notes:
        print(f"cannot run here: {note}")
    budget = plan.policy.budget_s
    print(
        f"{count(len(plan.tasks), 'setting')}, {'at least' if plan.policy.precision else 'about'} "
        f"{duration(total)}"
        + (f"; ends within {duration(budget)}: what does not fit is left out" if budget else "")
        + "; nothing was launched"
    )
    return 0


def show_list() -> int:
    """`strata study list`."""
    known = shipped()
    width = max(map(len, known))
    for name, path in known.items():
        study = read(path)
        programs = ", ".join(program["name"] for program in study.programs)
        print(f"{name:<{width}}  {study.top['title'] or ''} ({programs})")
        print(f"{'':<{width}}  {path}")
    return 0


def show(folder: Path) -> int:
    """`strata study show`: what a results folder holds now, also of a study that has not ended."""
    opened = store.open_existing(folder)
    try:
        if opened.plan.kind != "study":
            raise StrataError(
                "these are not the results of a study",
                at=str(folder),
                given=f"results of `strata {opened.plan.kind}`",
                remedy=f"strata results {folder}",
            )
        whole: dict[str, Any] = session.summarise(opened, Standings(opened), write=False)
    finally:
        opened.close()
    console.show(whole)
    page = folder / "report" / "report.html"
    said = [*views.statements(whole), *answer.failures(whole)]
    where = str(page) if page.exists() else "none yet: the study has not ended"
    print(*map(visible_lines, [*said, *answer.ending(whole, where)]), sep="\n")
    return 0


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary of a finished study, for a notebook."""
    return dict(json.loads((folder / "summary.json").read_text()))
