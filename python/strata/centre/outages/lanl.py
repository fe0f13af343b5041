"""The public failure data of Los Alamos National Laboratory (LA-UR-05-7318): a row for each failure of a
node.

Its traps, and what is done about them:

- Dates are of the form 6/21/2005 10:54: month, day, year.
- `node prod`, `node decom` have months such as `5-Apr`: a spreadsheet made that of 05-Apr, April of 2005.
  `Jul-96` is July of 1996; `before tracking` and `current` say nothing.
- The cause is the column that is not empty. Of several the first counts; of none the cause is unknown.
- `Same Event` is `Yes` where several nodes failed together: they are one event, and each has its own time.
- `Down Time` (minutes) is a second account of end less start: where the two differ the times count, and it is
  said.
- Rows of a node that is not fixed yet have no `Prob Fixed`.

A system is observed from the first production of one of its nodes, as far as that is known, to its last
node's decommission, or else to the last time in the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from strata.centre.outages.categories import OBSERVED, Categories
from strata.centre.outages.log import SAME, Cells
from strata.centre.outages.tables import table
from strata.errors import StrataError

if TYPE_CHECKING:
    import pandas as pd

CAUSES = {
    "facilities": "facility",
    "hardware": "hardware",
    "human error": "other",
    "network": "network",
    "undetermined": "unknown",
    "software": "software",
}
NEEDED = (
    ("system",),
    ("nodes",),
    ("procstot",),
    ("nodenumz", "nodenum"),
    ("prob started", "prob started (mm/dd/yy hh:mm)"),
    ("prob fixed", "prob fixed (mm/dd/yy hh:mm)"),
    *((cause,) for cause in CAUSES),
)
NAMES = {
    "start": "Prob Started",
    "end": "Prob Fixed",
    "parts": "procstot",
    "units": "nodes",
    "system": "System",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def read(path: Path, categories: Categories) -> Cells:
    """The file's rows. Raises StrataError with row and column for what is not such a file."""
    import pandas as pd

    found, rows = table(path, NEEDED, what="file of LANL's failure data")
    if not len(found):
        raise StrataError("no failure in it", at=str(path), given="no row", allowed="a row for each failure")
    said: list[str] = []
    start, end = (_iso(found[name]) for name in ("prob started", "prob fixed"))
    text = pd.DataFrame(
        {
            "system": "system " + found["system"],
            "parts": found["procstot"],
            "units": found["nodes"],
            "description": found.get("machine type", ""),
            "node": found["nodenumz"],
            "start": start,
            "end": end,
            "category": _cause(found, path, rows, categories, said),
            SAME: _same(found),
        }
    )
    _down_time(found, start, end, rows, said)
    watched = _observed(found, text)
    if len(watched):
        text = pd.concat([text, watched], ignore_index=True)
        rows = np.r_[rows, np.ones(len(watched), int)]
    return Cells(str(path), text, rows, names=NAMES, said=said)


def _iso(texts: pd.Series) -> pd.Series:
    """Dates as ISO 8601; what is no date stays as it is, to be refused with its place."""
    import pandas as pd

    out = texts.copy()
    for form in ("%m/%d/%Y %H:%M", "%m/%d/%y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y"):
        at = pd.to_datetime(texts, format=form, errors="coerce")
        out = out.where(at.isna(), at.dt.strftime("%Y-%m-%dT%H:%M:%S"))
    return out


def _cause(
    found: pd.DataFrame, path: Path, rows: np.ndarray, categories: Categories, said: list[str]
) -> pd.Series:
    import pandas as pd

    given = pd.DataFrame({key: found[name].str.lower().isin(["", "0", "no"]) for name, key in CAUSES.items()})
    count = (~given).sum(axis=1)
    category = (~given).idxmax(axis=1).where(count > 0, "unknown")
    for key in CAUSES.values():
        if categories.index(key) is None and (category == key).any():
            raise StrataError(
                f"a cause of LANL's is not among the categories: {key}",
                at=str(path),
                allowed=", ".join(categories.keys),
                remedy=f"[categories.{key}] in --categories",
            )
    for which, what in (
        (count > 1, "have several causes: the first counts"),
        (count == 0, "have no cause: unknown"),
    ):
        if which.any():
            said.append(
                f"{int(which.sum())} rows (the first is row {rows[np.flatnonzero(which)[0]]}) {what}."
            )
    return category


def _same(found: pd.DataFrame) -> pd.Series:
    """Not empty for all but the first of the rows that say they are one event and began at the same time."""
    if "same event" not in found:
        return found["system"].where(False, "")
    yes = found["same event"].str.lower().str.startswith("y")
    key = found["system"] + "\0" + found["prob started"]
    return yes.where(yes & key.where(yes).duplicated(), False).map({True: "yes", False: ""})


def _down_time(
    found: pd.DataFrame, start: pd.Series, end: pd.Series, rows: np.ndarray, said: list[str]
) -> None:
    import pandas as pd

    if "down time" not in found:
        return
    minutes = pd.to_numeric(found["down time"].str.replace(",", ""), errors="coerce")
    both = (
        pd.to_datetime(end, format="ISO8601", errors="coerce")
        - pd.to_datetime(start, format="ISO8601", errors="coerce")
    ).dt.total_seconds() / 60
    wrong = ((minutes - both).abs() > 1).to_numpy()
    if wrong.any():
        said.append(
            f"{int(wrong.sum())} rows (the first is row {rows[np.flatnonzero(wrong)[0]]}) have a "
            "Down Time that "
            "is not the time from start to end: start and end count."
        )


def month(text: str) -> str | None:
    """The first day of a month such as `5-Apr` (April of 2005) or `Jul-96`; None for what names no month."""
    found = re.fullmatch(r"(?:(\d{1,2})-([A-Za-z]{3})|([A-Za-z]{3})-(\d{2}))", text.strip())
    if not found:
        return None
    name, year = (found.group(2), found.group(1)) if found.group(1) else (found.group(3), found.group(4))
    if name.lower() not in _MONTHS:
        return None
    whole = int(year) + (2000 if int(year) < 70 else 1900)
    return f"{whole}-{_MONTHS.index(name.lower()) + 1:02d}-01"


def _observed(found: pd.DataFrame, text: pd.DataFrame) -> pd.DataFrame:
    """Rows that say from when to when each system was watched, where its nodes' production says so."""
    import pandas as pd

    last = max((t for t in [*text["start"], *text["end"]] if t[:2] in ("19", "20")), default="")
    made = []
    for name, group in text.groupby("system", sort=False):
        own = found.loc[group.index]
        begun = sorted(m for m in map(month, own["node prod"].unique()) if m) if "node prod" in own else []
        if not begun:
            continue
        first = min(begun[0], group["start"].min()[:10])
        gone = [month(t) for t in own["node decom"].unique()] if "node decom" in own else [None]
        done = max(t for t in gone if t) if gone and all(gone) else ""
        done = done if done > max(group["start"].max(), group["end"].max()) else last
        made.append({"system": name, "category": OBSERVED, "start": first, "end": done})
    empty = dict.fromkeys(text.columns, "")
    return pd.DataFrame([{**empty, **one} for one in made], columns=text.columns)
