"""Speeds, times and sizes as they are typed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from strata.errors import StrataError

_RATES = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_SIZES = {"mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40}


def rate(text: str) -> float:
    """1gbit, 100mbit: bits per second."""
    return _read(text, _RATES, "--link", "1gbit")


def latency(text: str) -> float:
    """50us, 2ms: seconds."""
    return _read(text, _TIMES, "--latency", "50us")


def size(text: str, option: str = "--memory") -> int:
    """2GiB, 512MiB: bytes."""
    return int(_read(text, _SIZES, option, "2GiB"))


def _read(text: str, units: Mapping[str, float], option: str, example: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", text.strip().lower())
    if not found or found[2] not in units or float(found[1]) == 0:
        allowed = f"a number above 0 and one of {', '.join(units)}, such as {example}"
        raise StrataError("this cannot be read", at=option, given=text, allowed=allowed)
    return float(found[1]) * units[found[2]]
