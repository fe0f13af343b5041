"""Findings that follow from measured samples, alone or beside what the machine says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from strata.advice import checks_launches, nodes
from strata.advice.finding import Check, Finding
from strata.advice.samples import (
    Machine,
    Summary,
    Task,
    allowed_cores,
    figures,
    headline,
    kind_of_unit,
    own_memory,
    tasks,
    width,
    winner,
)
from strata.advice.words import count, digits, list_some, percent, unit_text

# A core or domain is named when its interval, against its neighbours', lies below this part of their median.
SLOW = 0.90
LOST = 0.01  # a core is named when it loses more than this part of its time to other work, by its interval
LOW_BLAS = 0.60  # a library that knows the processor reaches 80 to 95 % of the measured peak on one core


def per_core(task: Task) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Curves whose axis counts cores, with the unit of their values."""
    for curve in task.get("curves") or []:
        axis = str((curve.get("x") or {}).get("name", "")).lower()
        if axis in ("core", "cpu", "pu"):
            yield curve, str((curve.get("y") or {}).get("unit", ""))


def _called(curve: Mapping[str, Any]) -> str:
    """What a number on a curve's axis is of: cores are counted as hwloc does, CPUs are the system's."""
    return "core" if str((curve.get("x") or {}).get("name", "")).lower() == "core" else "CPU"


def slow_core(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """A core whose own rate, or time for the same work, is apart from that of the other cores of its kind."""
    for task in tasks(summary):
        for curve, unit in per_core(task):
            what = kind_of_unit(unit)
            if what not in ("flops", "time"):
                continue
            slow = list(_slow_points(machine, curve, faster_is_higher=what == "flops"))
            if not slow:
                continue
            worst_core, worst, usual = min(
                slow, key=lambda s: s[1] / s[2] if what == "flops" else s[2] / s[1]
            )
            loss = 1 - (worst / usual if what == "flops" else usual / worst)
            names, called = list_some(c for c, _, _ in slow), _called(curve)
            yield Finding(
                "problem",
                f"Slower than {'its' if len(slow) == 1 else 'their'} neighbours: "
                f"{called}{'s' if len(slow) > 1 else ''} {names}",
                f"{task['benchmark']}: {called} {worst_core} {digits(worst)} {unit_text(unit)}, "
                f"the others of its kind {digits(usual)} {unit_text(unit)} "
                f"({percent(loss)} slower; intervals apart)",
                "A program with even parts waits for the slowest core at every step, and so loses the same "
                "share on all cores.",
                "Look for a cause: `dmesg | grep -i -e thermal -e mce`, `strata bench noise`, the "
                "cooler of its package. "
                "Until then start programs on the other cores: `taskset` to their CPUs before "
                "`strata launch`.",
                "slow-core",
            )
            return


def _slow_points(
    machine: Machine, curve: Mapping[str, Any], *, faster_is_higher: bool
) -> Iterator[tuple[int, float, float]]:
    cores = machine["cores"]
    if str((curve.get("x") or {}).get("name", "")).lower() == "core":
        kinds = {core["index"]: core.get("kind", 0) for core in cores}
    else:
        kinds = {pu: core.get("kind", 0) for core in cores for pu in core["pus"]}
    by_core = {int(p[0]): p for p in curve.get("points") or []}
    if len(by_core) < 2:
        return
    for core, point in by_core.items():
        others = [
            p for c, p in by_core.items() if c != core and kinds.get(c, 0) == kinds.get(core, 0) and _known(p)
        ]
        if not others or not _known(point):
            continue
        # Where each true value is above its interval's low end, their median is above the median of those.
        if faster_is_higher:
            apart = point[3] < SLOW * median(p[2] for p in others)
        else:
            apart = point[2] * SLOW > median(p[3] for p in others)
        if apart:
            yield core, point[1], median(p[1] for p in others)


def _known(point: Sequence[float | None]) -> bool:
    """Whether a curve's point has an interval."""
    return len(point) > 3 and None not in point[:4]


def slow_domain(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """A domain whose own bandwidth is below that of its equals: the usual reason is a memory channel that is
    empty or degraded.
    """
    for task in tasks(summary, "domains"):
        for matrix in task.get("matrices") or []:
            if kind_of_unit(str(matrix.get("unit", ""))) != "bandwidth":
                continue
            local = _local_values(machine, matrix)
            for domain, (value, _, high) in local.items():
                others = [v for d, v in local.items() if d != domain]
                if not others or high >= SLOW * median(low for _, low, _ in others):
                    continue
                usual = median(v for v, _, _ in others)
                yield Finding(
                    "problem",
                    f"Domain {domain} has less memory bandwidth than its equals",
                    f"its cores reach {digits(value)} {matrix['unit']} in their own memory, the other "
                    f"domains {digits(usual)} {matrix['unit']}; intervals apart",
                    f"Programs bound by memory run at {percent(value / usual)} speed there, and "
                    "everybody waits for them. "
                    "One memory module that is missing, mismatched or degraded looks like this.",
                    "Compare the modules: `sudo dmidecode -t memory | grep -e Locator -e Size -e Speed`, "
                    "`sudo ras-mc-ctl --error-count`; have the module replaced.",
                    "slow-domain",
                )


def _local_values(machine: Machine, matrix: Mapping[str, Any]) -> dict[int, tuple[float, float, float]]:
    """Bandwidth of each domain's cores in the memory of the same kind that is their own, with its interval;
    what has none is left out.
    """
    own = own_memory(machine)
    rows, columns = [int(r) for r in matrix["rows"]], [int(c) for c in matrix["columns"]]
    values = {}
    for i, row in enumerate(rows):
        if own.get(row) not in columns:
            continue
        j = columns.index(own[row])
        middle, low, high = (
            (matrix.get(k) or matrix["values"])[i][j] if matrix.get("low") else None
            for k in ("values", "low", "high")
        )
        if middle is not None and low is not None and high is not None:
            values[row] = (float(middle), float(low), float(high))
    return values


def blas(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """A BLAS far below the measured peak of the same core, or slower than another that was tried."""
    for task in tasks(summary, "dgemm"):
        rate, bound = headline(task), task.get("bound")
        if width(task) != 1 or rate is None or rate.high is None or not bound or not bound.get("value"):
            continue
        if "--own-choice" in (task.get("command") or []):
            continue  # spoken of beside the fastest
        least = _least_peak(summary, bound)
        if least is not None and rate.high < LOW_BLAS * least:
            everywhere = ((summary or {}).get("provenance") or {}).get("blas")
            used = (task.get("provenance") or {}).get("blas") or everywhere or {}
            name = used.get("path") or used.get("version") or "the BLAS that was loaded"
            detail = f", built for {used['core']}" if used.get("core") else ""
            yield Finding(
                "warning",
                "The BLAS does not seem to know this processor",
                f"DGEMM on one core {digits(rate.median or 0)} {rate.unit} of {digits(bound['value'])} "
                f"{bound.get('unit', rate.unit)} "
                f"measured peak ({percent((rate.median or 0) / bound['value'])}); {name}{detail}",
                "Dense linear algebra of every program that links this library runs at that part of the "
                "machine.",
                f"Try a newer one: `pip install scipy-openblas32`, {_others(machine)}.",
                "blas",
            )
    yield from _blas_as_found(summary)


def _others(machine: Machine) -> str:
    """Other libraries for this processor, and the kernels of OpenBLAS for such ones."""
    arch = str(machine.get("arch") or "x86_64")
    if arch == "x86_64":
        return "oneMKL or BLIS; with OpenBLAS compare `OPENBLAS_CORETYPE=SkylakeX`, `Zen` or `Cooperlake`"
    if arch in ("aarch64", "arm64"):
        return (
            "Arm Performance Libraries, NVPL or BLIS; with OpenBLAS compare `OPENBLAS_CORETYPE=NeoverseN1`, "
            "`NeoverseV1` or `ARMV8`"
        )
    return "BLIS or the vendor's"


def _least_peak(summary: Summary | None, bound: Mapping[str, Any]) -> float | None:
    """The low end of the peak that a rate stands beside, by the interval of its launches; None where they
    have none.
    """
    peaks = list(tasks(summary, "peak"))
    named = [t for t in peaks if t["id"] == bound.get("source")] or [t for t in peaks if width(t) == 1]
    rates = [f for t in named for f in figures(t) if kind_of_unit(f.unit) == "flops" and f.median]
    best = max(rates, key=lambda f: f.median or 0.0, default=None)
    if best is None or best.low is None or not best.median:
        return None
    return float(bound["value"]) * best.low / best.median


def _blas_as_found(summary: Summary | None) -> Iterator[Finding]:
    """What a program gets that just links the system's BLAS, beside the fastest that was found here."""
    single = [t for t in tasks(summary, "dgemm") if width(t) == 1]
    as_found = next((t for t in single if "--own-choice" in (t.get("command") or [])), None)
    fastest = next((t for t in single if "--own-choice" not in (t.get("command") or [])), None)
    slow, fast = headline(as_found), headline(fastest)
    if as_found is None or fastest is None or slow is None or fast is None or winner(fast, slow) != "a":
        return
    told = (((summary or {}).get("provenance") or {}).get("environment") or {}).get("OPENBLAS_CORETYPE")
    kernels = _blas_of(fastest).get("core")
    if told:
        remedy = f"`unset OPENBLAS_CORETYPE`: the environment sets it to {told}."
    elif kernels and kernels != _blas_of(as_found).get("core"):
        remedy = f"`export OPENBLAS_CORETYPE={kernels}`, or link the faster library."
    else:
        remedy = (
            "Put the faster one first: `LD_LIBRARY_PATH`, or `sudo update-alternatives --config "
            "libblas.so.3-$(uname -m)-linux-gnu`."
        )
    yield Finding(
        "warning",
        "The BLAS that programs get here is slower than it could be",
        f"DGEMM on one core: {digits(slow.median or 0)} {slow.unit} with {_blas_name(as_found)} as found, "
        f"{digits(fast.median or 0)} {fast.unit} with {_blas_name(fastest)}; intervals apart",
        "Programs that just link the system's library give this away.",
        remedy,
        "other-blas",
    )


def _blas_of(task: Task) -> dict[str, str]:
    return (task.get("provenance") or {}).get("blas") or {}


def _blas_name(task: Task) -> str:
    used = _blas_of(task)
    name = used.get("version") or used.get("path") or "the BLAS"
    return f"{name}, {used['core']} kernels" if used.get("core") else str(name)


def noise(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """Cores that lose more than LOST of their time to other work while a fixed quantum of work is
    repeated.
    """
    for task in tasks(summary, "noise"):
        for curve, unit in per_core(task):
            if unit not in ("%", "1", "share", ""):
                continue
            scale = 0.01 if unit == "%" else 1.0
            loud = [(int(p[0]), p[1] * scale) for p in curve["points"] if _known(p) and p[2] * scale > LOST]
            if not loud:
                continue
            core, lost = max(loud, key=lambda x: x[1])
            called, cores = _called(curve), len(allowed_cores(machine))
            spare = f"; leave one core for the system: `strata launch --layout 1x{cores - 1} -- ./a.out`"
            yield Finding(
                "warning",
                f"{count(len(loud), called)} {'loses' if len(loud) == 1 else 'lose'} more than "
                f"{LOST:.0%} of the time to other work".replace("%", " %"),
                f"the same work again and again: {called} {core} loses {percent(lost)}; over the limit: "
                f"{list_some(c for c, _ in loud)}",
                "In a program with barriers the largest loss of any core is everybody's loss.",
                "See who runs there: `ps -eLo psr,pcpu,comm --sort=-pcpu | head`"
                f"{spare if cores > 1 else ''}.",
                "noise",
            )
            return


CHECKS: tuple[Check, ...] = (
    slow_core,
    slow_domain,
    nodes.slow_nodes,
    checks_launches.placement_broken,
    checks_launches.failures,
    checks_launches.disturbed,
    blas,
    noise,
    checks_launches.no_mpi,
    checks_launches.too_few,
)
