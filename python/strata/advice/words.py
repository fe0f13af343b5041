"""Numbers as people read them; shared by findings, drawings and the report so that one figure always looks
the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def count(n: int, noun: str, several: str | None = None) -> str:
    """'1 core', '2 cores'; `several` is the plural where that is not the noun and an s."""
    return f"{n} {noun}" if n == 1 else f"{n} {several or noun + 's'}"


def size(n: float) -> str:
    """Bytes in binary units, at most three digits: 32 KiB, 1.25 MiB, 480 MiB."""
    value, units = float(n), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{digits(value)} {units[0]}"


def digits(value: float, significant: int = 3, *, strip: bool = True) -> str:
    """Plain decimal with this many significant digits, without trailing zeros if `strip`; thousands separated
    by a thin space.
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    if decimals:
        text = text.rstrip("0").rstrip(".") if strip else text
    elif abs(value) >= 10_000:
        text = f"{round(value):,}".replace(",", "\u2009")
    return text


def list_some(items: Iterable[object], most: int = 6) -> str:
    """The first few items, and how many more there are."""
    every = [str(i) for i in items]
    if len(every) <= most:
        return ", ".join(every)
    return ", ".join(every[:most]) + f" and {len(every) - most} more"


def percent(share: float) -> str:
    """A share as a per cent figure with a sensible number of digits."""
    value = 100.0 * share
    if value != 0 and abs(value) < 0.1:
        return f"{value:.2g} %"
    return f"{value:.1f} %" if abs(value) < 10 else f"{value:.0f} %"


def unit_text(unit: str) -> str:
    """Units as they are printed: microseconds with their letter."""
    return "µs" if unit == "us" else unit
