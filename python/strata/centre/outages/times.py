"""Times of logs as seconds since 1970 in UTC: with an offset of their own, or in the zone of the machine.

Twice a year a zone's clock makes times that do not say when they are. One that was skipped (02:30 on the day
on which clocks go forward) never was: it is refused. One that came twice (01:30 on the day on which they go
back) is taken for the first; the end of an outage that would then lie before its start, for the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from strata.errors import StrataError

if TYPE_CHECKING:
    import pandas as pd

UTC = "UTC"
FORMS = "such as 2026-03-01T14:05, 2026-03-01 14:05:30+01:00, or seconds since 1970"
_MICROSECONDS = 1e6
LAST = 2.0**33  # seconds since 1970, in the year 2242: a later time is a mistake, and makes axes without end
_NUMBER = r"^[0-9]{9,10}(?:\.[^-]*)?$"
_LONGEST = 80  # characters: no time has so many, and patterns take the square of what they look through
_OFFSET = r"Z$|:.*[+-].{4,5}$"


def zone(name: str) -> str:
    """The name of a time zone. Raises StrataError where there is none of that name."""
    try:
        ZoneInfo(name)
    except (OSError, ValueError):  # ZoneInfoNotFoundError is a KeyError
        raise _no_zone(name) from None
    except KeyError:
        raise _no_zone(name) from None
    return name


def _no_zone(name: str) -> StrataError:
    return StrataError(
        "no such time zone", at="--zone", given=name, allowed="a name such as America/Los_Angeles or UTC"
    )


@dataclass(frozen=True)
class Read:
    """`seconds`: NaN where the cell is empty or no time. `second`: the later reading of a time that came
    twice, else the same. `wrong`, `skipped`: cells that are no time, and those that never were.
    """

    seconds: np.ndarray
    second: np.ndarray
    wrong: np.ndarray
    skipped: np.ndarray

    @property
    def twice(self) -> np.ndarray:
        return self.second > self.seconds


def read(texts: pd.Series, name: str, form: str = "ISO8601") -> Read:
    """The cells of a column as times; those without an offset are in the zone `name`."""
    import pandas as pd

    texts = texts.astype(str).str.strip().str.slice(0, _LONGEST).reset_index(drop=True)
    empty = (texts == "").to_numpy(bool)
    number, offset = (texts.str.contains(looks).to_numpy(bool) for looks in (_NUMBER, _OFFSET))
    seconds = np.full(len(texts), np.nan)
    if number.any():
        seconds[number] = pd.to_numeric(texts[number], errors="coerce")
    if offset.any():
        seconds[offset] = _seconds(pd.to_datetime(texts[offset], utc=True, format=form, errors="coerce"))
    local = ~(empty | number | offset)
    second, skipped = seconds.copy(), np.zeros(len(texts), bool)
    if local.any():
        naive = pd.to_datetime(texts[local], format=form, errors="coerce")
        seconds[local], second[local], skipped[local] = localised(naive, name)
    far = ~(np.abs(seconds) <= LAST)
    seconds[far], second[far] = np.nan, np.nan
    wrong = far & ~empty & ~skipped
    return Read(seconds, second, wrong, skipped)


def localised(naive: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times without an offset as seconds: the first reading, the later one, and which never were."""
    if name == UTC:  # ten times as fast as to localise them
        only = _seconds(naive)
        return only, only, np.zeros(len(naive), bool)
    first, later = (_localised(naive, name, summer) for summer in (True, False))
    return first, later, np.isnan(first) & naive.notna().to_numpy()


def _localised(naive: pd.Series, name: str, summer: bool) -> np.ndarray:
    at = np.full(len(naive), summer)
    return _seconds(naive.dt.tz_localize(name, ambiguous=at, nonexistent="NaT").dt.tz_convert(UTC))


def _seconds(times: Any) -> np.ndarray:
    values = times.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")  # of ns there are 292 years alone
    out = values.view("int64") / _MICROSECONDS
    out[np.isnat(values)] = np.nan
    return out


def one(text: str, name: str, at: str) -> float:
    """One time in seconds. Raises StrataError, `at` where it was given, for what is none."""
    import pandas as pd

    found = read(pd.Series([text]), name)
    if np.isnan(found.seconds[0]):
        raise refusal(bool(found.skipped[0]), at, text, name)
    return float(found.seconds[0])


def refusal(skipped: bool, at: str, given: str, name: str) -> StrataError:
    """The error for a cell that is no time, or that never was."""
    if skipped:
        return StrataError(
            f"this time never was: clocks of {name} went forward over it",
            at=at,
            given=given,
            allowed="a time with its offset, such as 2026-03-29T02:30+01:00",
            remedy="--zone, where the log was kept in another zone",
        )
    return StrataError("not a time", at=at, given=given or "nothing", allowed=FORMS)


def text(seconds: float) -> str:
    """A time for people, to the minute, in UTC."""
    return str(np.datetime64(round(seconds), "s").astype("datetime64[m]")).replace("T", " ")


def days(texts: Sequence[float]) -> np.ndarray:
    """Seconds as days."""
    return np.asarray(texts) / 86400.0
