"""When a launch counts as disturbed. Limits are fixed before the first launch, stored in plan.json, and never
moved afterwards.

Each limit is a pair: a rate, and a grace that covers what a quiet machine shows in a very short run (the
kernel accounts CPU time in ticks of 10 ms, so one tick in a run of 0.2 s already reads as 5 %).
docs/measuring.md has the table with reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from strata.errors import StrataError
from strata.toml_files import as_toml

# Reasons for which a launch has no figure of its layout at all; every other one is a disturbance, which is
# graded.
UNUSABLE = frozenset({"timed-out", "placement"})


@dataclass(frozen=True)
class Limits:
    """What an undisturbed launch may show at most."""

    # CPU used by others on the CPUs of the run. A daemon that takes 2 % moves a median by about as much as
    # launches differ anyway; a busy neighbour takes 50 to 100 %.
    others_share: float = 0.02
    others_grace_s: float = 0.05
    # CPUs' worth of work by others on all CPUs that this process may use, the ones beside the run included: a
    # neighbour on another core takes cache, memory bandwidth and turbo. The grace covers rounding to ticks.
    elsewhere_cpus: float = 0.10
    elsewhere_share: float = 0.002  # and this part of all CPUs: a large idle node has many daemons
    elsewhere_grace_s: float = 0.04
    elsewhere_grace_per_cpu_s: float = 0.01
    # CPU that the hypervisor gave to another guest while this one wanted to run.
    steal_share: float = 0.02
    steal_grace_s: float = 0.03
    # Involuntary switches per second of CPU time. Alone on its core a thread sees kernel threads only
    # (measured: below 20 a second); with a competitor it is preempted every slice, 2.8 to 4 ms on Linux: 250
    # a second or more.
    involuntary_per_s: float = 60.0
    involuntary_grace: float = 60.0
    # An MPI job's start on a quiet machine preempts each process about 120 times: its daemon, the ranks and
    # their progress threads meet on the same cores (measured: 200 to 290 for two ranks of Open MPI 4.1.4,
    # whatever ran afterwards).
    involuntary_per_process: float = 250.0
    # Share of the wall time in which some runnable thread of the system waited for a CPU (PSI "some"). A run
    # that holds its share makes others wait, and a daemon's millisecond then counts for long: quiet launches
    # read up to 45 %, launches beside a busy neighbour 80 to 100 %. The grace covers the start of an MPI job.
    cpu_pressure: float = 0.60
    cpu_pressure_grace_s: float = 0.25
    # Clock before or after the run, below the plan's median by more than this: throttled or power-saving.
    clock_drop: float = 0.10

    @staticmethod
    def from_dict(values: Mapping[str, Any], at: str) -> Limits:
        """Limits from a case file or plan.json; an unknown name is an error, not a silent default."""
        known = [f.name for f in fields(Limits)]
        for key, value in values.items():
            if key not in known:
                raise StrataError(
                    "unknown taint limit", at=f"{at} {key}", given=key, allowed=", ".join(known)
                )
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:  # nor nan
                raise StrataError(
                    "a taint limit is a number", at=f"{at} {key}", given=as_toml(value), allowed="0 or more"
                )
        return Limits(**{key: float(value) for key, value in values.items()})

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class Reason:
    """Why a launch is tainted: the code is what gets counted, the text is what people read."""

    code: str
    value: float | None
    limit: float | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(
    record: Mapping[str, Any],
    limits: Limits,
    reference_ghz: float | None = None,
    system: Mapping[str, Any] | None = None,
    crowded: bool = False,
) -> list[Reason]:
    """All reasons for which this launch does not count as undisturbed; none means it counts.

    `crowded`: it runs more threads than it has cores, on purpose. Then these preempt each other and wait for
    each other, at any rate, and the system counts both without saying by whom: neither tells of a neighbour.
    What a neighbour uses of the CPUs still does.

    What a record leaves out (a kernel without PSI, a cgroup that hides /proc/stat) is not held against the
    launch; the summary says which checks were possible.
    """
    reasons: list[Reason] = []
    if record.get("timed_out"):
        wall = record.get("wall_s")
        reasons.append(Reason("timed-out", wall, None, f"ended by its time limit after {_seconds(wall)}"))
    cpu = record.get("cpu") or {}
    reasons += _share(cpu, "others", limits.others_share, limits.others_grace_s, "of its CPUs used by others")
    reasons += _share(
        cpu, "steal", limits.steal_share, limits.steal_grace_s, "of its CPUs taken by the hypervisor"
    )
    reasons += _elsewhere(system or {}, limits)
    if not crowded:
        reasons += _switches(record, limits)
        reasons += _pressure(record, limits)
    reasons += _clock(record, limits, reference_ghz)
    if record.get("agrees") is False:
        said = record.get("disagreement") or "read-back and promised placement differ"
        reasons.append(Reason("placement", None, None, f"placement not as promised: {said}"))
    return reasons


def score(record: Mapping[str, Any], limits: Limits, system: Mapping[str, Any]) -> float:
    """How disturbed a launch was by its meters alone, never by its time: the largest reading in units of its
    limit.
    """
    cpu = record.get("cpu") or {}
    wall, own = record.get("wall_s"), cpu.get("own_s")
    watched, busy = system.get("wall_s"), system.get("others_s")
    switches = (record.get("switches") or {}).get("involuntary")
    waited = (record.get("pressure") or {}).get("cpu_some_us")
    readings = [
        (cpu.get("others_share"), limits.others_share),
        (cpu.get("steal_share"), limits.steal_share),
        (busy / watched if busy is not None and watched else None, limits.elsewhere_cpus),
        (switches / own if switches is not None and own else None, limits.involuntary_per_s),
        (waited * 1e-6 / wall if waited is not None and wall else None, limits.cpu_pressure),
    ]
    return max((value / limit for value, limit in readings if value is not None and limit > 0), default=0.0)


def _seconds(value: Any) -> str:
    return f"{value:.3g} s" if isinstance(value, (int, float)) else "an unknown time"


def _share(cpu: Mapping[str, Any], what: str, limit: float, grace_s: float, text: str) -> list[Reason]:
    share, seconds = cpu.get(f"{what}_share"), cpu.get(f"{what}_s")
    if share is None or share <= limit:
        return []
    if seconds is not None:
        # capacity = CPUs x wall, so that share = seconds / capacity; the grace is in seconds of CPU.
        capacity = seconds / share
        limit = limit + grace_s / capacity if capacity > 0 else limit
        if share <= limit:
            return []
    return [Reason(what, share, limit, f"{share:.1%} {text} (limit {limit:.1%})")]


def _elsewhere(system: Mapping[str, Any], limits: Limits) -> list[Reason]:
    seconds, wall = system.get("others_s"), system.get("wall_s")
    allowed = limits.elsewhere_cpus + limits.elsewhere_share * system.get("cpus", 1)
    grace = limits.elsewhere_grace_s + limits.elsewhere_grace_per_cpu_s * system.get("cpus", 1)
    if seconds is None or not wall or seconds <= allowed * wall + grace:
        return []
    cpus = seconds / wall
    text = f"{cpus:.2f} CPUs of the machine busy for others (limit {allowed:.2f})"
    return [Reason("elsewhere", cpus, allowed, text)]


def _switches(record: Mapping[str, Any], limits: Limits) -> list[Reason]:
    switches = (record.get("switches") or {}).get("involuntary")
    own = (record.get("cpu") or {}).get("own_s")
    if switches is None or own is None:
        return []
    processes = int(str(record.get("layout") or "1x1").partition("x")[0])
    start = limits.involuntary_grace + (limits.involuntary_per_process * processes if processes > 1 else 0.0)
    allowed = limits.involuntary_per_s * own + start
    if switches <= allowed:
        return []
    rate = switches / own if own > 0 else float(switches)
    text = f"preempted {switches} times in {own:.3g} s of CPU (limit {allowed:.0f})"
    return [Reason("switches", rate, limits.involuntary_per_s, text)]


def _pressure(record: Mapping[str, Any], limits: Limits) -> list[Reason]:
    some = (record.get("pressure") or {}).get("cpu_some_us")
    wall = record.get("wall_s")
    if some is None or not wall:
        return []
    waited = some * 1e-6
    if waited <= limits.cpu_pressure * wall + limits.cpu_pressure_grace_s:
        return []
    share = waited / wall
    text = f"some thread waited for a CPU {share:.0%} of the time (limit {limits.cpu_pressure:.0%})"
    return [Reason("pressure", share, limits.cpu_pressure, text)]


def clock_readings(record: Mapping[str, Any]) -> list[float]:
    """The clock before and after a launch in GHz, as far as it was measured."""
    clock = record.get("clock") or {}
    return [float(c) for c in (clock.get("before_ghz"), clock.get("after_ghz")) if c]


def _clock(record: Mapping[str, Any], limits: Limits, reference_ghz: float | None) -> list[Reason]:
    readings = clock_readings(record)
    if not readings or not reference_ghz:
        return []
    slowest = min(readings)
    drop = 1.0 - slowest / reference_ghz
    if drop <= limits.clock_drop:
        return []
    below = f"{drop:.0%} below the plan's {reference_ghz:.2f} GHz"
    text = f"clock {slowest:.2f} GHz, {below} (limit {limits.clock_drop:.0%})"
    return [Reason("clock", drop, limits.clock_drop, text)]
