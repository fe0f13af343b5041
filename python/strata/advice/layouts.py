"""Layouts to start from, and the lines that give them: with `strata launch`, and with the plain tools that do
the same.

The rule is the one that large shared-memory machines taught (processes for coarse parallelism and locality,
threads inside a locality domain): one process a domain, its cores as threads. A preference between two
layouts is stated only where samples exist and their intervals are apart. Where few cores of a domain use all
that its memory gives, a layout of so many is added for programs that are bound by it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from strata.advice import bandwidth, core_kinds
from strata.advice.samples import (
    Interval,
    Machine,
    Summary,
    Task,
    allowed_cores,
    family,
    figure,
    figures,
    first_pu,
    print_in_order,
    processes_threads,
    tasks,
    usable_cpus,
    width,
)
from strata.advice.statements import compare
from strata.advice.words import count

BOUND = "bound by memory bandwidth"


@dataclass(frozen=True)
class Line:
    """One line to paste, and the tool that it is for."""

    tool: str
    command: str


@dataclass(frozen=True)
class Start:
    """A kind of program, the layout to start from, why, and its lines."""

    kind: str
    layout: str
    why: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Preference:
    """What the samples say about two ways to run the same benchmark; `better` is None when no difference was
    measured.
    """

    question: str
    statement: str
    better: str | None


@dataclass(frozen=True)
class Advice:
    """What is recommended for a machine: a layout for each kind of program, and what measurements prefer."""

    starts: tuple[Start, ...]
    preferences: tuple[Preference, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def start(self, kind: str) -> Start:
        return next(s for s in self.starts if s.kind == kind)


def recommend(machine: Machine, summary: Summary | None = None) -> Advice:
    """Where to start on this machine for serial, OpenMP, MPI and hybrid programs."""
    usable = usable_cpus(machine)
    processes, threads = hybrid_shape(machine)
    saturated = bandwidth.saturation(machine, summary)
    return Advice(
        (
            _serial(machine),
            _openmp(machine, usable),
            _mpi(machine, usable),
            _hybrid(machine, processes, threads),
            *([_bound_by_memory(machine, saturated)] if saturated else []),
        ),
        tuple(preferences(summary)) if summary else (),
        tuple(_notes(machine)),
    )


def hybrid_shape(machine: Machine) -> tuple[int, int]:
    """Processes x threads: one process for each domain with allowed cores, each with as many threads as the
    smallest of them allows.
    """
    cores, usable = allowed_cores(machine), usable_cpus(machine)
    per_domain = Counter(core["domain"] for core in cores)
    if usable < len(cores) or not per_domain:
        return 1, usable  # a quota does not say which cores: keep one process, nothing to place
    if len(per_domain) == 1:
        groups = _cache_groups(machine)
        if len(groups) > 1 and len(set(groups)) == 1 and sum(groups) == len(cores) and groups[0] > 1:
            return len(groups), groups[0]
        return 1, len(cores)
    return len(per_domain), min(per_domain.values())


def _cache_groups(machine: Machine) -> list[int]:
    """Sizes, in allowed cores, of the groups that share the outermost cache."""
    own = {core["index"] for core in allowed_cores(machine)}
    shared = [
        c for c in machine.get("caches") or [] if c.get("type") != "instruction" and len(c["cores"]) > 1
    ]
    outermost = max((c["level"] for c in shared), default=0)
    groups = [len(own & set(c["cores"])) for c in shared if c["level"] == outermost]
    return [g for g in groups if g]


def _smt(machine: Machine) -> bool:
    return any(len(core["pus"]) > 1 for core in machine["cores"])


def _srun(machine: Machine) -> str:
    return " --hint=nomultithread" if _smt(machine) else ""


def _omp_places(machine: Machine, threads: int) -> str:
    return f"OMP_NUM_THREADS={threads} OMP_PLACES=cores OMP_PROC_BIND=close"


def _serial(machine: Machine) -> Start:
    fastest = core_kinds.fastest(machine)
    cores = fastest.cores if fastest else allowed_cores(machine)
    pu = first_pu(machine, cores[0]) if cores else 0
    why = "One core, and it stays there: its caches and its first-touched pages stay near."
    held = "--cpu-bind=cores"
    if fastest:
        why += " It is one of the fastest."
        held = f"--cpu-bind=map_cpu:{pu}"
    return Start(
        "serial",
        "1x1",
        why,
        (
            Line(
                "strata", f"{fastest.launch('1x1') if fastest else 'strata launch --layout 1x1'} -- ./a.out"
            ),
            Line("plain", f"taskset -c {pu} ./a.out"),
            Line("Slurm", f"srun -n 1 -c 1 {held}{_srun(machine)} ./a.out"),
        ),
    )


def _openmp(machine: Machine, usable: int) -> Start:
    domains = len({core["domain"] for core in allowed_cores(machine)})
    why = f"One thread on each of the {count(usable, 'core')} that can run at once."
    if domains > 1:
        why += (
            f" They span {domains} domains: initialise arrays in the same parallel loops that use them, "
            "or pages land where the first thread ran."
        )
    return Start(
        "OpenMP",
        f"1x{usable}",
        why,
        (
            Line("strata", f"strata launch --layout 1x{usable} -- ./a.out"),
            Line("plain", f"{_omp_places(machine, usable)} ./a.out"),
            Line(
                "Slurm",
                f"{_omp_places(machine, usable)} srun -n 1 -c {usable} --cpu-bind=cores{_srun(machine)} "
                "./a.out",
            ),
        ),
    )


def _mpi(machine: Machine, usable: int) -> Start:
    return Start(
        "MPI",
        f"{usable}x1",
        f"One process on each of the {count(usable, 'core')} that can run at once; neighbours in rank "
        "are neighbours in the machine.",
        (
            Line("strata", f"strata launch --layout {usable}x1 -- ./a.out"),
            Line("Open MPI", f"OMP_NUM_THREADS=1 mpirun -n {usable} --map-by core --bind-to core ./a.out"),
            Line("MPICH", f"OMP_NUM_THREADS=1 mpiexec -n {usable} -bind-to core -map-by core ./a.out"),
            Line(
                "Slurm",
                f"OMP_NUM_THREADS=1 srun -n {usable} -c 1 --cpu-bind=cores "
                f"--distribution=block:block{_srun(machine)} ./a.out",
            ),
        ),
    )


def _hybrid(machine: Machine, processes: int, threads: int) -> Start:
    domains = {core["domain"] for core in allowed_cores(machine)}
    env = _omp_places(machine, threads)
    exports = "-x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND"
    by_domain = processes == len(domains) and processes > 1
    if by_domain:
        why = (
            f"One process in each of {processes} domains, its {count(threads, 'core')} as threads: "
            "every thread's memory is near."
        )
    elif processes > 1:
        why = (
            f"One process for each of the {processes} groups that share a cache, its "
            f"{count(threads, 'core')} as threads."
        )
    else:
        why = (
            "One domain and one shared cache: nothing to divide, so start with threads only and "
            "compare with processes only."
        )
    mapping = f"ppr:1:numa:PE={threads}" if by_domain else f"slot:PE={threads}"
    hydra = "-bind-to numa -map-by numa" if by_domain else f"-bind-to core:{threads}"
    return Start(
        "hybrid",
        f"{processes}x{threads}",
        why,
        (
            Line("strata", f"strata launch --layout {processes}x{threads} -- ./a.out"),
            Line(
                "Open MPI", f"{env} mpirun -n {processes} --map-by {mapping} --bind-to core {exports} ./a.out"
            ),
            Line("MPICH", f"{env} mpiexec -n {processes} {hydra} ./a.out"),
            Line(
                "Slurm",
                f"{env} srun -n {processes} -c {threads} --cpu-bind=cores "
                f"--distribution=block:block{_srun(machine)} ./a.out",
            ),
        ),
    )


def _bound_by_memory(machine: Machine, found: bandwidth.Saturation) -> Start:
    """As many cores of each domain as its memory feeds."""
    processes, threads = bandwidth.layout(machine, found)
    cores = allowed_cores(machine)
    own = [first_pu(machine, cores[i]) for places in bandwidth.places(machine, found) for i in places]
    # Those of one domain are the first cores anyway.
    held = "" if processes == 1 else f" --bind {print_in_order(own)}"
    env = f"OMP_NUM_THREADS={threads} OMP_PLACES=cores OMP_PROC_BIND=close"
    lines = [Line("strata", f"strata launch --layout {processes}x{threads}{held} -- ./a.out")]
    if processes == 1:
        places = ",".join(f"{{{pu}}}" for pu in own)
        plain = f"OMP_NUM_THREADS={threads} OMP_PLACES='{places}' OMP_PROC_BIND=close"
        lines.append(Line("plain", f"{plain} ./a.out"))
    else:
        exports = "-x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND"
        mapped = f"--map-by ppr:1:numa:PE={threads} --bind-to core"
        lines.append(Line("Open MPI", f"{env} mpirun -n {processes} {mapped} {exports} ./a.out"))
        lines.append(Line("MPICH", f"{env} mpiexec -n {processes} -bind-to numa -map-by numa ./a.out"))
    return Start(BOUND, f"{processes}x{threads}", bandwidth.sentence(machine, found), tuple(lines))


def _notes(machine: Machine) -> list[str]:
    notes = []
    cores, usable = allowed_cores(machine), usable_cpus(machine)
    if usable < len(cores):
        notes.append(
            f"A CPU quota of {usable} of {len(cores)} cores is in force: more threads than that only wait."
        )
    if chosen := core_kinds.even(machine):
        kinds = core_kinds.kinds(machine)
        parts = ", ".join(f"{len(k.cores)} {k.name}" for k in kinds)
        notes.append(
            f"Cores of {len(kinds)} kinds ({parts}): an even split waits for the slowest; compare with "
            f"the cores of one kind only, `{chosen.launch()} -- ./a.out`."
        )
    per_domain = Counter(core["domain"] for core in cores)
    if len(set(per_domain.values())) > 1:
        notes.append(
            "The allowed cores are unevenly spread over domains; the hybrid layout takes the smallest "
            "share everywhere."
        )
    return notes


def preferences(summary: Summary) -> list[Preference]:
    """For every benchmark that ran as threads and as processes on the same number of cores: which is better,
    if the samples can tell.
    """
    pairs = [
        (a, left, b, right)
        for a, b in _same_width_pairs(summary)
        for left in figures(a)
        if (right := figure(b, left.name)) and right.name == left.name and left.known and right.known
    ]
    return [_preference(*pair, len(pairs)) for pair in pairs]


def _same_width_pairs(summary: Summary) -> list[tuple[Task, Task]]:
    bound = [t for t in tasks(summary, bind="core") if t.get("stride", 1) == 1 and width(t) > 1]
    pairs = []
    for a in bound:
        for b in bound:
            same = family(a) == family(b) and width(a) == width(b)
            if same and processes_threads(a["layout"])[0] == 1 < processes_threads(b["layout"])[0]:
                pairs.append((a, b))
    return pairs


def _preference(a: Task, left: Interval, b: Task, right: Interval, comparisons: int) -> Preference:
    question = f"{family(a)} {left.name}".replace("dgemm dgemm", "dgemm")
    said = compare(question, a["layout"], left, b["layout"], right, comparisons)
    return Preference(question, said.text, {"a": a["layout"], "b": b["layout"]}.get(said.better or ""))
