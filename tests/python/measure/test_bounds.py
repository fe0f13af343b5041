"""Claims about the bounds that figures stand beside: of the same run, in the figure's unit, absent where
nothing was measured.
"""

from __future__ import annotations

from typing import Any

import pytest

from strata.characterize.bounds import bound


def task(benchmark: str, layout: str, *figures: tuple[str, float | None, str], **more: Any) -> dict[str, Any]:
    return {
        "id": f"{benchmark}/{layout}/core/s1",
        "benchmark": benchmark,
        "layout": layout,
        "headline": [],
        "figures": [
            {"name": n, "median": v, "unit": u, "better": "lower" if u in ("us", "ns") else "higher"}
            for n, v, u in figures
        ],
        "matrices": [],
        "parameters": {},
        **more,
    }


PEAK = [task("peak", "1x1", ("peak", 50.0, "GF/s")), task("peak", "1x4", ("peak", 180.0, "GF/s"))]
STREAM = [
    task("stream", "1x1", ("copy", 11.0, "GB/s"), ("triad", 12.0, "GB/s")),
    task("stream", "4x1", ("copy", 28.0, "GB/s"), ("triad", 30.0, "GB/s")),
]
LINES = task(
    "lines", "1x1", matrices=[{"name": "round trip", "unit": "ns", "values": [[None, 200.0], [240.0, 1.0]]}]
)


def test_dgemm_stands_beside_the_measured_peak_of_as_many_cores() -> None:
    all_cores = bound(task("dgemm", "4x1", ("rate", 150.0, "GF/s")), PEAK)
    assert all_cores is not None and all_cores["value"] == 180.0
    assert all_cores["reached"] == pytest.approx(150 / 180)
    assert all_cores["source"] == "peak/1x4/core/s1"


def test_without_a_reading_of_as_many_cores_the_peak_of_one_is_multiplied() -> None:
    found = bound(task("dgemm", "2x1", ("rate", 90.0, "GF/s")), PEAK)
    assert found is not None and found["value"] == 100.0 and "2 x measured peak" in found["name"]


def test_a_figure_of_one_process_stands_beside_one_process_s_peak() -> None:
    found = bound(task("dgemm", "4x1", ("rate, slowest process", 40.0, "GF/s")), PEAK)
    assert found is not None and found["value"] == 50.0


def test_hpl_stands_beside_dgemm_of_as_many_cores_and_nothing_else() -> None:
    dgemm = [
        task("dgemm", "1x1", ("dgemm", 50.0, "GF/s")),
        task("dgemm", "1x4", ("dgemm", 150.0, "GF/s")),
        task("dgemm", "4x1", ("dgemm", 160.0, "GF/s")),
    ]
    found = bound(task("hpl", "2x2", ("hpl", 120.0, "GF/s")), [*dgemm, *PEAK])
    assert found is not None and found["value"] == 160.0 and found["reached"] == pytest.approx(0.75)
    assert found["source"] == "dgemm/4x1/core/s1"
    assert bound(task("hpl", "1x2", ("hpl", 80.0, "GF/s")), [*dgemm, *PEAK]) is None


def test_a_latency_stands_beside_half_the_smallest_round_trip_in_its_own_unit() -> None:
    found = bound(task("pingpong", "2x1", ("latency", 0.25, "us")), [LINES])
    assert found is not None and found["value"] == pytest.approx(0.1) and found["unit"] == "us"
    assert found["reached"] == pytest.approx(0.4)  # the diagonal, a core with itself, is no round trip


def test_allreduce_takes_log2_of_the_processes_ways() -> None:
    found = bound(task("allreduce", "8x1", ("latency", 1.0, "us")), [LINES])
    assert found is not None and found["value"] == pytest.approx(0.3)


def test_a_message_bandwidth_stands_beside_half_the_copy() -> None:
    found = bound(task("pingpong", "2x1", ("bandwidth", 7.0, "GB/s")), [LINES, *STREAM])
    assert found is not None and found["value"] == 14.0


def test_stream_stands_beside_the_best_triad_of_no_more_cores() -> None:
    found = bound(task("stream", "1x2", ("triad", 20.0, "GB/s")), STREAM)
    assert found is not None and found["value"] == 12.0
    found = bound(task("stream", "1x4", ("triad", 24.0, "GB/s")), STREAM)
    assert found is not None and found["value"] == 30.0 and found["reached"] == pytest.approx(0.8)


def test_ptrans_counts_a_third_of_the_triad() -> None:
    found = bound(task("ptrans", "4x1", ("rate", 5.0, "GB/s")), STREAM)
    assert found is not None and found["value"] == 10.0


def test_mpifft_takes_the_lower_of_bandwidth_roof_and_peak() -> None:
    fft = task("mpifft", "4x1", ("rate", 10.0, "GF/s"), parameters={"n": 2**20})
    found = bound(fft, [*PEAK, *STREAM])
    assert found is not None and found["value"] == pytest.approx(30.0 * 5 * 20 / 32)
    low = [task("peak", "1x4", ("peak", 40.0, "GF/s"))]
    found = bound(fft, [*low, *STREAM])
    assert found is not None and found["value"] == 40.0


@pytest.mark.parametrize(
    "benchmark", ["dgemm", "hpl", "stream", "pingpong", "ptrans", "mpifft", "latency", "noise"]
)
def test_what_was_not_measured_is_no_bound(benchmark: str) -> None:
    assert bound(task(benchmark, "2x1", ("figure", 1.0, "GB/s")), []) is None
    assert bound(task(benchmark, "2x1"), [*PEAK, *STREAM, LINES]) is None
    assert bound(task(benchmark, "2x1", ("figure", None, "GB/s")), [*PEAK, *STREAM, LINES]) is None
