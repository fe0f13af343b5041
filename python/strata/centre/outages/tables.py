"""Tables of other tools as columns of a log: a header, a separator, texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from strata.centre.outages.log import contents
from strata.errors import StrataError

if TYPE_CHECKING:
    import pandas as pd


def table(
    path: Path, needed: Sequence[Sequence[str]], separator: str = ",", what: str = "table"
) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows below the first line that has all `needed` columns, which may come after lines of other text,
    and the number of each row in the file. A column that is found by any of its names gets the first; names
    are in lower case.
    """
    import pandas as pd

    try:
        lines = list(csv.reader(io.StringIO(contents(path)), delimiter=separator))
    except csv.Error as error:
        raise StrataError(f"not a {what}", at=str(path), given=str(error), allowed="rows of cells") from None
    heads = ((i, [" ".join(cell.lower().split()) for cell in line]) for i, line in enumerate(lines))
    at, head = next(((i, h) for i, h in heads if all(set(names) & set(h) for names in needed)), (-1, []))
    if at < 0:
        raise StrataError(
            f"not a {what}",
            at=f"{path}: row 1",
            given=separator.join(lines[0])[:80] if lines else "nothing",
            allowed="columns " + ", ".join(names[0] for names in needed),
        )
    of = {next(n for n in names if n in head): names[0] for names in needed}
    head = [of.get(name, name) for name in head]
    if twice := [name for name in head if name and head.count(name) > 1]:
        raise StrataError(
            "a column that is there twice",
            at=f"{path}: row {at + 1}",
            given=twice[0][:80],
            allowed="each once",
        )
    rows = [
        (i, row) for i, row in enumerate(lines[at + 1 :], start=at + 2) if any(cell.strip() for cell in row)
    ]
    for i, row in rows:
        if len(row) < len(head) - 1 or len(row) > len(head):  # a last separator may be left out
            raise StrataError(
                "a row has another number of cells than the header",
                at=f"{path}: row {i}",
                given=f"{len(row)}: {separator.join(row)[:60]}",
                allowed=str(len(head)),
            )
    frame = pd.DataFrame([[*row, *[""] * (len(head) - len(row))] for _, row in rows], columns=head, dtype=str)
    return frame.apply(lambda column: column.str.strip()), np.array([i for i, _ in rows], dtype=int)
