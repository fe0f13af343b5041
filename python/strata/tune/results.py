"""The results folder of a tuning: tune.json, and summary and report made from it and from the journals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata.characterize import session
from strata.measure import store, summary
from strata.measure.files import read_json, write_json
from strata.measure.standings import Standings
from strata.scripts import visible_lines

SCHEMA = "strata.tune/1"
NAME = "tune.json"
_REMEDY = "restore the file, or tune again into another folder"


def write(opened: store.Store, document: Mapping[str, Any]) -> Path:
    """tune.json, summary.json and the report; returns the report's page."""
    write_json(opened.path / NAME, document)
    return session.build_report(summarise(opened), opened.path)


def summarise(opened: store.Store) -> dict[str, Any]:
    """The summary of every layout that was launched, with the answer as `tune`, and summary.json from it.

    `tune` is None where the tuning was interrupted before it had an answer. Raises StrataError for files that
    are damaged.
    """
    path = opened.path
    machine, facts = store.read_facts(path)
    standings = Standings(opened)
    launched = [task for task in opened.tasks if opened.samples_of(task.id)]
    whole = summary.summarize(opened, [standings.standing(task) for task in launched], machine, facts)
    answer = path / NAME
    whole["tune"] = dict(read_json(answer, SCHEMA, _REMEDY)) if answer.exists() else None
    write_json(path / "summary.json", whole)
    return whole


def rebuild(opened: store.Store) -> int:
    """`strata report DIR` of a tuning: summary and report again."""
    whole = summarise(opened)
    page = session.build_report(whole, opened.path)
    answer = whole["tune"]
    said = answer["why"] if answer else "ended before it had an answer: its launches are in the report"
    print(visible_lines(str(said)))
    print(f"results: {opened.path}\nreport:  {page}")
    return 0
