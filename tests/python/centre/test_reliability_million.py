"""A claim about `strata centre reliability` on a log of a million rows: its figures are those of a reckoning
row by row, and of the rates that the log was drawn from. It prints time and peak memory; neither is judged.

    ./strata test --soak -k million
    python tests/python/centre/test_reliability_million.py big.csv      # the log alone
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROWS, SYSTEMS, NODES = 1_000_000, 22, 1024
FIRST, LAST = 820_454_400, 1_767_225_600  # 1996 to 2026
MEAN = 6 * 3600  # seconds of an outage, and at least a minute
KINDS = {
    "hardware": 0.4,
    "software": 0.3,
    "network": 0.1,
    "nfs": 0.05,
    "maintenance": 0.1,
    "problem": 0.05,
}
DAY = 86400.0


def draw() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    start = np.sort(random.integers(FIRST, LAST, ROWS))
    return {
        "start": start,
        "end": start + random.exponential(MEAN, ROWS).astype(int) + 60,
        "kind": np.array(list(KINDS))[random.choice(len(KINDS), ROWS, p=list(KINDS.values()))],
        "system": random.integers(SYSTEMS, size=ROWS),
        "node": random.integers(NODES, size=ROWS),
    }


def write(path: Path, rows: dict[str, np.ndarray]) -> None:
    starts, ends = (np.datetime_as_string(rows[k].astype("datetime64[s]")) for k in ("start", "end"))
    with path.open("w") as file:
        file.write("system,parts,units,node,start,end,category,note\n")
        for i in range(ROWS):
            s = rows["system"][i]
            file.write(
                f"s{s},{4096 >> (s % 6)},{NODES},n{rows['node'][i]},{starts[i]},{ends[i]},{rows['kind'][i]},"
                "text of a note\n"
            )


def reckoned(rows: dict[str, np.ndarray], system: int) -> tuple[int, float]:
    """Interrupts, and days down of all nodes together: one row after the other."""
    mine = (rows["system"] == system) & (rows["kind"] != "problem")
    until: dict[int, float] = {}
    events, seconds = 0, 0.0
    end = max(rows["start"][rows["system"] == system].max(), rows["end"][rows["system"] == system].max())
    for start, stop, node, kind in zip(
        *(rows[k][mine] for k in ("start", "end", "node", "kind")), strict=True
    ):
        reached = until.get(node, -1.0)
        events += int(start > reached and kind in ("hardware", "software"))
        seconds += max(0.0, min(stop, end) - max(start, reached))
        until[node] = max(stop, reached)
    return events, seconds / DAY


@pytest.mark.soak
def test_a_million_rows_give_what_a_reckoning_row_by_row_gives(tmp_path: Path) -> None:
    rows = draw()
    write(tmp_path / "big.csv", rows)
    words = ["centre", "reliability", "big.csv", "--since", "2015-01-01", "--out", "report"]
    began = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-m", "strata", *words], cwd=tmp_path, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print(
        f"{ROWS} rows: {time.monotonic() - began:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of a core, "
        f"{used.ru_maxrss / 1e6:.2f} GB"
    )
    assert child.returncode == 0
    found = json.loads((tmp_path / "report" / "reliability.json").read_text())["systems"]
    assert len(found) == SYSTEMS and len(list((tmp_path / "report" / "figures").iterdir())) == SYSTEMS + 1
    by_name = {s["name"]: s for s in found}
    for system in (0, 7, 21):
        events, days = reckoned(rows, system)
        one = by_name[f"s{system}"]
        assert next(r for r in one["rows"] if r["key"] == "interrupts")["events"] == events
        down = (1 - one["available"]["value"]) * one["days"] * NODES
        assert down == pytest.approx(days, rel=1e-6)
    # Outages come at random: 95 % intervals of the Weibull shape and of growth hold 1, but for a few of 22.
    assert sum(s["fit"]["shape_low"] <= 1 <= s["fit"]["shape_high"] for s in found) >= 18
    assert sum(s["growth"]["beta_low"] <= 1 <= s["growth"]["beta_high"] for s in found) >= 18


if __name__ == "__main__":
    write(Path(sys.argv[1]), draw())
