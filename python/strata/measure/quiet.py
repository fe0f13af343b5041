"""Is the machine quiet, and if not, who keeps it busy? Read from /proc while nothing of ours runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strata.scripts import visible

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_LOOK_S = 0.4
# A look of 0.4 s sees ticks of 10 ms: one stray tick reads as 2.5 % of a CPU, so quiet means at most two of
# them a CPU.
_QUIET = 0.06
_QUIET_SHARE = 0.002  # of all CPUs besides: the daemons of a large node


def busy_seconds(cpus: set[int]) -> float | None:
    """CPU seconds used by anybody on these CPUs since boot; None where /proc/stat is hidden."""
    try:
        text = Path("/proc/stat").read_text()
    except OSError:
        return None
    total = 0
    for line in text.splitlines():
        words = line.split()
        if words and words[0].startswith("cpu") and words[0][3:].isdigit() and int(words[0][3:]) in cpus:
            user, nice, system, _idle, _iowait, irq, softirq = (int(w) for w in words[1:8])
            total += user + nice + system + irq + softirq
    return total * TICK_S


def _process_ticks() -> dict[int, int]:
    ticks: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            # A process gives itself its name, of any bytes.
            after_name = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        ticks[int(entry.name)] = int(after_name[11]) + int(after_name[12])
    return ticks


@dataclass(frozen=True)
class Look:
    """One look at the machine: the CPUs' worth of work others did, and the process that did most of it."""

    busy_cpus: float
    who: str | None
    quiet: bool


def look(cpus: set[int], seconds: float = _LOOK_S, always: float = 0.0) -> Look:
    """Watches these CPUs for a moment. `always`: CPUs' worth of work by others that never ends, and is no
    reason to wait.
    """
    before, processes, started = busy_seconds(cpus), _process_ticks(), time.monotonic()
    time.sleep(seconds)
    wall = time.monotonic() - started
    after = busy_seconds(cpus)
    if before is None or after is None:
        return Look(0.0, None, True)
    busy = (after - before) / wall
    if busy <= _QUIET + _QUIET_SHARE * len(cpus) + always:
        return Look(busy, None, True)
    used = {pid: t - processes.get(pid, t) for pid, t in _process_ticks().items() if pid != os.getpid()}
    top = max(used, key=lambda pid: used[pid], default=None)
    if top is None or used[top] == 0:
        return Look(busy, None, False)
    try:
        name = visible(Path(f"/proc/{top}/comm").read_text(errors="replace").strip())
    except OSError:
        name = "ended"
    return Look(busy, f"{name} (pid {top}) {used[top] * TICK_S / wall:.0%} of a CPU", False)


def wait_until_quiet(
    cpus: set[int], patience_s: float, tell: Callable[[str], None], always: float = 0.0
) -> float:
    """Waits until nobody works on these CPUs beyond what always does, or the patience is used up; returns
    the seconds that it took.
    """
    started = time.monotonic()
    while True:
        seen = look(cpus, always=always)
        waited = time.monotonic() - started
        if seen.quiet or waited >= patience_s:
            return waited
        busy = seen.who or f"{seen.busy_cpus:.2f} CPUs are busy"
        tell(f"waiting for a quiet machine: {busy}; {patience_s - waited:.0f} s more at most")
        time.sleep(min(1.0, max(0.0, patience_s - waited)))
