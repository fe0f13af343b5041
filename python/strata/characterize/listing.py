"""`strata results`: what a results folder holds, asked of the index."""

from __future__ import annotations

from pathlib import Path

from strata import own_folders, paths, scripts
from strata.characterize.console import number
from strata.errors import StrataError
from strata.measure import index, stats, store
from strata.measure.disturbances import counted


def newest() -> Path:
    """The results folder written to last, of those that no other user can change, where there is one."""
    base = paths.results_base()
    found = sorted(base.glob("*/plan.json"), key=lambda p: p.stat().st_mtime)
    if not found:
        raise StrataError(
            "no results yet", at=str(base), remedy="`strata characterize` makes some; or name a folder"
        )
    own = [plan for plan in found if not own_folders.replaceable(plan.parent)]
    return (own or found)[-1].parent


def show_medians(folder: Path, *, rebuild: bool) -> int:
    """Every figure of every task, with n and interval, and what did not count."""
    policy = store.read_plan(folder).policy
    most = policy.looks
    connection = index.open_index(folder, rebuild=rebuild)
    print(scripts.visible(str(folder)))
    for task in index.tasks(connection):
        notes = [
            f"{task[key]} {word}"
            for key, word in (("tainted", "disturbed"), ("failed", "failed"))
            if task[key]
        ]
        why = counted(index.reasons(connection, task["task"]))
        disturbed = not policy.strict and task["tainted"] > 0 and task["good"] < stats.LEAST
        count = f"{task['good']} of {task['launches']} launches undisturbed"
        _say(
            f"{task['task']}: {count}"
            + (f"; {', '.join(notes)}" if notes else "")
            + (f" ({why})" if why else "")
            + ("; the figures are those of all launches" if disturbed else "")
        )
        for name, unit in index.figure_names(connection, task["task"]):
            values = index.figure_samples(connection, task["task"], name, disturbed)
            known = stats.estimate(values, most=most)
            spread = f"[{number(known.low)}, {number(known.high)}]" if known.low is not None else known.note
            ends = f"min {number(known.minimum)}  max {number(known.maximum)}"
            _say(f"    {name:<28} {number(known.median):>10} {unit or '':<6} {spread}  n={known.n}  {ends}")
    if rebuild:
        _say(f"rebuilt {folder / index.NAME}")
    return 0


def show_samples(folder: Path, task: str) -> int:
    """Every launch of one task, in order, with what disturbed it."""
    opened = store.open_existing(folder)
    samples = opened.samples_of(task)
    if not samples:
        raise StrataError(
            "no launches of this task",
            at=str(folder),
            given=task,
            allowed=", ".join(t.id for t in opened.plan.tasks),
        )
    for sample in samples:
        kind = (
            "warm-up"
            if sample.block == 0
            else "counts"
            if sample.good
            else "failed"
            if sample.failed
            else "disturbed"
        )
        figures = (sample.result or {}).get("figures") or []
        values = ", ".join(f"{f['name']} {number(f['value'])} {f['unit']}" for f in figures[:6])
        _say(f"{sample.time}  {kind:<9}  {values}")
        for reason in sample.tainted:
            _say(f"    {reason['code']}: {reason['text']}")
        if sample.failed:
            _say(f"    {sample.failed}")
    return 0


def _say(text: str) -> None:
    """Names, units and reasons come from journals that anybody may have written."""
    print(scripts.visible_lines(text))
