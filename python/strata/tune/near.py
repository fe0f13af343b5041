"""The layouts around one that is fast: what a race tries next.

Each differs from it in one thing: a number of threads or processes, how they lie (stride, order, how wide the
hold is), or what else the launcher can change (pages, SMT siblings, the kind of cores). A layout that differs
in two is reached over one that is as fast; `search.py` says how far that goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from strata.advice.samples import print_in_order
from strata.tune.candidates import Candidate, distinct, interleaved_over_all, pus_of
from strata.tune.usable_cores import UsableCores

Shape = tuple[int, int]


def near(
    usable: UsableCores,
    kind: str,
    best: Candidate,
    tried: Collection[Shape] = (),
    processes: Sequence[int] = (),
) -> list[Candidate]:
    """All that differ from the best in one thing, what is most often worth trying first.

    `tried` are the processes and threads of other layouts; `processes` limits an MPI program's.
    """
    parts = (dimensions(usable, kind, best), numbers(usable, kind, best, tried), arrangements(usable, best))
    found = (c for c in chain.from_iterable(zip_longest(*parts)) if c is not None)
    return [c for c in distinct(usable, found, [best]) if not processes or c.processes in processes]


# -- how many ----------------------------------------------------------------------------------------------


def numbers(
    usable: UsableCores, kind: str, best: Candidate, tried: Collection[Shape] = ()
) -> list[Candidate]:
    """Other numbers of threads and processes: half way to the next that were tried, and one more or less."""
    shapes: list[Shape] = []
    p, t = best.processes, best.threads
    most = _most(usable, best)
    if kind in ("openmp", "forking"):
        shapes = [(1, n) for n in _between(t, [b for a, b in tried if a == 1], most)]
    elif kind == "mpi":
        shapes = [(n, 1) for n in _between(p, [a for a, b in tried if b == 1], most)]
    elif kind == "hybrid":
        shapes = [(p * 2, t // 2)] if t % 2 == 0 else []
        shapes += [(p // 2, t * 2)] if p % 2 == 0 else []
        shapes += [(p, n) for n in _between(t, [b for a, b in tried if a == p], most // p)]
        shapes += [(n, t) for n in _between(p, [a for a, b in tried if b == t], most // t)]
    resized = [_resized(usable, best, shape) for shape in shapes]
    every = chain.from_iterable(zip_longest(resized, _even(usable, kind, best, tried)))
    return distinct(usable, (c for c in every if c is not None), [best])


def _even(usable: UsableCores, kind: str, best: Candidate, tried: Collection[Shape]) -> Iterator[Candidate]:
    """Other numbers of each domain's cores, or of those of each cache: where its memory feeds fewer than all,
    a number that lies unevenly is no better than all, so that one step at a time would not get there.
    """
    for order in ORDERS[:2]:
        groups = _grouped(usable, best, order)
        if len(groups) < 2 or best.bind == "none" or kind == "serial":
            continue
        own = max(1, best.places // len(groups))
        for n in _between(own, [p * t // len(groups) for p, t in tried], min(map(len, groups))):
            shapes = _shapes(kind, best, n * len(groups))
            if kind == "hybrid":
                shapes.append((len(groups), n))
            plain = [
                replace(best, processes=p, threads=t, stride=1, bind="core", order="") for p, t in shapes
            ]
            yield from (
                c for one in plain if one.places == n * len(groups) and (c := ordered(usable, one, order))
            )


def _most(usable: UsableCores, c: Candidate) -> int:
    """How many threads there is a place for."""
    return usable.places(c.core_kind, c.smt) if c.bind != "none" else len(usable.of_kind(c.core_kind))


def _between(n: int, tried: Iterable[int], most: int) -> list[int]:
    known = sorted({*tried, n})
    below = max((k for k in known if k < n), default=0)
    above = min((k for k in known if k > n), default=most)
    wanted = [(n + below) // 2, -(-(n + above) // 2), n - 1, n + 1]
    return [k for k in dict.fromkeys(wanted) if 1 <= k <= most and k != n]


def _resized(usable: UsableCores, c: Candidate, shape: Shape) -> Candidate | None:
    """The same with other numbers: its order where that is possible, and the widest stride up to its own."""
    processes, threads = shape
    places, most = processes * threads, _most(usable, c)
    if places > most or places < 1:
        return None
    if c.order:
        return ordered(usable, replace(c, processes=processes, threads=threads), c.order)
    stride = min(c.stride, (most - 1) // (places - 1)) if places > 1 else 1
    return replace(c, processes=processes, threads=threads, stride=stride, note="")


# -- how they lie ------------------------------------------------------------------------------------------


def arrangements(usable: UsableCores, best: Candidate) -> list[Candidate]:
    """Other strides, orders and widths of the hold."""
    plain = replace(best, bind="core", order="", stride=1, note="")
    places, most = best.places, usable.places(best.core_kind, best.smt)
    strides = list(_strides(best, places, most)) if best.bind != "none" else []
    parts = [plain] if best.bind not in ("core", "none") or best.stride > 1 else []
    held = [replace(best, bind=bind, order="", note="") for bind in _binds(usable, best.core_kind)]
    moved = [
        replace(best, stride=stride, bind="core" if best.order else best.bind, order="", note="")
        for stride in strides
    ]
    orders = [c for order in ORDERS if (c := ordered(usable, plain, order))]
    every = chain.from_iterable(zip_longest(parts, held, moved, orders))
    found = distinct(usable, (c for c in every if c is not None), [best])
    return [c for c in found if c.bind == "none" or (c.places - 1) * c.stride < most]


def _strides(best: Candidate, places: int, most: int) -> Iterator[int]:
    """Spread over all cores, as far as the last one, one more or less, and packed."""
    if places < 2:
        return
    widest = (most - 1) // (places - 1)
    wanted = (most // places, widest, best.stride + 1, best.stride - 1, 1)
    yield from (s for s in dict.fromkeys(wanted) if 1 <= s <= widest and s != best.stride)


def _binds(usable: UsableCores, kind: str) -> list[str]:
    """Widths of the hold that differ on this machine."""
    caches, domains = (_sizes(usable, by, kind) for by in ("cache", "domain"))
    found = ["core", "numa", "none"]
    if caches != domains and max(caches) > 1 and any(core.cache >= 0 for core in usable.of_kind(kind)):
        found.append("cache")
    return found + (["package"] if _sizes(usable, "package", kind) != domains else [])


def _sizes(usable: UsableCores, by: str, kind: str) -> list[int]:
    return [len(group) for group in usable.groups(by, kind)]


ORDERS = (
    "spread over domains",
    "spread over caches",
    "in turn over domains",
    "in turn over caches",
)


def ordered(usable: UsableCores, c: Candidate, order: str) -> Candidate | None:
    """The layout in one of ORDERS, as a list of PUs; None where it is not possible or changes nothing.

    "Spread" gives each domain, or shared cache, an even share of neighbours; "in turn" deals one by one.
    """
    groups = _grouped(usable, c, order)
    if len(groups) < 2 or c.places < 2:
        return None
    # Whole processes where there are enough of them: their threads share a memory.
    whole = (c.processes, c.threads) if c.processes >= len(groups) else (c.places, 1)
    pus = None
    for units, size in dict.fromkeys((whole, (c.places, 1))):
        pus = pus or (_shares if order.startswith("spread") else _turns)(groups, units, size)
    if pus is None or tuple(pus) == pus_of(usable, replace(c, bind="core", order="", stride=1)):
        return None
    return replace(c, bind=print_in_order(pus), order=order, stride=1, note="")


def _grouped(usable: UsableCores, c: Candidate, order: str) -> list[list[int]]:
    """The PUs that a layout may use, by what the order is about."""
    return usable.groups(order.rsplit(" ", 1)[-1].removesuffix("s"), c.core_kind, c.smt)


def _shares(groups: Sequence[Sequence[int]], units: int, size: int) -> list[int] | None:
    found: list[int] = []
    for i, group in enumerate(groups):
        share = size * (units // len(groups) + (i < units % len(groups)))
        if share > len(group):
            return None
        found += group[:share]
    return found


def _turns(groups: Sequence[Sequence[int]], units: int, size: int) -> list[int] | None:
    left, found = [list(group) for group in groups], []
    while units:
        room_for = [group for group in left if len(group) >= size]
        if not room_for:
            return None
        for group in room_for[:units]:
            found += group[:size]
            del group[:size]
        units -= min(units, len(room_for))
    return found


# -- what else ---------------------------------------------------------------------------------------------


def dimensions(usable: UsableCores, kind: str, best: Candidate) -> list[Candidate]:
    """Huge pages, SMT siblings, kinds of cores and policies for pages, each as it is not in the best."""
    memory = (
        ("", interleaved_over_all(usable, best), "local", "first-touch")
        if len(usable.memories) > 1
        else ("",)
    )
    parts = (
        [replace(best, huge_pages=huge, note="") for huge in ("on", "off", "")],
        _siblings(usable, kind, best),
        _of_kinds(usable, kind, best),
        [replace(best, memory=policy, note="") for policy in memory],
    )
    found = (c for c in chain.from_iterable(zip_longest(*parts)) if c is not None)
    return distinct(usable, found, [best])


def _siblings(usable: UsableCores, kind: str, best: Candidate) -> list[Candidate]:
    """As many cores with all PUs of each, or with one again, in the best's order; where that is a stride,
    packed and spread.
    """
    if best.bind == "none":
        return []
    cores, smt = usable.of_kind(best.core_kind), usable.most_pus(best.core_kind)
    used = 0
    while sum(min(best.smt, len(core.pus)) for core in cores[:used]) < best.places and used < len(cores):
        used += 1
    orders = (best.order,) if best.order else ("", *ORDERS[:2]) if best.stride > 1 else ("",)
    found = []
    for each in {1, smt} - {best.smt}:
        places = sum(min(each, len(core.pus)) for core in cores[:used])
        for p, t in _shapes(kind, best, places):
            plain = replace(best, processes=p, threads=t, smt=each, bind="core", stride=1, order="", note="")
            found += [c for order in orders if (c := ordered(usable, plain, order) if order else plain)]
    return found


def _shapes(kind: str, best: Candidate, places: int) -> list[Shape]:
    """So many places for this kind of program, a hybrid one's with the best's number of processes."""
    if kind == "serial":
        return [(1, 1)]
    if kind == "mpi":
        return [(places, 1)]
    if kind == "hybrid":
        return [(best.processes, places // best.processes)] if places >= best.processes else []
    return [(1, places)]


def _of_kinds(usable: UsableCores, kind: str, best: Candidate) -> list[Candidate]:
    """On a hybrid processor: on the cores of one kind alone, as many as fit, and all of that kind."""
    found: list[Candidate] = []
    for core_kind in ("", *usable.kinds) if usable.kinds else ():
        if core_kind == best.core_kind:
            continue
        cores = len(usable.of_kind(core_kind))
        plain = replace(best, core_kind=core_kind, smt=1, stride=1, order="", note="")
        plain = replace(plain, bind="core" if best.order else best.bind)
        for places in dict.fromkeys((cores, min(cores, best.places))):
            for p, t in _shapes(kind, best, places):
                found.append(replace(plain, processes=p, threads=t))
    return found
