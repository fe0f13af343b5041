"""Claims about case files and plans: every mistake is one message with place, given and allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import machine, record

from strata.characterize import case, planner
from strata.errors import StrataError
from strata.measure.plan import identity
from strata.measure.taint import Limits, judge

GOOD = """
schema = "strata.characterize/1"
mode = "tiny"

[[task]]
benchmark = "stream"
layouts = ["1x1", "1xN", "Nx1"]
bind = ["core", "none"]

[[task]]
benchmark = "pingpong"
layouts = ["Nx1"]
least_processes = 2
"""
CASES = Path(__file__).resolve().parents[3] / "cases" / "characterize"
PROGRAMS = ("strata-bench", "strata-bench-mpi")


def read(tmp_path: Path, text: str) -> case.Case:
    path = tmp_path / "case.toml"
    path.write_text(text)
    return case.read(path)


def build(made: case.Case, facts: dict, programs=PROGRAMS):
    return planner.build(made, facts, identity(facts), "build", list(programs), "characterize", 1)


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("benchmark = \"stream\"", "benchmrk = \"stream\""), 6, "did you mean `benchmark`"),
        (("benchmark = \"stream\"", "benchmark = 5"), 6, "a name from `strata bench --list`"),
        (("\"1x1\", ", "\"1y1\", "), 7, "PxT"),
        (("\"core\", \"none\"", "\"cores\""), 8, "core, none"),
        (("least_processes = 2", "least_processes = 0"), 13, "an integer >= 1"),
        (("least_processes = 2", "timeout_s = -1"), 13, "seconds > 0"),
        (("mode = \"tiny\"", "mode = \"tiny\"\nlaunches = 5"), 4, "an integer >= 6"),
        (("mode = \"tiny\"", "mode = \"tiny\"\nspeed = 5"), 4, "budget_s"),
        (("strata.characterize/1", "strata.characterize/9"), 2, "strata.characterize/1"),
        (("mode = \"tiny\"", "mode = "), 3, "not TOML"),
        (("mode = \"tiny\"", "mode = \"tiny\"\n[limits]\nothers = 1"), 4, "others_share"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_line_given_and_allowed(
    tmp_path: Path, change: tuple[str, str], line: int, said: str
) -> None:
    with pytest.raises(StrataError) as caught:
        read(tmp_path, GOOD.replace(*change))
    text = str(caught.value)
    assert f"case.toml:{line}" in text and said in text, text


def shared(others: float, steal: float) -> dict[str, float]:
    """A launch of 10 s on one CPU, with so many seconds of it for others and for other guests."""
    return {
        "own_s": 9.0,
        "others_s": others,
        "others_share": others / 10,
        "steal_s": steal,
        "steal_share": steal / 10,
    }


BESIDE = {"others_s": 1.5, "wall_s": 10.0, "cpus": 10}  # on all CPUs: 1.2 s are allowed, and 0.14 s of grace
RANKS = {"switches": {"voluntary": 9, "involuntary": 1300}, "layout": "2x1"}  # allowed: 540 + 60 + 2 x 250


@pytest.mark.parametrize(
    ("limits", "launch", "system", "code"),
    [
        ("[limits]\nothers_share = 0.5", {"cpu": shared(0.9, 0)}, {}, "others"),
        ("[limits]\nothers_grace_s = 0.8", {"cpu": shared(0.9, 0)}, {}, "others"),
        ("[limits]\nsteal_share = 0.5", {"cpu": shared(0, 0.9)}, {}, "steal"),
        ("[limits]\nsteal_grace_s = 0.8", {"cpu": shared(0, 0.9)}, {}, "steal"),
        ("[limits]\nelsewhere_cpus = 0.2", {}, BESIDE, "elsewhere"),
        ("[limits]\nelsewhere_share = 0.01", {}, BESIDE, "elsewhere"),
        ("[limits]\nelsewhere_grace_s = 0.4", {}, BESIDE, "elsewhere"),
        ("[limits]\nelsewhere_grace_per_cpu_s = 0.04", {}, BESIDE, "elsewhere"),
        ("[limits]\ninvoluntary_per_s = 100.0", RANKS, {}, "switches"),
        ("[limits]\ninvoluntary_grace = 300.0", RANKS, {}, "switches"),
        ("[limits]\ninvoluntary_per_process = 400.0", RANKS, {}, "switches"),
        ("[limits]\ncpu_pressure = 0.95", {"pressure": {"cpu_some_us": 9_000_000}}, {}, "pressure"),
        ("[limits]\ncpu_pressure_grace_s = 3.5", {"pressure": {"cpu_some_us": 9_000_000}}, {}, "pressure"),
        ("[limits]\nclock_drop = 0.3", {"clock": {"before_ghz": 3.0, "after_ghz": 2.4}}, {}, "clock"),
    ],
)
def test_a_case_may_widen_each_limit_of_what_counts_as_disturbed(
    tmp_path: Path, limits: str, launch: dict, system: dict, code: str
) -> None:
    seen = record(**{"wall_s": 10.0, "cpu": shared(0, 0), **launch})
    strict = read(tmp_path, GOOD).limits
    wide = read(tmp_path, GOOD.replace('"tiny"', f'"tiny"\n{limits}')).limits
    assert [reason.code for reason in judge(seen, strict, 3.0, system)] == [code]
    assert judge(seen, wide, 3.0, system) == []


def test_a_task_may_name_the_program_that_runs_it(tmp_path: Path) -> None:
    """The one with messages also for a single process, which then pays for the start of MPI."""
    commands = {}
    for program in ("auto", "strata-bench-mpi"):
        task = f'\n[[task]]\nbenchmark = "latency"\nlayouts = ["1x1"]\nprogram = "{program}"\n'
        made, _ = build(read(tmp_path, GOOD + task), machine(2))
        commands[program] = next(t.command[0] for t in made.tasks if t.id.startswith("latency/"))
    assert commands == {"auto": "{strata-bench}", "strata-bench-mpi": "{strata-bench-mpi}"}


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(StrataError, match="missing") as caught:
        read(tmp_path, GOOD.replace('benchmark = "pingpong"\n', ""))
    assert "case.toml:10 benchmark" in str(caught.value)


def test_layouts_are_spelt_out_for_the_cores_that_are_here(tmp_path: Path) -> None:
    made, _ = build(read(tmp_path, GOOD), machine(4))
    ids = {t.id for t in made.tasks}
    assert ids == {f"stream/{w}/{b}/s1" for w in ("1x1", "1x4", "4x1") for b in ("core", "none")} | {
        "pingpong/4x1/core/s1"
    }
    programs = {t.id: t.command[0] for t in made.tasks}
    assert (
        programs["stream/1x4/core/s1"] == "{strata-bench}"
        and programs["stream/4x1/core/s1"] == "{strata-bench-mpi}"
    )


def test_on_one_core_nothing_runs_twice_and_what_cannot_run_is_said(tmp_path: Path) -> None:
    made, notes = build(read(tmp_path, GOOD), machine(1))
    assert {t.id for t in made.tasks} == {"stream/1x1/core/s1", "stream/1x1/none/s1"}
    assert any("pingpong" in note and "needs 2 processes" in note for note in notes)


def test_without_mpi_only_what_needs_it_is_left_out(tmp_path: Path) -> None:
    made, notes = build(read(tmp_path, GOOD), machine(2), ["strata-bench"])
    assert {t.layout for t in made.tasks} == {"1x1", "1x2"}
    assert any("strata-bench-mpi was not built" in note for note in notes)


def test_a_benchmark_that_the_build_lacks_is_left_out_and_said(tmp_path: Path) -> None:
    text = GOOD + '\n[[task]]\nbenchmark = "mpifft"\nlayouts = ["2x1"]\nfigures = ["mpifft"]\n'
    facts = machine(2)
    made, notes = planner.build(
        read(tmp_path, text),
        facts,
        identity(facts),
        "build",
        list(PROGRAMS),
        "characterize",
        1,
        listed={"strata-bench-mpi": {"pingpong", "stream"}},
    )
    assert {t.benchmark for t in made.tasks} == {"stream", "pingpong"}
    assert "mpifft 2x1 stride 1: strata-bench-mpi was built without mpifft, since FFTW is not here" in notes


def test_a_cpu_quota_counts_as_cores() -> None:
    facts = machine(64)
    facts["allowed"]["cpus_effective"] = 4.0
    assert planner.size_of(facts).cores == 4


def test_a_restricted_affinity_counts_as_cores() -> None:
    facts = machine(8, domains=2)
    facts["allowed"].update(pus="0-1,4-6", cpus_effective=5.0)
    assert planner.size_of(facts) == planner.Size(5, 3)


def test_a_range_on_a_large_machine_is_walked_in_powers_of_two() -> None:
    assert planner.spelled("1x1..D", planner.Size(256, 48)) == [(1, t) for t in (1, 2, 4, 8, 16, 32, 48)]
    assert planner.spelled("1x1..D", planner.Size(4, 4)) == [(1, t) for t in (1, 2, 3, 4)]


def test_over_nodes_layouts_are_dealt_out_and_started_by_the_launcher() -> None:
    facts = machine(4)
    made, notes = planner.build(
        case.read(CASES / "nodes.toml"),
        facts,
        identity(facts),
        "build",
        list(PROGRAMS),
        "characterize",
        1,
        nodes=3,
    )
    assert {t.layout for t in made.tasks} == {"3x1", "12x1"}
    assert notes == ["message-rate Mx1 stride 1: needs an even number of processes"]
    assert {t.options for t in made.tasks} == {("--nodes", "3")}
    size = planner.Size(4, 4, nodes=3)
    assert planner.does_not_fit(13, 1, 1, size) and not planner.does_not_fit(12, 1, 1, size)


def test_strides_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    text = GOOD.replace('layouts = ["1x1", "1xN", "Nx1"]', 'layouts = ["1x1", "1xH", "1xN"]\nstride = [1, 2]')
    made, notes = build(read(tmp_path, text), machine(4))
    assert {t.id for t in made.tasks if t.stride == 2} == {"stream/1x2/core/s2", "stream/1x2/none/s2"}
    assert any("no distance between cores" in note for note in notes) and any(
        "more than the 4" in note for note in notes
    )


def test_the_plan_s_identity_covers_tasks_limits_machine_and_binaries_but_not_free_memory_or_seed(
    tmp_path: Path,
) -> None:
    facts = machine(2)
    base, _ = build(read(tmp_path, GOOD), facts)
    facts["memories"][0]["free_bytes"] = 5
    assert build(read(tmp_path, GOOD), facts)[0].hash == base.hash == base.with_seed(77).hash
    changed = [
        build(read(tmp_path, GOOD.replace('"core", "none"', '"core"')), facts)[0],
        build(read(tmp_path, GOOD + "\n"), {**facts, "kernel": "6.2"})[0],
        planner.build(
            read(tmp_path, GOOD), facts, identity(facts), "another build", list(PROGRAMS), "characterize", 1
        )[0],
        build(read(tmp_path, GOOD.replace('"tiny"', '"tiny"\n[limits]\nothers_share = 0.5')), facts)[0],
    ]
    assert len({p.hash for p in changed} | {base.hash}) == 5


@pytest.mark.parametrize("path", sorted(CASES.glob("*.toml")), ids=lambda p: p.stem)
@pytest.mark.parametrize("cores", [1, 2, 8, 256])
def test_the_cases_we_ship_are_valid_and_open_with_their_command(path: Path, cores: int) -> None:
    made, _ = build(case.read(path), machine(cores, domains=8 if cores >= 8 else 1))
    assert made.tasks
    assert path.read_text().startswith("# ") and "strata" in path.read_text().splitlines()[0]
    assert case.read(path).limits == Limits()  # the shipped plans use the documented limits


def test_the_shipped_cases_are_there() -> None:
    assert {p.stem for p in CASES.glob("*.toml")} >= {"quick", "full", "machine", "machine-full"}
