"""Claims about what the figures of the ready studies stand beside: a bound from the same run, or a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import synthetic_machines as machines
from made_studies import around, figure, study, task
from test_ready_studies import READY, planned

from strata.characterize import bounds
from strata.characterize.bound_rules import kind_of
from strata.report.build import compose

# What each benchmark tells, beside the headlines that a study names: (name, unit, which is better).
TOLD = {
    "stream": [("copy", "GB/s", "higher"), ("triad", "GB/s", "higher")],
    "stream-in-cache": [("copy", "GB/s", "higher")],
    "dgemm": [("dgemm", "GF/s", "higher")],
    "peak": [("peak", "GF/s", "higher")],
    "lines": [("round trip", "ns", "lower")],
    "stencil": [("cell updates", "Mcell/s", "higher")],
    "pages": [("sweep", "ms", "lower"), ("bandwidth", "GB/s", "higher")],
    "cycles": [("p99 over median", "ppm", "lower"), ("resolution", "ppm", "lower")],
    "clock": [("sustained clock", "GHz", "higher"), ("clock at the start", "GHz", "higher")],
    "strata-mpm-patches": [
        ("rate of operations", "GF/s", "higher"),
        ("in task code alone", "GF/s", "higher"),
    ],
}
LOWER = ("latency", "barrier", "flag", "switch", "sweep")
UNITS = {"bandwidth": "GB/s", "latency": "us", "barrier": "ns", "flag": "ns", "switch": "us", "read": "GB/s"}
UNITS |= {"time in task code": "%", "rate": "GF/s"}


def measured(name: str, facts: dict[str, Any], tmp_path: Path) -> list[dict[str, Any]]:
    """Every task of a ready study on a machine, with a figure for each headline and those that it tells."""
    found = []
    for t in planned(name, facts, tmp_path).plan.tasks:
        kind = kind_of({"benchmark": t.benchmark, "command": t.command})
        told = {n: (n, unit, better) for n, unit, better in TOLD.get(kind, [])}
        for head in t.figures:
            unit = UNITS.get(head, UNITS.get(head.split()[-1], "Mop/s"))
            told.setdefault(head, (head, unit, "lower" if head.split()[-1] in LOWER else "higher"))
        figures = [figure(n, unit, around(5.0), better) for n, unit, better in told.values()]
        lines = {"name": "round trip", "unit": "ns", "values": [[None, 100.0], [100.0, None]]}
        more = {"layout": t.layout, "stride": t.stride, "id": t.id, "command": list(t.command)}
        more |= {"matrices": [lines] if kind == "lines" else [], "headline": list(t.figures)}
        found.append(task(t.benchmark, t.labels, figures, t.bind, t.options, **more))
    return found


@pytest.mark.parametrize("name", sorted(path.stem for path in READY.glob("*.toml")))
@pytest.mark.parametrize("made", [machines.two_cores, machines.eight_domains])
def test_each_figure_of_a_ready_study_has_a_bound_or_a_reason(name: str, made: Any, tmp_path: Path) -> None:
    tasks = measured(name, made(), tmp_path)
    assert tasks
    for one in tasks:
        beside = {b["figure"]: b for b in bounds.every(one, tasks)}
        for head in one["headline"] or [one["figures"][0]["name"]]:
            bound = beside[head]
            assert bound.get("why") not in (bounds.UNKNOWN, bounds.UNMEASURED), (one["id"], bound)
            assert bound.get("why") or bound["value"] > 0


def test_a_program_that_nobody_knows_and_a_bound_that_was_not_measured_are_told_apart() -> None:
    own = task("solver", {"program": "solver"}, [figure("rate", "GF/s", around(1.0), "higher")])
    alone = task("dgemm", {"program": "dgemm"}, [figure("dgemm", "GF/s", around(1.0), "higher")])
    assert [b["why"] for t in (own, alone) for b in bounds.every(t, [own, alone])] == [
        bounds.UNKNOWN,
        bounds.UNMEASURED,
    ]


def _ring(stride: int = 2) -> list[dict[str, Any]]:
    figures = [
        figure("random ring latency", "us", around(0.5)),
        figure("random ring bandwidth", "GB/s", around(5.0), "higher"),
    ]
    ring = task("rings", {"program": "rings"}, figures, layout="4x1", stride=stride, id="ring")
    copies = [
        task("stream", {"program": "copy"}, [figure("copy", "GB/s", around(rate), "higher")], layout="4x1",
             stride=s, id=f"copy/{s}", command=["{strata-bench-mpi}", "stream", "--array", "2000000"])
        for s, rate in ((1, 400.0), (2, 80.0))
    ]  # fmt: skip
    lines = [
        task("lines", {"program": "lines"}, [figure("round trip", "ns", around(ns))], layout="1x2", stride=s,
             id=f"lines/{s}", matrices=[{"unit": "ns", "values": [[None, ns], [ns, None]]}])
        for s, ns in ((1, 50.0), (2, 200.0))
    ]  # fmt: skip
    return [ring, *copies, *lines]


def test_a_ring_stands_beside_lines_and_copies_at_its_own_stride() -> None:
    tasks = _ring()
    latency, bandwidth = bounds.every(tasks[0], tasks)
    assert (latency["value"], latency["source"]) == (pytest.approx(0.1), "lines/2")
    # 4 processes: 80 GB/s of copies, each byte read and written, two messages of each process at once.
    assert (bandwidth["value"], bandwidth["source"]) == (pytest.approx(10.0), "copy/2")
    assert bandwidth["reached"] == pytest.approx(0.5, rel=0.01)


def test_copies_as_long_as_a_message_are_no_bandwidth_of_memory() -> None:
    stencil = task("stencil", {}, [figure("cell updates", "Mcell/s", around(1.0), "higher")], layout="4x1")
    copy = {**_ring()[1], "figures": [figure("triad", "GB/s", around(400.0), "higher")]}
    assert bounds.every(stencil, [stencil, copy])[0]["why"] == bounds.UNMEASURED


def _npb(cores: int, rate: float, benchmark: str = "MG") -> dict[str, Any]:
    figures = [figure("Mop/s total", "Mop/s", around(rate * cores), "higher")]
    figures += [figure("Mop/s/thread", "Mop/s", around(rate), "higher")]
    labels = {"program": "OpenMP", "benchmark": benchmark, "setting": "threads", "layout": f"1x{cores}"}
    command = ["{strata-npb}", benchmark, "--class", "A"]
    return task(benchmark, labels, figures, layout=f"1x{cores}", id=f"{benchmark}/{cores}", command=command)


def test_a_rate_over_cores_stands_beside_ideal_scaling_from_the_fewest() -> None:
    tasks = [_npb(1, 100.0), _npb(4, 60.0), _npb(1, 900.0, "BT")]
    total, each = bounds.every(tasks[1], tasks)
    assert (total["value"], each["value"]) == (pytest.approx(400, rel=0.01), pytest.approx(100, rel=0.01))
    assert each["reached"] == pytest.approx(0.6, rel=0.01) and each["source"] == "MG/1"
    assert "by which ideal scaling is measured" in bounds.every(tasks[0], tasks)[0]["why"]


def test_a_sweep_stands_beside_its_bytes_at_the_triad_s_bandwidth() -> None:
    sweep = [figure("sweep", "ms", around(10.0)), figure("bandwidth", "GB/s", around(20.0), "higher")]
    pages = task("pages", {}, sweep)
    triad = task("stream", {}, [figure("triad", "GB/s", around(40.0), "higher")])
    found = bounds.every(pages, [pages, triad])
    assert found[0]["value"] == pytest.approx(5.0, rel=0.01)
    assert found[0]["reached"] == found[1]["reached"] == pytest.approx(0.5, rel=0.01)


def test_members_that_take_turns_have_no_bound_of_the_machine_s() -> None:
    line = task("team-flag", {"kind": "line"}, [figure("flag", "ns", around(50.0))], layout="1x2")
    barriers = [
        task("team-barrier", {"kind": "team", "members": m}, [figure("barrier", "ns", around(200.0))])
        for m in ("8", "16")
    ]
    (within,), (beyond,) = (bounds.every(b, [line, *barriers]) for b in barriers)
    assert within["value"] == pytest.approx(50.0, rel=0.01) and "take turns" in beyond["why"]


@pytest.mark.parametrize("view", ["table", "series", "panels", "pages", "cycles"])
def test_every_view_says_bounds_and_reasons(view: str) -> None:
    tasks = [_npb(1, 100.0), _npb(4, 60.0)]
    for one in tasks:
        one["bounds"] = bounds.every(one, tasks)
    plots = [{"x": "cores"}] if view == "panels" else []
    document = compose(study(view, tasks, "eight_domains", x="cores", plots=plots))
    cells = [c for s in document.sections for b in s.blocks if b.kind == "table" for r in b.rows for c in r]
    assert any("ideal scaling: the rate of a thread on 1" in c for c in cells)
    assert any("by which ideal scaling is measured" in c for c in cells)
