"""Fleets that never were, with planted faults: to try the report with, and to count false alarms and misses.

Noise as it is met: nodes of three batches of hardware; within a batch a hidden one whose memory is 1 %
slower; differences of nodes that last, skewed to the slow side; noise of each run; in 1.5 % of runs somebody
else's work that costs 3 % on average, exponentially distributed, and in 2 % one core that lost 5 %; missing
runs; and an update that costs the whole fleet 2 % of its DGEMM.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from strata.centre.fleet.fleet import DAY, Figure, Fleet
from strata.centre.fleet.quick import SCHEMA

BEGIN = 1_767_225_600.0  # 2026
EVERY = 7 * DAY
GENERATED = "these nodes never were: the fleet was generated"
KINDS = ("bandwidth", "core", "clock", "latency", "dgemm")
# What a batch has: cores, domains, memory (GiB), and the figures of a healthy node.
_BATCHES = (
    (
        "Alpha 64",
        16,
        2,
        512,
        {"dgemm": 2400.0, "clock": 2.9, "core": 3400.0, "bandwidth": 190.0, "latency": 105.0},
    ),
    (
        "Beta 32",
        16,
        2,
        256,
        {"dgemm": 1300.0, "clock": 3.2, "core": 3600.0, "bandwidth": 140.0, "latency": 98.0},
    ),
    (
        "Gamma 96",
        16,
        2,
        768,
        {"dgemm": 4100.0, "clock": 2.6, "core": 3300.0, "bandwidth": 290.0, "latency": 118.0},
    ),
)
UNITS = {
    "dgemm": ("GF/s", True, ""),
    "clock": ("GHz", True, ""),
    "core": ("1/s", True, "core"),
    "bandwidth": ("GB/s", True, "domain"),
    "latency": ("ns", False, "domain"),
}


@dataclass(frozen=True)
class Fault:
    """A node that becomes slower by `size` (0.12 is 12 %) in a figure, for its newest `runs` runs."""

    node: int
    kind: str
    size: float
    runs: int


@dataclass(frozen=True)
class Noise:
    """`lasting`: spread of nodes; `run`: of runs; `others`: share of runs that others disturb, at `cost`."""

    lasting: float = 0.007
    run: float = 0.004
    others: float = 0.015
    cost: float = 0.03


def generate(
    nodes: int, runs: int, faults: Sequence[Fault] = (), seed: int = 1, noise: Noise | None = None
) -> Fleet:
    """A fleet of so many nodes, each measured every week."""
    noise = noise or Noise()
    random = np.random.default_rng(seed)
    batch = np.sort(random.choice(3, nodes, p=(0.6, 0.3, 0.1))) if nodes >= 100 else np.zeros(nodes, int)
    disturbed = random.random((nodes, runs)) < noise.others
    cost = np.where(disturbed, random.exponential(noise.cost, (nodes, runs)), 0.0)
    figures = {}
    for name, (unit, higher, part) in UNITS.items():
        parts = {"": 1, "core": _BATCHES[0][1], "domain": _BATCHES[0][2]}[part]
        slow = _skewed(random, (nodes, 1, 1), noise.lasting if name != "core" else 0.2 * noise.lasting)
        slow = slow + _skewed(random, (nodes, 1, parts), 0.3 * noise.lasting)
        slow = slow + _skewed(random, (nodes, runs, parts), noise.run)
        slow = slow + cost[:, :, None] * random.uniform(0.3, 1.0, (nodes, runs, 1))
        if name == "core":
            hit = random.random((nodes, runs)) < 0.02
            which = random.integers(parts, size=(nodes, runs))
            at = np.nonzero(hit)
            slow[(*at, which[at])] += random.exponential(0.05, len(at[0]))
        if name in ("bandwidth", "latency"):
            slow = slow + 0.01 * (random.random((nodes, 1, 1)) < 0.3)
        if name == "dgemm":
            slow[:, runs // 2 :] += 0.02
        _plant(name, slow, faults, random)
        healthy = np.array([b[4][name] for b in _BATCHES])[batch][:, None, None]
        figures[name] = Figure(
            name,
            unit,
            higher,
            part,
            (healthy * np.exp(-slow if higher else slow)).reshape(nodes * runs, parts),
        )
    return _fleet(nodes, runs, batch, figures, random)


def _skewed(random: np.random.Generator, shape: tuple[int, ...], spread: float) -> np.ndarray:
    """Gamma with the shape 4 (skewness 1), centred."""
    return spread / 2 * (random.standard_gamma(4.0, shape) - 4.0)


def _plant(name: str, slow: np.ndarray, faults: Sequence[Fault], random: np.random.Generator) -> None:
    for fault in faults:
        late = slow[fault.node, slow.shape[1] - fault.runs :]
        cost = -np.log1p(-fault.size)
        if fault.kind == name:
            part = int(random.integers(late.shape[1]))
            late[:, part] += cost
        elif fault.kind == "clock" and name in ("dgemm", "core"):
            late += cost  # all that computes is slower
        elif fault.kind == "core" and name == "dgemm":
            late += 0.5 * cost  # the others wait for it


def _fleet(
    nodes: int, runs: int, batch: np.ndarray, figures: dict[str, Figure], random: np.random.Generator
) -> Fleet:
    kept = random.random((nodes, runs)) >= 0.05
    kept[:, -3:] = True  # so that a fault of three runs was met three times
    kept = kept.ravel()
    for figure in figures.values():
        figure.values = figure.values[kept]
    time = BEGIN + EVERY * np.arange(runs) + random.uniform(0, 7200, (nodes, runs))
    width = len(str(nodes))
    node = np.repeat(np.arange(nodes), runs)[kept]
    week = np.tile(np.arange(runs), nodes)[kept]
    about = [_BATCHES[b] for b in batch]
    facts = {
        "product": [about[i][0] for i in node],
        "cpu_model": [about[i][0] + " processor" for i in node],
        "cores": [str(about[i][1]) for i in node],
        "domains": [str(about[i][2]) for i in node],
        "memory_gib": [str(about[i][3]) for i in node],
        "kernel": ["6.1.1" if w < runs // 2 else "6.1.2" for w in week],
        "microcode": ["0x2b" for _ in node],
        "bios": ["1.4" for _ in node],
    }
    return Fleet(
        [f"n{i + 1:0{width}}" for i in range(nodes)],
        node,
        time.ravel()[kept],
        [f"week {w + 1}" for w in week],
        facts,
        figures,
        booted=np.zeros(len(node)),
        generated=GENERATED,
    )


def files(fleet: Fleet) -> Iterator[tuple[str, str, str]]:
    """Each run as (node, name of its file, strata.node/1)."""
    for run in range(fleet.runs):
        facts = {name: values[run] for name, values in fleet.facts.items()}
        time = datetime.fromtimestamp(float(fleet.time[run]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        record = {
            "schema": SCHEMA,
            "node": fleet.nodes[fleet.node[run]],
            "time": time,
            "campaign": fleet.campaign[run],
            "generated": fleet.generated,
            "hardware": {k: facts[k] for k in ("product", "cpu_model", "cores", "domains", "memory_gib")},
            "software": {k: facts[k] for k in ("kernel", "microcode", "bios")},
            "figures": {
                name: {
                    "unit": f.unit,
                    "better": "higher" if f.higher else "lower",
                    "values": [float(f"{v:.6g}") for v in f.values[run]],
                    **({"part": f.part, "parts": list(range(f.values.shape[1]))} if f.part else {}),
                }
                for name, f in fleet.figures.items()
            },
        }
        name = time.replace("-", "").replace(":", "") + ".json"
        yield record["node"], name, json.dumps(record, separators=(",", ":")) + "\n"
