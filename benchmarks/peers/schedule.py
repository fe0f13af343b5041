"""A step of an implicit flow solver on joined and overlapping zones, played on processes of some threads.

Each patch has four tasks: its residual needs the values of its neighbours; the forward sweep follows those
of the patches before it in its zone, along each axis; the backward sweep those after it; the update waits
for a decision of all processes. So a step is as long as the slowest process, or the longest chain. Threads
take tasks as these become ready, those with the longest chain behind them first.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESIDUAL, FORWARD, BACKWARD, UPDATE = range(4)
VALUES = 6  # of a cell: five conserved ones, and the turbulence model's
LAYERS = 2  # of cells that the residual needs beyond a patch
FRINGE = 2  # layers of interpolated cells
STEPS = 3  # played; the last one counts


@dataclass(frozen=True)
class Rates:
    """Seconds of a core: of tasks by cell, of copies by byte, and of the runtime by task."""

    residual: float
    forward: float
    backward: float
    update: float
    each_byte: float
    each_task: float


@dataclass(frozen=True)
class Machine:
    """[process] its threads, a core each; nodes of some cores, and their network: seconds of a message,
    bytes/s of a node, and seconds of a core to interpolate a cell."""

    threads: tuple[int, ...]
    node: int = 1 << 30
    latency: float = 0.0
    bandwidth: float = math.inf
    donor: float = 0.0

    @property
    def cpus(self) -> int:
        """Threads in all."""
        return sum(self.threads)


def crews(cpus: int, threads: int) -> tuple[int, ...]:
    """Threads of processes of about `threads` each, on all CPUs: 508 by 16 are 28 of 16 and 4 of 15."""
    processes = max(1, round(cpus / threads))
    return tuple(cpus * (p + 1) // processes - cpus * p // processes for p in range(processes))


@dataclass(frozen=True)
class Step:
    """Seconds of a step; the shares of all threads' time that go into exchange, and into waiting."""

    seconds: float
    exchange: float
    waiting: float


@dataclass
class Work:
    """Patches: [patch] cells and places; neighbours with the cells of the common face; patches before it in
    its zone's order; cells that it receives by interpolation, by the patch that gives them."""

    cells: np.ndarray
    centres: np.ndarray
    faces: list[list[tuple[int, int]]]
    before: list[list[int]]
    received: list[list[tuple[int, int]]]

    @staticmethod
    def of_zones(
        shapes: Sequence[tuple[int, ...]],
        centres: np.ndarray,
        patch: tuple[int, int, int],
        donors: Sequence[tuple[int, int, int]],
        sweep: int = 0,
    ) -> Work:
        """Zones of `shapes` cells around `centres` (in lengths of a cell), cut into patches of about `patch`
        cells. `donors`: two zones and the points of their common part's surface. `sweep`: sweeps begin anew
        after about so many cells along each axis (`grid.zone`); 0: they go through whole zones."""
        cells, places, faces, before, of_zone = [], [], [], [], []
        for shape, centre in zip(shapes, centres, strict=True):
            cuts = [
                np.linspace(0, n, max(1, round(n / p)) + 1).round().astype(int)
                for n, p in zip(shape, patch, strict=True)
            ]
            counts = [len(cut) - 1 for cut in cuts]
            parts = [math.ceil(n / sweep) if sweep > 0 else 1 for n in shape]
            # Along each axis, the part of a zone in which each patch lies.
            part_of = [
                [int((cut[i] + cut[i + 1]) / 2 * p // cut[-1]) for i in range(len(cut) - 1)]
                for cut, p in zip(cuts, parts, strict=True)
            ]
            first = len(cells)
            numbers = np.arange(first, first + math.prod(counts)).reshape(counts)
            for at in np.ndindex(*counts):
                low = np.array([cut[i] for cut, i in zip(cuts, at, strict=True)])
                size = np.array([cut[i + 1] for cut, i in zip(cuts, at, strict=True)]) - low
                cells.append(int(size.prod()))
                places.append(centre - np.array(shape) / 2 + low + size / 2)
                around, behind = [], []
                for axis in range(3):
                    for side in (-1, 1):
                        beyond = list(at)
                        beyond[axis] += side
                        if 0 <= beyond[axis] < counts[axis]:
                            other = int(numbers[tuple(beyond)])
                            around.append((other, int(size.prod() // size[axis])))
                            same = part_of[axis][at[axis]] == part_of[axis][beyond[axis]]
                            if side < 0 and same:
                                behind.append(other)
                faces.append(around)
                before.append(behind)
            of_zone.append(np.arange(first, len(cells)))
        all_places = np.array(places)
        received: list[list[tuple[int, int]]] = [[] for _ in cells]
        for a, b, points in donors:
            for to, source in ((a, b), (b, a)):
                share_out(received, all_places, of_zone[to], of_zone[source], FRINGE * points // 2)
        return Work(np.array(cells), all_places, faces, before, received)


def share_out(
    received: list[list[tuple[int, int]]], places: np.ndarray, to: np.ndarray, source: np.ndarray, cells: int
) -> None:
    """Cells of zone `to` that zone `source` gives: as many to each of the patches that are nearest to its
    middle, a patch's face for each."""
    if cells < 1:
        return
    middle = places[source].mean(axis=0)
    nearest = to[np.argsort(((places[to] - middle) ** 2).sum(axis=1))]
    count = min(len(nearest), max(1, cells // 512))
    for patch in nearest[:count]:
        giver = source[((places[source] - places[patch]) ** 2).sum(axis=1).argmin()]
        received[int(patch)].append((int(giver), cells // count))


def hilbert(places: np.ndarray, bits: int = 10) -> np.ndarray:
    """Where each place lies along Hilbert's curve (Skilling, AIP Conf. Proc. 707 (2004) 381)."""
    low, high = places.min(axis=0), places.max(axis=0)
    x = ((places - low) / np.maximum(high - low, 1e-30) * ((1 << bits) - 1)).astype(np.int64)
    dimensions = x.shape[1]
    q = 1 << (bits - 1)
    while q > 1:
        p = q - 1
        for d in range(dimensions):
            set_there = (x[:, d] & q) != 0
            swap = (x[:, 0] ^ x[:, d]) & p
            x[:, 0] = np.where(set_there, x[:, 0] ^ p, x[:, 0] ^ swap)
            x[:, d] = np.where(set_there, x[:, d], x[:, d] ^ swap)
        q >>= 1
    for d in range(1, dimensions):
        x[:, d] ^= x[:, d - 1]
    turn = np.zeros(len(x), dtype=np.int64)
    q = 1 << (bits - 1)
    while q > 1:
        turn = np.where((x[:, dimensions - 1] & q) != 0, turn ^ (q - 1), turn)
        q >>= 1
    x ^= turn[:, None]
    key = np.zeros(len(x), dtype=np.int64)
    for bit in range(bits - 1, -1, -1):
        for d in range(dimensions):
            key = (key << 1) | ((x[:, d] >> bit) & 1)
    return key


def owners_along_curve(work: Work, threads: Sequence[int]) -> np.ndarray:
    """[patch] its process: Hilbert's curve through all patches, cut into parts whose greatest load for each
    thread is least."""
    order = np.argsort(hilbert(work.centres), kind="stable")
    until = np.cumsum(work.cells[order].astype(float))

    def ends(most: float) -> list[int] | None:
        begin, found = 0.0, []
        for crew in threads:
            end = int(np.searchsorted(until, begin + most * crew * (1 + 1e-12), side="right"))
            found.append(end)
            if end == len(until):
                return found
            begin = until[end - 1] if end > 0 else 0.0
        return None

    low = until[-1] / sum(threads)
    high = until[-1]
    while high > low * 1.0001:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if ends(middle) else (middle, high)
    found = ends(high)
    assert found is not None
    owners = np.empty(len(until), dtype=int)
    owners[order] = np.searchsorted(np.array(found), np.arange(len(until)), side="right")
    return owners


def step_time(work: Work, owners: np.ndarray, rates: Rates, machine: Machine) -> Step:
    """Plays some steps. Raises ValueError where an owner is none of the processes."""
    if owners.min() < 0 or owners.max() >= len(machine.threads):
        raise ValueError(f"owners must be 0 to {len(machine.threads) - 1}")
    return _Play(work, owners.tolist(), rates, machine).run()


class _Play:
    """Events in the order of time: the end of a task, a message that arrives, the decision."""

    def __init__(self, work: Work, owners: list[int], rates: Rates, machine: Machine) -> None:
        self.work, self.owner, self.rates, self.machine = work, owners, rates, machine
        self.count = len(owners)
        self.after: list[list[int]] = [[] for _ in owners]
        for patch, earlier in enumerate(work.before):
            for one in earlier:
                self.after[one].append(patch)
        self.gives_to: list[list[int]] = [[] for _ in owners]
        for patch, sources in enumerate(work.received):
            for giver, _ in sources:
                self.gives_to[giver].append(patch)
        self.depth = self._depths()
        self.node_of = [int(first) // machine.node for first in np.cumsum([0, *machine.threads])[:-1]]
        self.seconds = [self._seconds(patch) for patch in range(self.count)]
        self.events: list[tuple[float, int, int, int]] = []  # time, kind of event, task, patch
        self.ready: list[list[tuple[int, int, int]]] = [[] for _ in machine.threads]
        self.idle = list(machine.threads)
        self.serial = 0

    def _depths(self) -> tuple[list[int], list[int]]:
        """Of each patch the patches of the longest chain after it, and before it, in its zone."""
        behind, ahead = [0] * self.count, [0] * self.count
        for patch in range(self.count):  # patches of a zone are in the order of its sweep
            behind[patch] = max((behind[one] + 1 for one in self.work.before[patch]), default=0)
        for patch in range(self.count - 1, -1, -1):
            ahead[patch] = max((ahead[one] + 1 for one in self.after[patch]), default=0)
        return ahead, behind

    def _seconds(self, patch: int) -> tuple[tuple[float, float, float, float], float]:
        """Of a patch's tasks, with what is copied from other processes for them; and of the copies alone."""
        r, work, mine = self.rates, self.work, self.owner[patch]
        far = sum(cells for other, cells in work.faces[patch] if self.owner[other] != mine)
        behind = set(work.before[patch])
        up = sum(cells for other, cells in work.faces[patch] if self.owner[other] != mine and other in behind)
        ghosts = 8 * VALUES * r.each_byte
        interpolated = self.machine.donor * sum(cells for _, cells in work.received[patch])
        values = 8 * VALUES * r.each_byte * sum(cells for _, cells in work.received[patch])
        copied = ghosts * LAYERS * far + interpolated + values, ghosts * up, ghosts * (far - up)
        cells = int(work.cells[patch])
        times = (
            r.residual * cells + copied[0] + r.each_task,
            r.forward * cells + copied[1] + r.each_task,
            r.backward * cells + copied[2] + r.each_task,
            r.update * cells + r.each_task,
        )
        return times, sum(copied)

    def _delay(self, source: int, to: int, cells: int, layers: int) -> float:
        """Of a message to a patch on another node; a node's processes share its network."""
        if self.node_of[self.owner[source]] == self.node_of[self.owner[to]]:
            return 0.0
        share = self.machine.bandwidth / min(self.machine.node, self.machine.cpus)
        return self.machine.latency + 8 * VALUES * cells * layers / share

    def _needs(self, task: int, patch: int) -> int:
        work = self.work
        if task == RESIDUAL:  # its own update, those of its neighbours and donors
            return 1 + len(work.faces[patch]) + len(work.received[patch])
        if task == FORWARD:
            return 1 + len(work.before[patch])
        if task == BACKWARD:
            return 1 + len(self.after[patch])
        return 1

    def _have(self, task: int, patch: int, now: float) -> None:
        """One of the things that a task waits for is there."""
        self.waits[task][patch] -= 1
        if self.waits[task][patch] == 0:
            self.waits[task][patch] = self._needs(task, patch)
            ahead, behind = self.depth
            chain = {FORWARD: ahead, BACKWARD: behind}.get(task)
            self.serial += 1
            # Sweeps before residuals, those with the longest chain first; updates first of all.
            rank = (-(1 << 20) if task == UPDATE else -1 - chain[patch] if chain else 0, self.serial)
            process = self.owner[patch]
            heapq.heappush(self.ready[process], (rank[0], rank[1], task * self.count + patch))
            self._start(process, now)

    def _start(self, process: int, now: float) -> None:
        while self.idle[process] and self.ready[process]:
            self.idle[process] -= 1
            task, patch = divmod(heapq.heappop(self.ready[process])[2], self.count)
            heapq.heappush(self.events, (now + self.seconds[patch][0][task], 1, task, patch))

    def _tell(self, task: int, source: int, to: int, cells: int, layers: int, now: float) -> None:
        delay = self._delay(source, to, cells, layers)
        if delay > 0:
            heapq.heappush(self.events, (now + delay, 0, task, to))
        else:
            self._have(task, to, now)

    def _ended(self, task: int, patch: int, now: float) -> None:
        work = self.work
        faces = dict(work.faces[patch])
        if task == RESIDUAL:
            self._have(FORWARD, patch, now)
        elif task == FORWARD:
            self._have(BACKWARD, patch, now)
            for other in self.after[patch]:
                self._tell(FORWARD, patch, other, faces[other], 1, now)
        elif task == BACKWARD:
            for other in work.before[patch]:
                self._tell(BACKWARD, patch, other, faces[other], 1, now)
        else:
            self._have(RESIDUAL, patch, now)
            for other, cells in work.faces[patch]:
                self._tell(RESIDUAL, patch, other, cells, LAYERS, now)
            for other in self.gives_to[patch]:
                self._tell(RESIDUAL, patch, other, 512, 1, now)

    def run(self) -> Step:
        """The last of some steps."""
        self.waits = [[self._needs(task, patch) for patch in range(self.count)] for task in range(4)]
        decided: list[float] = []
        nodes = -(-self.machine.cpus // self.machine.node)
        decision = 2 * self.machine.latency * math.ceil(math.log2(max(1, nodes)))
        now, left = 0.0, self.count
        for patch in range(self.count):
            self.waits[RESIDUAL][patch] = 1
            self._have(RESIDUAL, patch, now)
        while self.events:
            now, ended, task, patch = heapq.heappop(self.events)
            if not ended:
                self._have(task, patch, now)
                continue
            process = self.owner[patch]
            self.idle[process] += 1
            self._ended(task, patch, now)
            self._start(process, now)
            if task != BACKWARD:
                continue
            left -= 1
            if left == 0:
                decided.append(now)
                if len(decided) == STEPS:
                    break
                left = self.count
                for one in range(self.count):
                    self.waits[UPDATE][one] = 1
                    heapq.heappush(self.events, (now + decision, 0, UPDATE, one))
        seconds = decided[-1] - decided[-2]
        threads = self.machine.cpus
        busy = sum(sum(times) for times, _ in self.seconds)
        exchange = sum(copied for _, copied in self.seconds)
        return Step(seconds, exchange / (threads * seconds), max(0.0, 1 - busy / (threads * seconds)))
