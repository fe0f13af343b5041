# ruff: noqa: E501 (rows of files are as long as they are)
"""Logs of outages that nobody trusts, in all forms, and what says how they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("pyarrow", reason="PyArrow is not installed")

import fuzzing
from fuzzing import Target

from strata.centre.outages import categories, forms, history, lanl, log, nagios, slurm, tables, times
from strata.centre.outages.categories import Categories
from strata.centre.reliability import published

CSV = (
    "# these outages never were\nsystem,parts,start,end,category,note,node,units,description\n"
    'one,4,2026-01-01T00:00,2026-01-02T00:00,hardware,"a, b",n1,2,"big\nmachine"\n'
    "one,4,2026-01-01 00:00:30+01:00,,Software Outage,,n2,2,\n"
    "two,,1767225600,1767229200.5,maintenance,,,,\n"
    "one,4,2026-01-01,2026-12-31,observed,,,2,\n"
)
JSON = json.dumps(
    {
        "schema": "strata.outages/1",
        "generated": "never",
        "systems": {
            "one": {"parts": 4, "units": 2, "description": "big", "observed": ["2026-01-01", "2026-02-01"]}
        },
        "outages": [
            {"system": "one", "start": "2026-01-03", "end": None, "category": "tape", "node": "n1"},
            {"system": "two", "start": 1767225600, "end": 1767229200, "category": "unknown", "parts": 3},
        ],
    }
)
LANL = (
    "failures of Los Alamos\nSystem,machine type,nodes,procstot,procsinnode,nodenum,nodenumz,node install,node prod,"
    "node decom,Prob Started,Prob Fixed,Down Time,Facilities,Hardware,Human Error,Network,Undetermined,Software,"
    "Same Event\n"
    "20,cluster,512,2048,4,0,0,5-Apr,5-Apr,current,6/21/2005 10:54,6/21/2005 11:00,6,,Memory Dimm,,,,,No\n"
    "20,cluster,512,2048,4,1,1,5-Apr,Jul-96,5-Dec,7/1/2005 0:00,7/1/2005 12:00,720,,,,,,NFS,Yes\n"
    "20,cluster,512,2048,4,2,2,5-Apr,5-Apr,current,7/1/2005 0:00,7/2/2005 0:00,9,Power,,,,,NFS,Yes\n"
    "20,cluster,512,2048,4,3,3,5-Apr,5-Apr,current,9/2/05 0:00,,60,,,,,,,\n"
)
EVENTS = (
    "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|TRES\n"
    "c||2026-01-01T00:00:00|Unknown||Cluster Registered TRES|cpu=64,mem=1M,node=2\n"
    "c|n1|2026-01-02T00:00:00|2026-01-02T06:00:00|DOWN|Not responding|cpu=32\n"
    "c|n2|2026-01-03T00:00:00|2026-01-04T00:00:00|DRAIN|swap of cables|\n"
)
JOBS = (
    "JobID|Cluster|State|Start|End|NodeList\n7|c|NODE_FAIL|2026-01-01T00:00:00|2026-01-02T00:00:00|n[1-4]\n"
    "9|c|COMPLETED|2026-01-01T00:00:00|2026-01-03T00:00:00|n5\n"
)
NAGIOS = (
    "[1767225600] LOG ROTATION: DAILY\n[1767225600] CURRENT HOST STATE: n1;UP;HARD;1;OK\n"
    "[1767226600] HOST ALERT: n1;DOWN;SOFT;1;lost\n[1767226700] HOST ALERT: n1;DOWN;HARD;3;disk died\n"
    "[1767227700] HOST ALERT: n1;UP;HARD;1;OK\n[1767228000] HOST DOWNTIME ALERT: n2;STARTED; work\n"
    "[1767228100] HOST ALERT: n2;UNREACHABLE;HARD;3;gone\n[1767228200] HOST DOWNTIME ALERT: n2;STOPPED; done\n"
    "[1767228300] SERVICE ALERT: n1;nfs;CRITICAL;HARD;3;slow\n[1767228400] SERVICE ALERT: n1;nfs;OK;HARD;3;well\n"
)
STATES = (
    "host_name,state_time,hard_state,state_type,output\nn1,1767225600,down,hard,it smells\nn1,1767225600,1,soft,x\n"
    "n1,2026-01-02T00:00:00,up,1,\nn2,1767225600,0,hard,\n"
)
TOML = (
    '[categories.hardware]\ntitle = "Broken"\ninterrupt = true\nmatch = ["dimm", "^fan$"]\n'
    '[categories.mine]\nkind = "scheduled"\n'
)
SHARED = (log.contents, log.understood, log._words, log._systems, log._categories, log._numbers, times.read)
TIMES = (times.localised, times._localised, times._seconds, times.refusal)


def understood(form: str | None) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        history.histories(forms.read([path], form, Categories(), "Europe/Berlin", None), Categories())

    return read


def with_categories(path: Path) -> None:
    found = categories.load(path)
    for reason in ("bad DIMM", "a" * 64):
        found.of_reason(reason)


PUBLISHED = (
    ",".join(published.HEAD) + "\n1,one,hardware,," + ",".join("1.5" for _ in published.FIGURES) + "\n"
)
TARGETS = [
    Target(
        "outages csv", understood(None), "log.csv", [CSV], [log, times.read, *TIMES], ("_json", "_row", "at")
    ),
    Target("outages json", understood(None), "log.json", [JSON], [log._json, log._row, *SHARED, *TIMES]),
    Target("lanl", understood("lanl"), "log.csv", [LANL], [lanl, tables.table, *SHARED]),
    Target(
        "slurm's events", understood("slurm"), "events.txt", [EVENTS, JOBS], [slurm, tables.table], ("size",)
    ),
    Target("nagios", understood("nagios"), "nagios.log", [NAGIOS, STATES], [nagios, tables.table, *SHARED]),
    Target("categories", with_categories, "categories.toml", [TOML], [categories.load, categories._category]),
    Target(
        "published totals", published.read, "totals.csv", [PUBLISHED], [published.read, published._printed]
    ),
]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_strangers_log_is_read_or_refused(target: Target, tmp_path: Path) -> None:
    fuzzing.some(target, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_many_strangers_logs(target: Target, tmp_path: Path) -> None:
    fuzzing.many(target, tmp_path)
