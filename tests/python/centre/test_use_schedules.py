"""Claims about hours of schedules that were made first, and then written in each form of logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from schedules import QUEUES, USERS, Schedule, schedule
from written_logs import pbs, sacct, swf

from strata.centre.jobs import forms
from strata.centre.use.analysis import Analysis, Asked, analyse, months

FORMS = ("slurm", "swf", "pbs", "torque")
CLOSE = 0.01  # hours
FEW, MANY = 3, 300


def suited(made: Schedule, form: str) -> Schedule:
    """What a form cannot say is taken out before it is written: traces of the archive and logs of PBS have no
    job that was resized or suspended; its pieces become jobs. The archive has no requeues either.
    """
    if form == "slurm":
        return made
    for job in list(made.jobs):
        for run in job.runs:
            run.held = None
        if job.resized or (form == "swf" and len(job.runs) > 1):
            for run in job.runs[1:]:
                more = max(j.number for j in made.jobs) + 1
                made.jobs.append(type(job)(more, job.user, job.queue, run.start, [run]))
            job.runs, job.resized = job.runs[:1], False
    return made


def written(made: Schedule, form: str, seed: int, folder: Path) -> list[Path]:
    texts = {"slurm": lambda: [sacct(made, seed)], "swf": lambda: [swf(made, seed)]}.get(
        form, lambda: pbs(made, seed, form == "torque")
    )()
    paths = [folder / (f"{k}.swf" if form == "swf" else f"jobs{k}") for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    return paths


def read(made: Schedule, form: str, seed: int, folder: Path) -> Analysis:
    log = forms.read(written(made, form, seed, folder), None, made.zone)
    return analyse(log, Asked(begin=made.begin, until=made.end, zone=made.zone))


def names(form: str, made: tuple[str, ...]) -> dict[str, str]:
    """What a form calls each user or queue."""
    if form == "swf":
        return {name: str(i) for i, name in enumerate(made, start=1)}
    return {name: name.replace(" ", "_") if form in ("pbs", "torque") else name for name in made}


def holds(form: str, seed: int, folder: Path) -> None:
    made = suited(schedule(seed), form)
    found, hours = read(made, form, seed, folder), made.hours()
    what = f"{form}, seed {seed}, {made.zone}"
    assert found.sums.use.used.sum() / 3600 == pytest.approx(hours["all"][""], abs=CLOSE), what
    for column, key, every in (("user", "user", USERS), ("partition", "queue", QUEUES)):
        have = {group.name: group.hours for group in found.names[column]}
        want = {names(form, every)[name]: value for name, value in hours[key].items()}
        assert have == pytest.approx({**dict.fromkeys(have, 0.0), **want}, abs=CLOSE), f"{what}: {column}"
    have = {m["month"]: m["used_hours"] for m in months(found)}
    assert have == pytest.approx({**dict.fromkeys(have, 0.0), **hours["month"]}, abs=CLOSE), what
    assert found.sums.starts.sum() == made.starts(), what


@pytest.mark.parametrize("form", FORMS)
def test_hours_of_a_schedule_are_read_from_each_form(form: str, tmp_path: Path) -> None:
    for seed in range(FEW):
        holds(form, seed, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("form", FORMS)
def test_hours_of_many_schedules(form: str, tmp_path: Path) -> None:
    for seed in range(FEW, MANY):
        holds(form, seed, tmp_path)
