"""Tables of the OSU micro-benchmarks: what OMB 5.3 and 7.4 printed is read, Strata's are written alike."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from other_tools import Run
from synthetic_summaries import SUMMARIES

from strata.errors import StrataError
from strata.interop import osu

# What the programs printed, shortened to some sizes.
LATENCY_5 = """\
# OSU MPI Latency Test v5.3
# Size          Latency (us)
0                       0.32
1                      18.42
2                       3.45
4194304              3321.38
"""
BANDWIDTH_5 = """\
# OSU MPI Bandwidth Test v5.3
# Size      Bandwidth (MB/s)
1                       9.07
4194304              3177.32
"""
BOTH_WAYS_7 = """\
# HOST/POSIX_MEMALIGN: allocated 4194304 bytes at 0x7fdd8dd9fd000

# OSU MPI Bi-Directional Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                      14.07
4194304              8649.07
"""
RATE_7 = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 1 ] [ window size: 64 ]
# Datatype: MPI_CHAR.
# Size                  MB/s        Messages/s        Validation
1                       8.78        8782884.35              Pass
64                    432.70        6760968.09              Pass
"""
TAILS_7 = """\

# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation  P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)
1                       0.40              Pass              0.39              0.50              0.68
64                      0.50              Pass              0.52              0.55              0.59
"""
ALLREDUCE_7 = """\

# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       0.86              0.85              0.88           5
1048576               128.22            128.16            128.27           5
"""
ALLREDUCE_5 = """\

# OSU MPI Allreduce Latency Test
# Size         Avg Latency(us)
4                         1.45
8                      1282.64
"""
BARRIER_5 = """\

# OSU MPI Barrier Latency Test
# Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations
             0.35                0.25                0.44         100
"""


def figures(text: str) -> dict[str, tuple[float, str, str]]:
    return {f["name"]: (f["value"], f["unit"], f["better"]) for f in osu.read(text)["figures"]}


def test_every_size_is_a_figure_and_every_column_a_curve() -> None:
    assert figures(LATENCY_5) == {
        "latency, 0 B": (0.32, "us", "lower"),
        "latency, 1 B": (18.42, "us", "lower"),
        "latency, 2 B": (3.45, "us", "lower"),
        "latency, 4194304 B": (3321.38, "us", "lower"),
    }
    assert figures(BANDWIDTH_5)["bandwidth, 4194304 B"] == (3177.32, "MB/s", "higher")
    assert figures(BOTH_WAYS_7)["bandwidth, 4194304 B"] == (8649.07, "MB/s", "higher")
    result = osu.read(RATE_7)
    assert result["benchmark"] == "MPI Multiple Bandwidth / Message Rate"
    assert result["verified"] is True
    assert [(c["name"], c["x"], c["y"]["unit"], c["points"]) for c in result["curves"]] == [
        ("bandwidth", {"name": "message", "unit": "B"}, "MB/s", [[1, 8.78], [64, 432.7]]),
        ("message rate", {"name": "message", "unit": "B"}, "msg/s", [[1, 8782884.35], [64, 6760968.09]]),
    ]


def test_collectives_have_least_and_most_and_a_barrier_has_no_size() -> None:
    assert figures(ALLREDUCE_7)["latency min, 1048576 B"] == (128.16, "us", "lower")
    assert figures(ALLREDUCE_7)["latency max, 4 B"][0] == 0.88
    assert len(figures(ALLREDUCE_7)) == 6  # iterations are no figure
    assert figures(ALLREDUCE_5) == {
        "latency, 4 B": (1.45, "us", "lower"),
        "latency, 8 B": (1282.64, "us", "lower"),
    }
    assert {name: value for name, (value, *_) in figures(BARRIER_5).items()} == {
        "latency": 0.35,
        "latency min": 0.25,
        "latency max": 0.44,
    }
    assert osu.read(BARRIER_5)["curves"] == []
    assert [c["name"] for c in osu.read(TAILS_7)["curves"]] == [
        "latency",
        "latency P50",
        "latency P90",
        "latency P99",
    ]


def test_several_tests_in_one_output_are_told_apart() -> None:
    found = figures(LATENCY_5 + BANDWIDTH_5 + ALLREDUCE_5)
    assert found["MPI Latency: latency, 1 B"][0] == 18.42
    assert found["MPI Bandwidth: bandwidth, 1 B"][0] == 9.07
    assert found["MPI Allreduce Latency: latency, 8 B"][0] == 1282.64
    with pytest.raises(StrataError, match="twice"):
        osu.read(LATENCY_5 + LATENCY_5)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no output"),
        ("mpirun: command not found\n", "mpirun: command not found"),
        ("# OSU MPI Latency Test v5.3\n# Size          Latency (us)\n", "no table"),
        (LATENCY_5 + "8      0.3 4      0.2\n", "does not fit its columns"),
        (LATENCY_5.replace("18.42", "nan?"), "not a number"),
        (LATENCY_5.replace("Latency (us)", "Latency(fortnights)"), "not a column"),
        (RATE_7.replace("6760968.09              Pass", "6760968.09              Fail"), "64 B: Fail"),
        (
            TAILS_7 + "DATA VALIDATION ERROR: osu_latency exited with status 1 on message size 64.\n",
            "wrong data",
        ),
    ],
)
def test_what_is_no_such_table_or_holds_wrong_data_is_one_error(text: str, part: str) -> None:
    with pytest.raises(StrataError) as refused:
        osu.read(text)
    assert part in str(refused.value)
    assert str(refused.value).startswith("strata: error:")


def task(benchmark: str, curves: list[dict[str, Any]], **parameters: Any) -> dict[str, Any]:
    return {
        "id": f"{benchmark}/2x1/core/s1",
        "benchmark": benchmark,
        "curves": curves,
        "parameters": parameters,
        "launches": 7,
    }


def curve(name: str, unit: str, points: list[list[Any]]) -> dict[str, Any]:
    """As strata.summary/1 has it: [x, median, low, high]."""
    axis = {"name": name, "unit": unit}
    full = [[x, y, None, None] for x, y in points]
    return {"name": name, "x": {"name": "message", "unit": "B"}, "y": axis, "n": 7, "points": full}


def test_what_strata_measured_is_written_so_that_it_reads_as_osus() -> None:
    summary = {
        "tasks": [
            task(
                "pingpong",
                [
                    curve("one-way time", "us", [[1, 0.25], [4194304, 401.5]]),
                    curve("bandwidth", "GB/s", [[1, 0.004], [4194304, 10.4]]),
                ],
            ),
            task(
                "message-rate",
                [curve("message rate", "Mmsg/s", [[8, 12.5]]), curve("bandwidth", "GB/s", [[8, 0.1]])],
                **{"number of pairs": 8, "window": 64},
            ),
            task("allreduce", [curve("time", "us", [[8, 1.5], [16, None], [32, 2.5]])]),
            task("stream", []),
        ]
    }
    text = osu.tables(summary)
    blocks = text.split("\n\n")
    heads = [block.splitlines()[0] for block in blocks]
    assert [head.split(" Test: ")[0] for head in heads] == [
        "# Strata MPI Bandwidth",
        "# Strata MPI Latency",
        "# Strata MPI Multiple Bandwidth / Message Rate",
        "# Strata MPI Allreduce Latency",
    ]
    assert all("OSU MPI" not in head and "medians of 7 launches" in head for head in heads)
    # As plotting scripts read them.
    columns = [numpy.loadtxt(io.StringIO(block), ndmin=2) for block in blocks]
    assert columns[0].tolist() == [[1, 4.0], [4194304, 10400.0]]
    assert columns[1].tolist() == [[1, 0.25], [4194304, 401.5]]
    assert columns[2].tolist() == [[8, 100.0, 12.5e6]]
    assert columns[3].tolist() == [[8, 1.5], [32, 2.5]]  # a size without a median is left out
    assert "[ pairs: 8 ] [ window size: 64 ]" in blocks[2]
    # And as OSU's own tables are read here.
    assert figures(text)["MPI Latency: latency, 4194304 B"] == (401.5, "us", "lower")
    assert figures(text)["MPI Multiple Bandwidth / Message Rate: message rate, 8 B"][0] == 12.5e6


@pytest.mark.parametrize(
    "text", [LATENCY_5, BANDWIDTH_5, RATE_7, TAILS_7, ALLREDUCE_7, LATENCY_5 + BANDWIDTH_5 + ALLREDUCE_7]
)
def test_what_was_read_from_osu_is_written_with_the_same_columns_and_values(text: str) -> None:
    result = osu.read(text)
    curves = [{**c, "n": 7, "points": [[x, y, None, None] for x, y in c["points"]]} for c in result["curves"]]
    written = osu.tables({"tasks": [task("osu", curves)]})
    assert sorted(v for v, *_ in figures(written).values()) == sorted(v for v, *_ in figures(text).values())
    names = {name.rpartition(": ")[2] for name in figures(text)}
    assert {name.rpartition(": ")[2] for name in figures(written)} == names


def test_the_command_prints_the_tables_of_a_results_folder(strata: Run, tmp_path: Path) -> None:
    found = next(s() for s in SUMMARIES.values() if any(t["benchmark"] == "pingpong" for t in s()["tasks"]))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "summary.json").write_text(json.dumps(found))
    done = strata("results", tmp_path / "results", "--osu")
    assert done.returncode == 0, done.stderr
    assert done.stdout == osu.tables(found)
    assert figures(done.stdout)
    for each in found["tasks"]:
        each["curves"] = []
    (tmp_path / "results" / "summary.json").write_text(json.dumps(found))
    refused = strata("results", tmp_path / "results", "--osu")
    assert refused.returncode == 2
    assert refused.stderr.count("strata: error:") == 1 and "no curves over message sizes" in refused.stderr
