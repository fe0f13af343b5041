"""Slurm's records of nodes and of jobs that nodes failed: `sacctmgr -P show event`, `sacct -P -X -s NF`.

A node that is down or drained is out of service. Its category is that of the first pattern of the categories
that its reason has; without one a drained node is maintenance (someone drained it) and the cause of a node
that is down is unknown. Events of whole clusters (no node) are left out; with the column TRES they say how
many nodes and processors there are. The rows of a node that goes from down to drained touch each other: they
are one event.

Of jobs only the moment is known at which they failed: each is an event without time, and jobs of one moment
are one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from strata.centre.outages.categories import Categories
from strata.centre.outages.log import SAME, Cells, contents
from strata.centre.outages.tables import table
from strata.errors import StrataError

if TYPE_CHECKING:
    import pandas as pd

EVENTS = (
    ("cluster",),
    ("nodename", "node name"),
    ("timestart", "start"),
    ("timeend", "end"),
    ("state",),
    ("reason",),
)
JOBS = (("jobid",), ("state",), ("end",), ("nodelist",))
NO_EVENT = "no event of a node in it"
_NEVER = ("unknown", "none", "0")


def read(path: Path, categories: Categories) -> Cells:
    """The events of a file of either command. Raises StrataError with row and column for what is neither."""
    first = contents(path).partition("\n")[0].lower().replace(" ", "")
    if "jobid" in first.split("|"):
        return _jobs(path)
    return _events(path, categories)


def _events(path: Path, categories: Categories) -> Cells:
    import pandas as pd

    found, rows = table(path, EVENTS, "|", "table of `sacctmgr -P show event`")
    sizes = _sizes(found)
    of_node = (found["nodename"] != "").to_numpy()
    found, rows = found[of_node].reset_index(drop=True), rows[of_node]
    if not len(found):
        raise StrataError(
            NO_EVENT,
            at=str(path),
            given="rows of clusters alone",
            allowed="rows with a NodeName",
            remedy="sacctmgr -P show event start=2020-01-01",
        )
    drained = ~found["state"].str.upper().str.contains("DOWN|FAIL|ERROR|NOT_RESP", regex=True)
    category = {
        (reason, drain): categories.of_reason(reason, "maintenance" if drain else "unknown")
        for reason, drain in set(zip(found["reason"], drained, strict=True))
    }
    text = pd.DataFrame(
        {
            "system": found["cluster"],
            "node": found["nodename"],
            "start": found["timestart"],
            "end": _ends(found["timeend"]),
            "category": [category[both] for both in zip(found["reason"], drained, strict=True)],
            "note": found["reason"],
            "parts": [sizes[name][0] if name in sizes else "" for name in found["cluster"]],
            "units": [sizes[name][1] if name in sizes else "" for name in found["cluster"]],
        }
    )
    return Cells(str(path), text, rows, names={"start": "TimeStart", "end": "TimeEnd", "system": "Cluster"})


def _sizes(found: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Processors and nodes of each cluster by the newest row that says them."""
    sizes = {}
    if "tres" in found:
        for name, tres in zip(found["cluster"], found["tres"], strict=True):
            cpu, node = (re.search(rf"(?:^|,){key}=(\d+)", tres) for key in ("cpu", "node"))
            if cpu and node:  # rows of nodes have no node=
                sizes[name] = (cpu.group(1), node.group(1))
    return sizes


def size(path: Path, cluster: str | None) -> int | None:
    """Processors of a cluster as its events say, also where no node had one."""
    found, _ = table(path, EVENTS, "|", "table of `sacctmgr -P show event`")
    sizes = _sizes(found)
    known = sizes.get(cluster) if cluster else next(iter(sizes.values())) if len(sizes) == 1 else None
    return int(known[0]) if known else None


def _ends(texts: pd.Series) -> pd.Series:
    return texts.where(~texts.str.lower().isin(_NEVER), "")


def _jobs(path: Path) -> Cells:
    import pandas as pd

    found, rows = table(path, JOBS, "|", "table of `sacct -P -X -s NF`")
    failed = found["state"].str.upper().str.startswith("NODE_FAIL").to_numpy()
    found, rows = found[failed].reset_index(drop=True), rows[failed]
    if not len(found):
        raise StrataError(
            "no job that a node failed in it",
            at=str(path),
            given="other states",
            allowed="NODE_FAIL",
            remedy="sacct -P -X -a -s NF -o jobid,cluster,state,end,nodelist",
        )
    text = pd.DataFrame(
        {
            "system": found.get("cluster", path.stem),
            "start": found["end"],
            "end": found["end"],
            "category": "unknown",
            "note": "job " + found["jobid"] + " on " + found["nodelist"],
            SAME: np.where(found["end"].duplicated(), "yes", ""),
        }
    )
    return Cells(
        str(path),
        text,
        rows,
        names={"start": "End", "end": "End"},
        said=["Of jobs that a node failed only the moment is known: no time is lost in the account."],
    )
