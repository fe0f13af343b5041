"""What a run says of a rotor: which one it is; the lift of its blades' sections beside recorded values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from strata import documents
from strata.flow.surface import Curve
from strata.flow.wake import Rotor

_SECTION = re.compile(r"section lift at ([\d.eE+-]+) of the radius")


def of_result(result: dict[str, Any]) -> Rotor | None:
    """The rotor of a run by its keys; None where its frame has no radius or stands still."""
    keys = {name: _value(text) for name, text in result.get("parameters", {}).items()}
    radius = float(keys.get("frame.radius") or 0)
    if radius == 0 or not (keys.get("frame.tip_mach") or keys.get("frame.rotation_rate")):
        return None
    turns = [abs(float(keys[name])) for name in keys if re.fullmatch(r"(grid|mesh\..+)\.turn", name)]
    turns = [turn for turn in turns if 0 < turn < 360]  # a whole annulus is no sector
    x, y, z = (*map(float, keys.get("frame.centre", ())), 0.0, 0.0, 0.0)[:3]
    return Rotor(
        "xyz".index(str(keys.get("frame.axis", "z"))),
        radius,
        round(360 / turns[0]) if turns else 1,
        (x, y, z),
    )


def _value(text: Any) -> Any:
    """A key's value: results have them as a case file would."""
    try:
        return documents.from_json(text)
    except (TypeError, ValueError):
        return text


def sections(result: dict[str, Any]) -> list[tuple[float, float]]:
    """Share of the radius and lift of each station (output.stations), from the root on."""
    found = []
    for figure in result.get("figures", []):
        match = _SECTION.fullmatch(figure["name"])
        if match:
            found.append((float(match[1]), float(figure["value"])))
    return sorted(found)


def beside(stations: Sequence[tuple[float, float]], curve: Curve) -> list[list[str]]:
    """Rows of a table: station, here, there, how far off. There it is linear between recorded stations, and
    nothing beyond them.
    """
    order = np.argsort(curve.x)
    rows = []
    for share, lift in stations:
        there = float(np.interp(share, curve.x[order], curve.values[order], left=np.nan, right=np.nan))
        known = np.isfinite(there)
        off = f"{100 * (lift / there - 1):+.1f} %" if known and there != 0 else ""
        rows.append([f"{share:g}", f"{lift:.4f}", f"{there:.4f}" if known else "", off])
    return rows
