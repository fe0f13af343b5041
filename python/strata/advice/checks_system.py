"""Findings that follow from what was read of the system, without any measurement."""

from __future__ import annotations

from collections.abc import Iterator

from strata.advice import core_kinds
from strata.advice.finding import Check, Finding
from strata.advice.samples import Machine, Summary, allowed_cores, cpulist, print_cpulist
from strata.advice.words import count, list_some, percent, size


def tried(machine: Machine) -> bool:
    """Whether what the system grants was tried on a system. A topology from a file says nothing about it;
    fixtures say that they carry invented answers.
    """
    return machine.get("source") == "system" or bool(machine.get("synthetic"))


def quota(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """A CPU quota below the CPUs that the affinity allows."""
    group = (machine.get("allowed") or {}).get("cgroup") or {}
    limit = group.get("cpu_quota")
    visible = sum(len(c["pus"]) for c in allowed_cores(machine))
    if not limit or limit >= visible:
        return
    threads = max(1, int(limit))
    yield Finding(
        "problem",
        f"A CPU quota turns {count(visible, 'visible CPU')} into {limit:g}",
        f"control group {group.get('path') or '/'}: quota of {limit:g} CPUs, affinity allows {visible}",
        f"A program that starts {count(visible, 'thread')} is stopped for "
        f"{percent(1 - limit / visible)} of every scheduling period; "
        "barriers then wait for threads that may not run.",
        f"Start at most {count(threads, 'thread')}: `strata launch --layout 1x{threads} -- ./a.out`, "
        "or ask for a larger quota (docker: `--cpus`, Kubernetes: `resources.limits.cpu`).",
        "quota",
    )


def affinity(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """The process may use some of the cores only."""
    all_cores, own = machine["cores"], allowed_cores(machine)
    if len(own) >= len(all_cores):
        return
    cpuset = ((machine.get("allowed") or {}).get("cgroup") or {}).get("cpuset")
    why = f"control group set {cpuset}" if cpuset else "scheduler affinity"
    yield Finding(
        "note",
        f"This process may use {len(own)} of {len(all_cores)} cores",
        f"allowed PUs {(machine.get('allowed') or {}).get('pus')} ({why})",
        "Figures and layouts here are for the allowed part; caches and memory are shared with whoever "
        "has the rest.",
        "For the whole machine ask the batch system for a whole node, for example `salloc --exclusive -N 1`; "
        "a forgotten `taskset` shows with `taskset -p $$`.",
        "affinity",
    )


def memory_limit(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """A control group limits memory to less than the machine has."""
    limit = ((machine.get("allowed") or {}).get("cgroup") or {}).get("memory_limit_bytes")
    total = sum(m.get("total_bytes") or 0 for m in machine["memories"])
    if not limit or not total or limit >= total:
        return
    yield Finding(
        "note",
        f"Memory is limited to {size(limit)} of {size(total)}",
        f"memory limit of the control group: {size(limit)}",
        "A program that asks for more is killed by the kernel, without a message of its own.",
        f"Size problems for {size(limit)}, or ask for more (Slurm: `--mem=0` for a whole node; docker: "
        "`--memory`).",
        "memory-limit",
    )


def governor(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """A clock governor that raises the clock late."""
    slow = [c for c in allowed_cores(machine) if c.get("governor") in ("powersave", "conservative")]
    if not slow:
        return
    name = slow[0]["governor"]
    yield Finding(
        "warning",
        f"The clock is governed by “{name}”",
        f"cpufreq governor “{name}” on {count(len(slow), 'core')}: {list_some(c['index'] for c in slow)}",
        "The clock rises only after load has lasted; short parallel phases and messages run below the "
        "clock that the processor can hold.",
        "`sudo cpupower frequency-set -g performance`; on a cluster, `srun --cpu-freq=performance ...` "
        "where the site permits it.",
        "governor",
    )


def turbo(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """The turbo clock is switched off."""
    if machine.get("turbo") is False:
        yield Finding(
            "note",
            "Turbo clock is off",
            "the kernel's switch for boost frequencies reads off",
            "Cores stay at their base clock; figures repeat better, and are lower than this processor "
            "can do.",
            "Where it is yours to decide: `echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost` "
            "(intel_pstate: `echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo`).",
            "turbo",
        )


def huge_pages(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """Transparent huge pages are off."""
    pages = machine.get("huge_pages") or {}
    if pages.get("transparent") == "never":
        yield Finding(
            "warning",
            "Transparent huge pages are off",
            "/sys/kernel/mm/transparent_hugepage/enabled reads “never”",
            "Every 4 KiB of a large array needs its own address translation; scattered access pays for "
            "a page walk at each miss.",
            "`echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled`; without root, "
            "programs that map "
            "hugetlb pages need `vm.nr_hugepages` set by the administrator.",
            "huge-pages",
        )
    if pages.get("shmem") in ("never", "deny"):
        yield Finding(
            "note",
            "Huge pages for shared memory are off",
            f"/sys/kernel/mm/transparent_hugepage/shmem_enabled reads “{pages['shmem']}”",
            "Memory shared between processes (MPI windows, shared arenas) stays on small pages.",
            "`echo advise | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled`",
            "shmem-huge-pages",
        )


def counters(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """Hardware counters cannot be read."""
    have = machine.get("counters") or {}
    if have.get("hardware") is not False or not tried(machine):
        return
    paranoid = have.get("paranoid")
    closed = isinstance(paranoid, int) and paranoid > 2
    yield Finding(
        "note",
        "Hardware counters cannot be read",
        str(
            have.get("why")
            or "opening a hardware event failed"
            + ("" if paranoid is None else f"; kernel.perf_event_paranoid is {paranoid}")
        ),
        "Cache misses, real clock and memory traffic of a program cannot be counted here; such columns "
        "stay empty, nothing is estimated.",
        "`sudo sysctl kernel.perf_event_paranoid=2`"
        if closed
        else "In a virtual machine the hypervisor has to offer a virtual PMU; "
        "in a container allow perf_event_open (`--cap-add PERFMON`).",
        "counters",
    )


def smt(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """Cores have several PUs: threads that share a core share its units."""
    cores = allowed_cores(machine)
    pus = set(cpulist((machine.get("allowed") or {}).get("pus"))) or {p for c in cores for p in c["pus"]}
    threads = [len(pus & set(c["pus"])) for c in cores]
    pairs = [c for c, n in zip(cores, threads, strict=True) if n > 1]
    if not pairs:
        return
    visible, most = sum(threads), max(threads)
    each = f"{most}" if min(threads) == most else f"up to {most}"
    siblings = print_cpulist(pus & set(pairs[0]["pus"]))
    yield Finding(
        "note",
        f"{visible} CPUs are {len(cores)} cores",
        f"{count(len(pairs), 'core')} with several hardware threads; core {pairs[0]['index']} has PUs "
        f"{siblings}",
        f"Tools that count CPUs (nproc, the default of OMP_NUM_THREADS) start {each} threads a core, which "
        "share its arithmetic units and its cache.",
        f"Count cores: `OMP_NUM_THREADS={len(cores)} OMP_PLACES=cores`, `srun --hint=nomultithread`; "
        "`strata launch` takes one PU a core.",
        "smt",
    )


def page_cache(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """One domain's memory taken by file pages: allocation there spills to another domain. With a single
    domain the kernel just reclaims.
    """
    with_cores = [m for m in machine["memories"] if m.get("domain") is not None]
    if len(with_cores) < 2:
        return
    for m in with_cores:
        total, free, cached = m.get("total_bytes") or 0, m.get("free_bytes"), m.get("page_cache_bytes")
        if not total or free is None or cached is None or cached < 0.5 * total or free > 0.2 * total:
            continue
        yield Finding(
            "warning",
            f"The memory of domain {m['domain']} is full of file pages",
            f"{size(cached)} of {size(total)} are page cache, {size(free)} free",
            f"New pages of programs on domain {m['domain']} are taken from another domain before the "
            "cache is given up: "
            "they are placed far away, without a message.",
            "Before the run: `sync; echo 1 | sudo tee /proc/sys/vm/drop_caches`; without root bind "
            "strictly with "
            f"`numactl --membind={m['os_index']} ./a.out`, which makes the kernel reclaim there.",
            "page-cache",
        )


def placement(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """Whether pages lie where they should cannot be verified."""
    where = machine.get("placement") or {}
    if where.get("word") != "placement unverified" or not tried(machine):
        return
    yield Finding(
        "warning",
        "Placement of memory cannot be verified here",
        str(where.get("why") or "mbind or move_pages is refused"),
        "Pages may lie in a far memory and nothing would show it; no figure here says that memory was "
        "placed.",
        "Allow the calls: `docker run --cap-add SYS_NICE ...`, or a seccomp profile with mbind, "
        "set_mempolicy, move_pages.",
        "placement",
    )


def numa_balancing(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """The kernel moves pages between domains on its own."""
    if not machine.get("numa_balancing") or len(machine["domains"]) < 2:
        return
    yield Finding(
        "warning",
        "The kernel moves pages between domains on its own",
        f"kernel.numa_balancing = {machine['numa_balancing']}, {len(machine['domains'])} domains",
        "Pages of bound programs are unmapped and faulted at intervals to find their user: time lost "
        "and launches that differ, "
        "while a bound program gains nothing.",
        "`sudo sysctl kernel.numa_balancing=0` while bound programs run.",
        "numa-balancing",
    )


def hybrid(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """A processor with cores of several kinds."""
    found, chosen = core_kinds.kinds(machine), core_kinds.even(machine)
    if chosen is None:
        return
    parts = ", ".join(f"{len(k.cores)} {k.name}" for k in found)
    evidence = "core kinds as the processor and Linux report them"
    if not core_kinds.ordered(machine):
        evidence += "; which are faster is not known"
    slowest, most = found[0].capacity, found[-1].capacity
    consequence = "A loop that is split evenly waits for its slowest core"
    if slowest and most and slowest < most:
        consequence += f" (by Linux's capacities {percent(slowest / most)} as fast as the fastest)"
    yield Finding(
        "warning",
        f"{len(found)} kinds of core: {parts}",
        evidence,
        f"{consequence}; an unbound thread's speed depends on where it happens to run.",
        f"Measure both: all cores, with work split dynamically (`OMP_SCHEDULE=dynamic`), and one kind, "
        f"`{chosen.launch()} -- ./a.out`.",
        "hybrid",
    )


def far_memory(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """Memory without cores of its own."""
    for m in machine["memories"]:
        if m.get("domain") is not None:
            continue
        near = m.get("nearest_domain")
        beside = f", nearest to domain {near}" if near is not None else ""
        number, kind = m["os_index"], m.get("kind") or "unknown"
        what = "memory" if kind == "unknown" else f"{kind} memory"
        yield Finding(
            "note",
            f"{size(m.get('total_bytes') or 0)} of {what} have no cores of their own",
            f"memory {number}{beside}",
            "First touch never uses it: a program has to ask for it by name.",
            f"`numactl --preferred={number} ./a.out` (falls back when full) or "
            f"`strata launch --memory bind:{number} -- ./a.out` (fails when full).",
            "memory-without-cores",
        )


def share(machine: Machine, _: Summary | None) -> Iterator[Finding]:
    """A measured program cannot be given its share of the CPUs beside other load."""
    have = machine.get("privileges") or {}
    ways = ("cgroup_cpu_writable", "autogroup_nice", "autogroup")
    if not have or not tried(machine) or any(have.get(way) for way in ways):
        return
    yield Finding(
        "note",
        "A measured program cannot be given its share beside other load",
        "the control group is not writable and session autogroups are off",
        "A neighbour takes what the scheduler gives it; such launches are marked as disturbed and repeated.",
        "Measure on an idle node, or ask for a delegated control group (`systemd-run --user --scope -p "
        "CPUWeight=1000 ...`).",
        "no-share",
    )


CHECKS: tuple[Check, ...] = (
    quota,
    affinity,
    memory_limit,
    governor,
    turbo,
    huge_pages,
    counters,
    smt,
    page_cache,
    placement,
    numa_balancing,
    hybrid,
    far_memory,
    share,
)
