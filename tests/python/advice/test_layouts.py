"""Where to start, on machines of many kinds; a preference follows the intervals and flips with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from synthetic_machines import MACHINES
from synthetic_summaries import SUMMARIES

from strata import documents
from strata.advice.layouts import Advice, recommend
from strata.advice.samples import Interval, allowed_cores, cpulist, print_cpulist, print_in_order, winner
from strata.advice.statements import compare
from strata.errors import StrataError


@pytest.mark.parametrize(
    ("name", "openmp", "mpi", "hybrid"),
    [
        ("two-cores", "1x2", "2x1", "1x2"),
        ("eight-domains", "1x256", "256x1", "8x32"),
        ("hybrid", "1x14", "14x1", "1x14"),
        ("bad-module", "1x64", "64x1", "4x16"),
        ("container", "1x4", "4x1", "1x4"),
        ("high-bandwidth", "1x28", "28x1", "2x14"),
    ],
)
def test_layouts_follow_domains_affinity_and_quota(name: str, openmp: str, mpi: str, hybrid: str) -> None:
    advice = recommend(MACHINES[name]())
    assert advice.start("serial").layout == "1x1"
    assert [advice.start(k).layout for k in ("OpenMP", "MPI", "hybrid")] == [openmp, mpi, hybrid]


def test_one_domain_with_several_shared_caches_is_divided_by_cache() -> None:
    machine = MACHINES["container"]()
    machine["allowed"]["cgroup"]["cpu_quota"] = None
    machine["caches"] = [c for c in machine["caches"] if c["level"] < 3] + [
        {
            "level": 3,
            "type": "unified",
            "size_bytes": 32 << 20,
            "line_bytes": 64,
            "cores": list(range(c, c + 8)),
        }
        for c in range(0, 64, 8)
    ]
    assert recommend(machine).start("hybrid").layout == "8x8"


def line(advice: Advice, kind: str, tool: str) -> str:
    return next(x.command for x in advice.start(kind).lines if x.tool == tool)


def test_the_plain_lines_for_eight_domains_do_what_the_layout_says() -> None:
    advice = recommend(MACHINES["eight-domains"]())
    assert line(advice, "hybrid", "strata") == "strata launch --layout 8x32 -- ./a.out"
    open_mpi = line(advice, "hybrid", "Open MPI")
    assert "mpirun -n 8" in open_mpi and "ppr:1:numa:PE=32" in open_mpi and "OMP_NUM_THREADS=32" in open_mpi
    assert "-bind-to numa -map-by numa" in line(advice, "hybrid", "MPICH")
    slurm = line(advice, "hybrid", "Slurm")
    assert "srun -n 8 -c 32" in slurm and "--hint=nomultithread" in slurm
    assert "OMP_PLACES=cores OMP_PROC_BIND=close" in line(advice, "OpenMP", "plain")


def test_no_hint_about_hardware_threads_where_there_are_none() -> None:
    assert "nomultithread" not in line(recommend(MACHINES["two-cores"]()), "MPI", "Slurm")


def test_the_serial_line_names_a_cpu_that_is_allowed() -> None:
    machine = MACHINES["eight-domains"]()
    machine["allowed"]["pus"] = "300-310"
    assert line(recommend(machine), "serial", "plain") == "taskset -c 300 ./a.out"


def of_kinds(*sizes: int, efficiencies: Sequence[int] = (0, 1, 2)) -> dict[str, Any]:
    """A machine with so many cores of each kind, the slowest kind first."""
    machine = MACHINES["hybrid"]()
    first = 0
    machine["core_kinds"] = []
    for index, size in enumerate(sizes):
        cores = list(range(first, first + size))
        info = {"LinuxCapacity": str(300 * (index + 1))}
        kind = {"index": index, "efficiency": efficiencies[index], "cores": cores, "info": info}
        machine["core_kinds"].append(kind)
        first += size
    machine["cores"] = [
        {**machine["cores"][0], "index": core, "pus": [core], "kind": kind["index"]}
        for kind in machine["core_kinds"]
        for core in kind["cores"]
    ]
    machine["allowed"]["pus"] = f"0-{first - 1}"
    return machine


@pytest.mark.parametrize(
    ("sizes", "serial", "even"),
    [
        ((10, 10), "performance", "--core-kind performance --layout 1x10"),  # GB10
        ((16, 8), "performance", "--core-kind performance --layout 1x8"),
        ((4, 3, 1), "performance", "--core-kind 1 --layout 1x3"),  # one fast core is not half a machine
        ((8, 2), "performance", "--core-kind efficiency --layout 1x8"),
    ],
)
def test_a_serial_program_gets_the_fastest_core_and_an_even_split_a_kind_of_some_size(
    sizes: tuple[int, ...], serial: str, even: str
) -> None:
    machine = of_kinds(*sizes)
    advice = recommend(machine)
    assert line(advice, "serial", "strata") == f"strata launch --core-kind {serial} --layout 1x1 -- ./a.out"
    first = sum(sizes) - sizes[-1]
    assert line(advice, "serial", "plain") == f"taskset -c {first} ./a.out"
    assert f"map_cpu:{first} " in line(advice, "serial", "Slurm")
    assert any(f"`strata launch {even} -- ./a.out`" in note for note in advice.notes)
    # Of the fast kind nothing is allowed: all cores are alike.
    machine["allowed"]["pus"] = f"0-{sizes[0] - 1}"
    advice = recommend(machine)
    assert line(advice, "serial", "strata") == "strata launch --layout 1x1 -- ./a.out"
    assert not any("kind" in note for note in advice.notes)


def test_where_nobody_knows_which_cores_are_faster_no_kind_is_called_so() -> None:
    advice = recommend(of_kinds(4, 6, efficiencies=(-1, -1)))
    assert line(advice, "serial", "strata") == "strata launch --layout 1x1 -- ./a.out"
    assert any("--core-kind 1 --layout 1x6" in note for note in advice.notes)


def test_cores_of_kinds_that_a_document_does_not_list_are_alike() -> None:
    machine = of_kinds(4, 6)
    del machine["core_kinds"]
    advice = recommend(machine)
    assert line(advice, "serial", "strata") == "strata launch --layout 1x1 -- ./a.out"
    assert not any("kind" in note for note in advice.notes)


def test_a_preference_is_stated_only_where_intervals_are_apart() -> None:
    summary = SUMMARIES["two-cores"]()
    triad = {
        t["layout"]: next(f for f in t["figures"] if f["name"] == "triad")
        for t in summary["tasks"]
        if t["benchmark"] == "stream" and t["bind"] == "core" and t["layout"] in ("1x2", "2x1")
    }
    triad["1x2"].update(median=30.0, low=29.0, high=31.0)

    def preferred(median: float) -> str | None:
        triad["2x1"].update(median=median, low=median - 0.5, high=median + 0.5)
        said = recommend(summary["machine"], summary).preferences
        return next(p for p in said if p.question == "stream triad").better

    assert preferred(33.0) == "2x1"
    assert preferred(27.0) == "1x2"
    assert preferred(30.5) is None


def rate(median: float, half: float | None, better: str = "higher") -> Interval:
    low, high = (median - half, median + half) if half is not None else (None, None)
    return Interval("rate", "GB/s", better, 7 if half is not None else 4, median, low, high)


def test_the_sentence_flips_with_the_numbers() -> None:
    assert "bound reaches 2 (between" in compare("X", "bound", rate(20, 0.1), "unbound", rate(10, 0.1)).text
    assert "unbound reaches 2 (between" in compare("X", "bound", rate(10, 0.1), "unbound", rate(20, 0.1)).text
    assert "no difference measured" in compare("X", "bound", rate(10, 1), "unbound", rate(11, 1)).text


def test_for_times_the_shorter_wins_and_the_factor_is_below_one() -> None:
    said = compare("X", "a", rate(10, 0.1, "lower"), "b", rate(20, 0.1, "lower"))
    assert said.better == "a"
    assert "a takes 0.5 (between" in said.text


def test_without_an_interval_there_is_no_answer_however_far_apart() -> None:
    said = compare("X", "a", rate(100, 1), "b", rate(1, None))
    assert said.better is None and not said.known
    assert "n=4<6" in said.text
    assert winner(rate(100, 1), rate(1, None)) is None


def test_touching_intervals_are_no_difference() -> None:
    assert winner(rate(10, 1), rate(12, 1)) is None


@pytest.mark.parametrize("text", ["0", "0-3", "0-3,8", "1,3,5-7"])
def test_cpu_lists_survive_a_round_trip(text: str) -> None:
    assert print_cpulist(cpulist(text)) == text


def test_a_list_whose_order_says_which_thread_goes_where_keeps_it() -> None:
    assert print_in_order([0, 1, 2, 8, 3]) == "0-2,8,3"
    assert print_in_order([3, 2, 1]) == "3,2,1"
    assert print_in_order([]) == ""


@pytest.mark.parametrize(
    "text", ["x", "0-", "-3", "3-1", "0--2", "1.5", "0x3", "²", "0-99999999", "0-3;8", 1.5]
)
def test_what_is_no_list_of_cpus_is_one_error(text: Any) -> None:
    machine = {**MACHINES["two-cores"](), "allowed": {"pus": text}}
    with (
        pytest.raises(StrataError, match="not a list of CPU numbers") as found,
        documents.used("machine.json", "the machine"),
    ):
        allowed_cores(machine)
    assert found.value.given == str(text) and found.value.at == "machine.json"
