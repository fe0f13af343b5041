"""The multi-zone benchmarks verify under each programming model, and only when they are right."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from npb_programs import MODELS, by_front, has_no_rate, needs_mpi, needs_suite, refused, run, verified

pytestmark = needs_suite
NAMES = ("bt", "sp", "lu")


def run_zones(model: str, processes: int, threads: int, *words: str) -> subprocess.CompletedProcess[str]:
    return run(model, processes, threads, "--multi-zone", *words)


def rate(done: subprocess.CompletedProcess[str], name: str, size: str) -> float:
    return verified(done, f"{name}-mz", size)


# In class S BT and SP have 4 zones. With 3 x 2 the threads of a team follow the load, and zones are shared.
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("model", "processes", "threads", "size"),
    [("openmp", 1, 1, "S"), ("openmp", 1, 2, "S"), ("team", 3, 2, "S"), ("team", 4, 1, "W"),
     pytest.param("mpi", 2, 2, "S", marks=needs_mpi), pytest.param("mpi", 3, 1, "W", marks=needs_mpi),
     pytest.param("openmp", 1, 2, "W", marks=pytest.mark.soak)],
)  # fmt: skip
def test_zones_verify_under_each_model(
    name: str, size: str, model: str, processes: int, threads: int
) -> None:
    assert rate(run_zones(model, processes, threads, name, "--class", size), name, size) > 0


@needs_mpi
@pytest.mark.parametrize("name", NAMES)
def test_every_zone_may_have_a_rank_of_its_own(name: str) -> None:
    ranks = 16 if name == "lu" else 4
    assert rate(run_zones("mpi", ranks, 1, name, "--class", "S"), name, "S") > 0


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_zones_of_class_a_verify(name: str) -> None:
    assert rate(run_zones("openmp", 1, 2, name, "--class", "A"), name, "A") > 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("model", "fault"),
    [("openmp", "skip"), ("openmp", "perturb"), ("team", "skip"),
     pytest.param("mpi", "skip", marks=needs_mpi)],
)  # fmt: skip
def test_broken_zones_have_no_rate(name: str, fault: str, model: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    done = run_zones(
        model, 1 if model == "openmp" else 2, 1, name, "--class", "S", "--break", fault, "--json", str(file)
    )
    has_no_rate(done, file)


def test_the_result_has_the_measured_balance(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    assert rate(run_zones("team", 2, 1, "bt", "--class", "W", "--json", str(file)), "bt", "W") > 0
    result = json.loads(file.read_text())
    assert (result["benchmark"], result["processes"], result["threads"]) == ("npb-bt-mz", 2, 1)
    assert result["parameters"]["division"].startswith("4 x 4 zones, 2 processes with 1 thread each")
    figures = {figure["name"]: figure["value"] for figure in result["figures"]}
    assert 0 < figures["load balance"] <= 1


def test_the_list_has_the_published_sizes() -> None:
    listed = run_zones("openmp", 1, 1, "--list").stdout
    assert [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")] == list(NAMES)
    assert listed.count("12032x8960x 250") == 3


@pytest.mark.parametrize("model", ["openmp", "team", "mpi"])
def test_a_plan_says_how_zones_are_packed(model: str) -> None:
    layout = "1x4" if model == "openmp" else "128x2"
    words = ["bt", "--class", "C", "--dry-run", "--layout", layout, "--model", model]
    done = run_zones("openmp", 1, 1, *words)
    assert done.returncode == 0
    found = re.search(
        r"16 x 16 zones, (\d+) process\S* with (.*) threads each, predicted efficiency (\S+) %", done.stdout
    )
    assert found
    assert int(found[1]) == int(layout.split("x")[0])
    # Threads that may move make up for the largest zones, of which 128 processes have more than a share.
    if model == "team":
        assert found[2].startswith("1 to ") and float(found[3]) > 90
    elif model == "mpi":
        assert found[2] == "2" and float(found[3]) < 70


def balance(name: str, size: str) -> dict[int, list[str]]:
    done = run_zones("openmp", 1, 1, name, "--class", size, "--balance")
    assert done.returncode == 0
    rows = (re.split(r" {2,}", line.strip()) for line in done.stdout.splitlines())
    return {int(row[0]): row[1:] for row in rows if row[0].isdigit()}


def test_the_balance_is_predicted_up_to_2048_cpus() -> None:
    rows = balance("bt", "C")
    assert len(rows) == 14 and rows[1536][0] == "-"  # more processes than zones
    alone = [float(row[0]) for row in rows.values() if row[0] != "-"]
    assert alone == sorted(alone, reverse=True) and alone[-1] < 40
    packed, matched = (float(value.strip("()")) for value in rows[2048][3].split())
    assert matched > 90 > packed


def test_even_zones_do_not_share_out_evenly_among_768_and_1536() -> None:
    rows = balance("sp", "E")  # 4096 zones
    assert [rows[cpus][0] for cpus in (512, 768, 1024, 1536)] == ["100.0", "88.9", "100.0", "88.9"]


@pytest.mark.parametrize("model", MODELS)
def test_more_processes_than_zones_are_refused_once(model: str) -> None:
    processes = 1 if model == "openmp" else 5
    if model == "openmp":
        done = run_zones(model, 1, 1, "sp", "--class", "S", "--dry-run", "--layout", "5x1", "--model", "mpi")
    else:
        done = run_zones(model, processes, 1, "sp", "--class", "S")
    assert done.returncode == 2
    assert done.stderr.count("more processes than zones") == 1


@pytest.mark.parametrize("model", MODELS)
def test_zones_that_do_not_fit_are_refused_once(model: str) -> None:
    refused(run_zones(model, 1 if model == "openmp" else 2, 1, "lu", "--class", "F"))


@pytest.mark.parametrize("model", MODELS)
def test_the_front_knows_zones(model: str) -> None:
    rate(by_front(model, "npb-mz", "bt"), "bt", "S")


def test_bad_words_name_the_command() -> None:
    done = run_zones("openmp", 1, 1, "cg")
    assert done.returncode == 2 and "strata bench npb-mz" in done.stderr
