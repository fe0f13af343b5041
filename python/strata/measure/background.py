"""What others take of this machine all the time: measured with all cores busy, before the first launch that
counts.

A cloud machine whose hypervisor takes 5 % of every core is never below the limits of an undisturbed launch,
and repeating changes nothing. So the background is measured once and journalled; a launch that shows no more
than the background is answered and graded, and only what exceeds it is repeated.

All cores must be busy meanwhile: the hypervisor takes time only from a core that wants to run, and a
neighbour's share of a core shows in what a program that never sleeps did not get.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from strata.measure.disturbances import OTHER_GUESTS, OTHER_PROGRAMS, percent
from strata.measure.quiet import TICK_S
from strata.measure.taint import Limits

LONGEST_S, SHORTEST_S = 2.0, 0.5  # 200 ticks a core: a share of 5 % is read to within 1.5 %
PART = 0.01  # of the plan's time, between these
ROOM = (
    1.5  # how far above the measured background a launch may be: 200 ticks scatter, and so does a neighbour
)
_ALIKE = 0.5  # shares are alike where the least is at least this part of the largest
_QUIET_SWITCHES = 20.0  # involuntary switches a second that a thread alone on its core sees


@dataclass(frozen=True)
class Cpu:
    """Seconds since boot that a CPU has worked for anybody, and that the hypervisor has taken from it."""

    busy_s: float
    steal_s: float


def read_cpus(text: str, cpus: set[int]) -> dict[int, Cpu]:
    """The CPUs' lines of /proc/stat."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if not words or not words[0].startswith("cpu") or not words[0][3:].isdigit():
            continue
        if (cpu := int(words[0][3:])) in cpus:
            user, nice, system, _idle, _iowait, irq, softirq, steal = (int(w) for w in words[1:9])
            found[cpu] = Cpu((user + nice + system + irq + softirq) * TICK_S, steal * TICK_S)
    return found


@dataclass(frozen=True)
class Background:
    """Shares of each CPU, from 0 to 1, that others had while all CPUs were busy.

    `steal` went to other guests of the hypervisor, `others` to other processes of this system.
    `switches_per_s` is how often a program that never sleeps was preempted, `pressure` in which part of the
    time somebody waited for a CPU.
    """

    steal: Mapping[int, float]
    others: Mapping[int, float]
    switches_per_s: float = 0.0
    pressure: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "steal": {str(cpu): round(share, 4) for cpu, share in self.steal.items()},
            "others": {str(cpu): round(share, 4) for cpu, share in self.others.items()},
            "switches_per_s": round(self.switches_per_s, 1),
            "pressure": None if self.pressure is None else round(self.pressure, 4),
        }

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> Background:
        return Background(
            {int(cpu): float(share) for cpu, share in value["steal"].items()},
            {int(cpu): float(share) for cpu, share in value["others"].items()},
            float(value["switches_per_s"]),
            value["pressure"],
        )

    def raised(self, limits: Limits) -> Limits:
        """The limits above which a launch shows more than this background; on a quiet machine the limits as
        they are.

        A launch may run on the CPU that others use most, so the largest share of any CPU is what counts.
        """
        steal, others = _steady(self.steal, limits.steal_share), _steady(self.others, limits.others_share)
        if not steal and not others:
            return limits
        switches = max(0.0, self.switches_per_s - _QUIET_SWITCHES)
        elsewhere = sum(self.others.values()) if others else 0.0
        return replace(
            limits,
            steal_share=limits.steal_share + ROOM * steal,
            others_share=limits.others_share + ROOM * others,
            elsewhere_cpus=limits.elsewhere_cpus + ROOM * elsewhere,
            involuntary_per_s=limits.involuntary_per_s + ROOM * switches,
            cpu_pressure=limits.cpu_pressure + (self.pressure or 0.0),
        )

    def in_words(self, limits: Limits) -> str | None:
        """In words who took how much of which cores; None for a background that is below the limits."""
        said = [
            _told(shares, what)
            for shares, limit, what in (
                (self.steal, limits.steal_share, f"{OTHER_GUESTS} took"),
                (self.others, limits.others_share, f"{OTHER_PROGRAMS} took"),
            )
            if max(shares.values(), default=0.0) > limit
        ]
        return "; ".join(said) or None

    def is_local(self, limits: Limits) -> bool:
        """Whether one core has a neighbour that others do not have: settings on different cores are then
        unequal.
        """
        pairs = ((self.steal, limits.steal_share), (self.others, limits.others_share))
        return any(
            max(shares.values(), default=0.0) > limit and not _alike(shares) for shares, limit in pairs
        )


def _steady(shares: Mapping[int, float], limit: float) -> float:
    """The largest share, where it comes near the limit; else 0, so that a quiet machine's limits stay what
    they are.
    """
    top = max(shares.values(), default=0.0)
    return top if top > 0.5 * limit else 0.0


def _alike(shares: Mapping[int, float]) -> bool:
    return min(shares.values()) >= _ALIKE * max(shares.values())


def _told(shares: Mapping[int, float], what: str) -> str:
    if len(shares) == 1:
        return f"{what} {percent(mean(shares.values()))} of CPU {next(iter(shares))}"
    if _alike(shares):
        return f"{what} {percent(mean(shares.values()))} of every CPU"
    cpu = max(shares, key=lambda c: shares[c])
    least = percent(min(shares.values()))
    return f"{what} {percent(shares[cpu])} of CPU {cpu} ({least} of the one they used least)"


def seconds_for(plan_s: float) -> float:
    """How long to look before a plan that takes so long."""
    return min(LONGEST_S, max(SHORTEST_S, PART * plan_s))


def measure(
    cpus: set[int], seconds: float = LONGEST_S, stat: Callable[[], str] | None = None
) -> Background | None:
    """The background of these CPUs, each kept busy by a process of its own for so long; None where
    /proc/stat is hidden. One tick of each CPU is taken for rounding.

    `stat` reads /proc/stat; a test gives readings of its own.
    """
    read = stat or Path("/proc/stat").read_text
    try:
        before = read_cpus(read(), cpus)
    except (OSError, ValueError):
        return None
    if not before:
        return None
    pressed, started = _pressure_s(), time.monotonic()
    children = {_spin(cpu, started + seconds): cpu for cpu in sorted(before)}
    own: dict[int, float] = {}
    switches = 0
    try:
        for pid, cpu in list(children.items()):
            _, _, used = os.wait4(pid, 0)
            del children[pid]
            own[cpu] = used.ru_utime + used.ru_stime
            switches += used.ru_nivcsw
    finally:
        for pid in children:  # interrupted: nobody is left spinning
            os.kill(pid, 9)
            os.waitpid(pid, 0)
    wall = time.monotonic() - started
    after, pressed_after = read_cpus(read(), cpus), _pressure_s()
    steal = {cpu: max(0.0, after[cpu].steal_s - b.steal_s - TICK_S) / wall for cpu, b in before.items()}
    others = {
        cpu: max(0.0, after[cpu].busy_s - b.busy_s - own[cpu] - TICK_S) / wall for cpu, b in before.items()
    }
    pressure = None if pressed is None or pressed_after is None else (pressed_after - pressed) / wall
    return Background(steal, others, switches / max(sum(own.values()), TICK_S), pressure)


def _spin(cpu: int, until: float) -> int:
    """A child that keeps one CPU busy until then; its process number."""
    pid = os.fork()
    if pid == 0:
        try:
            os.sched_setaffinity(0, {cpu})
            while time.monotonic() < until:
                pass
        finally:
            os._exit(0)
    return pid


def _pressure_s() -> float | None:
    """Seconds since boot in which some thread waited for a CPU; None where the kernel does not count them."""
    try:
        some = Path("/proc/pressure/cpu").read_text().splitlines()[0]
        return int(some.rpartition("total=")[2]) * 1e-6
    except (OSError, ValueError, IndexError):
        return None
