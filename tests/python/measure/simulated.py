"""A simulated machine whose hypervisor or neighbours take time from its cores; records read as the
launcher's would.

A launch of so many CPU seconds on a core of which others have the share s takes 1 / (1 - s) times as long, a
parallel one as long as its slowest core. What a launch shows of the disturbance scatters by ticks, as on
Linux.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

from fakes import record, result

from strata.measure.background import Background
from strata.measure.plan import Task
from strata.measure.runner import Launched

TICK_S = 0.01


class Machine:
    """`steal` and `others`: the share of each CPU that the hypervisor and other processes take, from time
    on.
    """

    def __init__(
        self,
        steal: Mapping[int, float] | None = None,
        others: Mapping[int, float] | None = None,
        since: float = 0.0,
        scatter: float = 0.003,
        seed: int = 1,
    ) -> None:
        self.cpus = sorted((steal or others or {0: 0.0, 1: 0.0}).keys())
        self._steal, self._others, self._since = steal or {}, others or {}, since
        self._scatter, self._random = scatter, random.Random(seed)
        self.now = 0.0
        self.launches = 0

    def run(self, task: Task, tick: Callable[[], None]) -> Launched:
        """A launch of the rate that its benchmark's name says ("r100": 100 GB/s undisturbed), of 1 s."""
        self.launches += 1
        processes, _, threads = task.layout.partition("x")
        used = self.cpus[: int(processes) * int(threads)]
        active = self.now >= self._since
        steal = {c: self._steal.get(c, 0.0) * active for c in used}
        others = {c: self._others.get(c, 0.0) * active for c in used}
        wall = max(1.0 / (1.0 - steal[c] - others[c]) for c in used)
        wall *= 1 + self._random.gauss(0.0, self._scatter)
        room = wall * len(used)
        stolen, taken = (sum(self._ticks(shares[c] * wall) for c in used) for shares in (steal, others))
        everywhere = sum(self._ticks(self._others.get(c, 0.0) * active * wall) for c in self.cpus)
        self.now += wall
        seen = record(
            wall_s=wall,
            layout=task.layout,
            cpu={
                "own_s": float(len(used)),
                "others_s": taken,
                "others_share": taken / room,
                "steal_s": stolen,
                "steal_share": stolen / room,
            },
            switches={"voluntary": 5, "involuntary": 3 + round(250 * taken)},
        )
        system = {"others_s": everywhere, "cpus": len(self.cpus), "wall_s": wall}
        return Launched(seen, result(float(task.benchmark[1:]) / wall), None, system)

    def _ticks(self, seconds: float) -> float:
        """Seconds as the kernel counts them: whole ticks, one more or less by chance."""
        whole = math.floor(seconds / TICK_S + self._random.random())
        return whole * TICK_S

    def background(self) -> Background | None:
        """What looking at this machine's /proc/stat for two seconds shows."""
        return Background(
            {c: self._ticks(2 * self._steal.get(c, 0.0) * (self.now >= self._since)) / 2 for c in self.cpus},
            {c: self._ticks(2 * self._others.get(c, 0.0) * (self.now >= self._since)) / 2 for c in self.cpus},
            3.0 + 250 * sum(self._others.values()) / len(self.cpus) * (self.now >= self._since),
            None,
        )
