"""LU as a task graph verifies, with the same bits on every layout, and only when it is right."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from npb_programs import GRAPH, by_front, front, has_no_rate, needs_mpi, run, run_on_nodes, verified

pytestmark = pytest.mark.skipif(GRAPH is None, reason="no strata-npb-graph: it was not built")


def norms(printed: str) -> list[str]:
    """All digits of the norms and of the surface integral."""
    found = re.findall(r"^ +(?:\d|surface integral) .*e.*$", printed, flags=re.MULTILINE)
    assert len(found) == 6
    return found


@pytest.fixture(scope="module")
def alone() -> list[str]:
    done = run("graph", 1, 1, "lu", "--class", "S")
    assert verified(done, "lu", "S") > 0
    return norms(done.stdout)


@pytest.mark.parametrize(("processes", "threads"), [(1, 2), (2, 1), (3, 2)])
def test_lu_has_the_same_bits_on_every_layout(alone: list[str], processes: int, threads: int) -> None:
    done = run("graph", processes, threads, "lu", "--class", "S")
    assert verified(done, "lu", "S") > 0
    assert norms(done.stdout) == alone


@needs_mpi
@pytest.mark.parametrize("nodes", [2, 3])
def test_lu_has_the_same_bits_on_several_nodes(alone: list[str], nodes: int) -> None:
    done = run_on_nodes(nodes, "lu", "--class", "S")
    assert verified(done, "lu", "S") > 0
    assert norms(done.stdout) == alone


def test_class_w_verifies() -> None:
    assert verified(run("graph", 2, 1, "lu", "--class", "W"), "lu", "W") > 0


@pytest.mark.parametrize("fault", ["skip", "perturb"])
def test_a_broken_kernel_has_no_rate(fault: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    has_no_rate(run("graph", 2, 1, "lu", "--class", "S", "--break", fault, "--json", str(file)), file)


def test_the_result_is_a_document_of_the_same_form(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    rate = verified(run("graph", 2, 1, "lu", "--class", "S", "--json", str(file)), "lu", "S")
    result = json.loads(file.read_text())
    assert (result["benchmark"], result["parameters"]["model"]) == ("npb-lu", "graph")
    assert (result["processes"], result["threads"], result["verified"]) == (2, 1, True)
    figures = {figure["name"]: figure["value"] for figure in result["figures"]}
    assert figures["Mop/s total"] == pytest.approx(rate, abs=0.01)


@pytest.mark.skipif(front() is None, reason="no front: STRATA_BIN does not say where it is")
def test_the_front_starts_the_graph() -> None:
    verified(by_front("graph", "npb", "lu"), "lu", "S")


def test_what_is_no_graph_is_refused_with_what_there_is() -> None:
    done = run("graph", 1, 1, "mg")
    assert done.returncode == 2
    assert "unknown benchmark" in done.stderr and "allowed: lu" in done.stderr
    assert [line for line in run("graph", 1, 1, "--list").stdout.splitlines() if line[:1] != " "] == [
        "lu   flow equations by symmetric successive over-relaxation"
    ]
