"""Reading the machine document and the summary: small typed views, so that findings, layouts and the report
agree on what a figure is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.errors import StrataError
from strata.measure import stats

Machine = Mapping[str, Any]
Summary = Mapping[str, Any]
Task = Mapping[str, Any]

# Benchmarks that exchange messages, and so exist only in the program over MPI, with one process too.
MPI_ONLY = ("pingpong", "rings", "ptrans", "mpifft", "allreduce", "alltoall")

LEAST = stats.LEAST  # launches below which a distribution-free 95 % interval of a median does not exist


@dataclass(frozen=True)
class Interval:
    """One figure of one task: its median and what is known about it. `low` and `high` are None below six
    launches.
    """

    name: str
    unit: str
    better: str
    n: int
    median: float | None
    low: float | None
    high: float | None
    minimum: float | None = None
    maximum: float | None = None
    samples: tuple[float, ...] = ()
    most: int | None = None  # measuring stopped when it saw fit, after at most so many
    blocks: tuple[int | None, ...] = ()  # of each sample, the block of interleaved launches that it is from
    grade: str = "undisturbed"  # or "disturbed": see strata.measure.grade
    beside: bool = (
        False  # one core had a neighbour that others had not, so settings on other cores may differ elsewhere
    )

    @property
    def by_block(self) -> dict[int, float]:
        """The value of each block of interleaved launches."""
        return {b: v for b, v in zip(self.blocks, self.samples, strict=False) if b is not None}

    @property
    def known(self) -> bool:
        """Whether there is an interval, so that a comparison may name a winner."""
        return self.low is not None and self.high is not None

    @property
    def note(self) -> str | None:
        """Why there is no interval, in the words that every table uses."""
        if self.n == 0 or self.median is None:
            return "no measurement"
        return None if self.known else stats.too_few(self.n)


def within_blocks(a: Interval, b: Interval, comparisons: int = 1) -> stats.BlockRatio | None:
    """a/b from their ratio in each block of interleaved launches, with its interval as one of so many
    comparisons; None where they were not interleaved, share fewer than six blocks, or stopped when they saw
    fit.
    """
    if a.most is not None or b.most is not None:
        return None
    ratio = stats.block_ratio(a.by_block, b.by_block, comparisons)
    return ratio if ratio is not None and ratio.low is not None else None


def winner(a: Interval, b: Interval, comparisons: int = 1) -> str | None:
    """'a' or 'b' only when the interval of their ratio within blocks does not hold 1; where they were not
    interleaved, when their two intervals are apart. None is 'no difference measured'.
    """
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return None
    higher = a.better != "lower"
    ratio = within_blocks(a, b, comparisons)
    if ratio is not None:
        return None if not ratio.side else "a" if (ratio.side > 0) == higher else "b"
    if a.low > b.high:
        return "a" if higher else "b"
    if b.low > a.high:
        return "b" if higher else "a"
    return None


def factor(a: Interval, b: Interval, comparisons: int = 1) -> tuple[float, float, float] | None:
    """How many times b's value a's is, with its interval within blocks. Where they were not interleaved the
    range is what both medians' intervals allow together, which is wider than an interval of the ratio.
    """
    ratio = within_blocks(a, b, comparisons)
    if ratio is not None and ratio.low is not None and ratio.high is not None:
        return ratio.value, ratio.low, ratio.high
    if a.median is None or not b.median or a.low is None or a.high is None or not b.low or not b.high:
        return None
    return a.median / b.median, a.low / b.high, a.high / b.low


MOST_CPUS = 1 << 20


def cpulist(text: str | None) -> list[int]:
    """'0-3,8' as [0, 1, 2, 3, 8]. Raises StrataError for what is no such list: it may be a stranger's."""
    cpus: list[int] = []
    for part in str(text or "").split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if not part.strip():
            continue
        known = all(word.isascii() and word.isdecimal() and len(word) < 8 for word in (first, last or first))
        low, high = (int(first), int(last or first)) if known else (1, 0)
        if high < low or (dash and not last) or high > MOST_CPUS or len(cpus) > MOST_CPUS:
            raise StrataError(
                "not a list of CPU numbers",
                given=str(text)[:80],
                allowed=f"numbers and ranges up to {MOST_CPUS} with commas between, such as 0-3,8",
                remedy="`strata machine` and `taskset -pc $$` show the CPUs that there are",
            )
        cpus.extend(range(low, high + 1))
    return cpus


def print_cpulist(cpus: Iterable[int]) -> str:
    """[0, 1, 2, 3, 8] as '0-3,8', in whatever order they come."""
    return print_in_order(sorted(set(cpus)))


def print_in_order(cpus: Sequence[int]) -> str:
    """[0, 1, 2, 8, 3] as '0-2,8,3': for lists whose order says which thread goes where."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def allowed_cores(machine: Machine) -> list[Mapping[str, Any]]:
    """Cores of which this process may use at least one PU, in hwloc's logical order."""
    allowed = machine.get("allowed") or {}
    if allowed.get("pus") is None:
        return list(machine["cores"])
    pus = set(cpulist(allowed["pus"]))
    return [core for core in machine["cores"] if pus & set(core["pus"])]


def first_pu(machine: Machine, core: Mapping[str, Any]) -> int:
    """The PU of a core that a launch would take: its first allowed one."""
    allowed = machine.get("allowed") or {}
    pus = set(cpulist(allowed["pus"])) if allowed.get("pus") is not None else set(core["pus"])
    return int(next((p for p in core["pus"] if p in pus), core["pus"][0]))


def own_memory(machine: Machine) -> dict[int, int]:
    """By the number of a domain, the system's number of its first memory that programs use without asking for
    it by name; domains without one are left out.
    """
    plain = {
        m["index"]: int(m["os_index"]) for m in machine["memories"] if m.get("kind") not in ("HBM", "CXL")
    }
    own = {d["index"]: [plain[m] for m in d["memories"] if m in plain] for d in machine["domains"]}
    return {domain: memories[0] for domain, memories in own.items() if memories}


def usable_cpus(machine: Machine) -> int:
    """Cores that can really run at once: allowed cores, cut down by a CPU quota."""
    cores = len(allowed_cores(machine))
    quota = ((machine.get("allowed") or {}).get("cgroup") or {}).get("cpu_quota")
    return max(1, min(cores, int(quota))) if quota else max(1, cores)


def kind_of_unit(unit: str) -> str:
    """'bandwidth', 'flops', 'time' or the unit itself: spellings differ, meanings do not."""
    plain = unit.strip().lower().replace("µ", "u")
    if plain in ("gb/s", "mb/s", "tb/s"):
        return "bandwidth"
    if plain in ("gf/s", "gflop/s", "gflops", "mflop/s", "tflop/s", "tf/s"):
        return "flops"
    if plain in ("ns", "us", "ms", "s"):
        return "time"
    return plain


SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def tasks(summary: Summary | None, benchmark: str | None = None, **match: Any) -> Iterator[Task]:
    """Tasks of the summary with this benchmark and these fields (layout=, stride=, bind=)."""
    for task in (summary or {}).get("tasks") or []:
        if benchmark is not None and task.get("benchmark") != benchmark:
            continue
        if all(task.get(key) == value for key, value in match.items()):
            yield task


def interval_of(figure: Mapping[str, Any]) -> Interval:
    """A figure of a summary, typed."""
    return Interval(
        name=str(figure.get("name", "")),
        unit=str(figure.get("unit", "")),
        better=str(figure.get("better") or "higher"),
        n=int(figure.get("n") or 0),
        median=figure.get("median"),
        low=figure.get("low"),
        high=figure.get("high"),
        minimum=figure.get("min"),
        maximum=figure.get("max"),
        samples=tuple(figure.get("samples") or ()),
        most=figure.get("most"),
        blocks=tuple(figure.get("blocks") or ()),
        grade=str(figure.get("grade") or "undisturbed"),
        beside=bool(figure.get("beside_neighbour")),
    )


def figures(task: Task) -> list[Interval]:
    """The figures of a task, typed."""
    return [interval_of(f) for f in task.get("figures") or []]


def figure(task: Task | None, *words: str) -> Interval | None:
    """The figure with exactly this name, or the first whose name holds all the words."""
    if task is None:
        return None
    found = figures(task)
    wanted = " ".join(words).lower()
    for f in found:
        if f.name.lower() == wanted:
            return f
    for f in found:
        if all(word.lower() in f.name.lower() for word in words):
            return f
    return None


def headline(task: Task | None) -> Interval | None:
    """The figure a task is known for: one named in the plan, one named as the benchmark, else the first."""
    if task is None:
        return None
    found = {f.name: f for f in reversed(figures(task))}
    for name in (*(task.get("headline") or ()), str(task.get("benchmark"))):
        if name in found:
            return found[name]
    return figures(task)[0] if found else None


def processes_threads(layout: str | None) -> tuple[int, int]:
    """'4x2' as (4, 2); anything else as (1, 1)."""
    p, _, t = (layout or "1x1").partition("x")
    return (int(p), int(t)) if p.isdigit() and t.isdigit() else (1, 1)


def family(task: Task) -> str:
    """The plan's name for this way of running a benchmark; tasks of one family differ by layout alone."""
    return str(task.get("id") or task.get("benchmark")).split("/")[0]


def width(task: Task) -> int:
    """How many cores a task used."""
    p, t = processes_threads(task.get("layout"))
    return p * t


def has_results(task: Task | None) -> bool:
    """Whether a task has anything to show."""
    return bool(task and (task.get("figures") or task.get("curves") or task.get("matrices")))
