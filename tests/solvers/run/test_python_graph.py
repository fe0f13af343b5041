"""Graphs from Python: the native solver's bits on any layout, no copies, errors that name task and patch."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from solver_cases import over_nodes

from strata.errors import StrataError

ROOT = Path(__file__).resolve().parents[3]
SOLVER = ROOT / "solvers" / "transport" / "heat.py"
ADVECTION = ROOT / "solvers" / "transport" / "advection.py"
STEPS = 12


@pytest.fixture(scope="module")
def front(graphs) -> str:
    found = os.environ.get("STRATA_BIN") or f"{os.environ.get('STRATA_PREFIX', '/nonexistent')}/bin/strata"
    if not os.access(found, os.X_OK):
        pytest.skip(f"no strata at {found}: ./strata test sets STRATA_PREFIX")
    from strata.graph.native import module

    if not hasattr(module(), "drive"):
        pytest.skip("the solvers are not built (toml++)")
    return found


def run(front: str, *words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "STRATA_PYTHON": sys.executable}
    done = subprocess.run(
        [front, *map(str, words)], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def case(tmp_path: Path, **changes: str | None) -> Path:
    """The case with keys changed, or left out where None is given."""
    text = (ROOT / "cases" / "transport" / "heat.toml").read_text()
    for key, value in changes.items():
        line = "" if value is None else f"{key} = {value}"
        text, found = re.subn(rf"(?m)^{key} = .*$", line, text)
        assert found == 1, key
    path = tmp_path / "heat.toml"
    path.write_text(text)
    return path


def temperatures(front: str, out: Path, layout: str, *solver: object) -> dict[int, bytes]:
    """[patch] -> the temperature after STEPS steps."""
    run(front, "run", *solver, *leaving(out), "--layout", layout, "--bind", "none")
    return temperatures_in(out)


def leaving(out: Path) -> list[object]:
    """STEPS steps, and a checkpoint at their end."""
    return ["--out", out, "--steps", STEPS, "--checkpoint", STEPS, "--quiet"]


def temperatures_in(out: Path) -> dict[int, bytes]:
    folder = out / f"checkpoint-{STEPS:06d}"
    labels = [label["name"] for label in json.loads((folder / "checkpoint.json").read_text())["labels"]]
    values = {}
    for index in sorted(folder.glob("part-*.index")):
        data = index.with_suffix(".data").read_bytes()
        for line in index.read_text().splitlines():
            chunk = json.loads(line)
            if "label" in chunk and labels[chunk["label"]] == "temperature" and chunk["generation"] == 0:
                values[chunk["patch"]] = data[chunk["offset"] : chunk["offset"] + chunk["bytes"]]
    return values


@pytest.mark.parametrize(
    ("cells", "patch", "periodic", "layouts"),
    [
        ("[20, 18, 16]", "[10, 9, 7]", "false", ["1x1", "2x1", "4x1"]),
        ("[20, 18, 16]", "[10, 9, 7]", "true", ["2x2"]),
        ("[24, 20]", "[9, 20]", "false", ["1x2"]),
        ("[40, 33, 34]", None, "false", ["1x2"]),
    ],
)
def test_numpy_kernels_give_the_bits_of_the_native_solver(front, tmp_path, cells, patch, periodic, layouts):
    path = case(tmp_path, cells=cells, patch=patch, periodic=periodic, error="0.0")
    expected = temperatures(front, tmp_path / "native", "1x1", path)
    assert len(expected) > 2
    for layout in layouts:
        assert temperatures(front, tmp_path / layout, layout, SOLVER, path) == expected, layout


@pytest.mark.parametrize(
    ("cells", "flow", "periodic", "layouts"),
    [
        ([40, 33], "uniform", True, ["1x1", "3x1"]),
        ([40, 33], "uniform", False, ["1x2"]),
        ([40, 33], "rotation", False, ["2x1"]),
        ([40, 33], "vortex", True, ["2x2"]),
        ([20, 18, 16], "uniform", True, ["4x1"]),
    ],
)
def test_so_do_those_of_advection(front, tmp_path, cells, flow, periodic, layouts):
    path = tmp_path / "advection.toml"
    path.write_text(f"""solver = "transport"
equation = "advection"
[grid]
cells = {cells}
patch = {[11, 9, 8][: len(cells)]}
periodic = {str(periodic).lower()}
[advection]
flow = "{flow}"
velocity = {[1.0, -0.7, 0.4][: len(cells)]}
[profile]
kind = "gaussian"
[time]
end = 1.0
""")
    expected = temperatures(front, tmp_path / "native", "1x1", path)
    assert len(expected) > 2
    for layout in layouts:
        assert temperatures(front, tmp_path / layout, layout, ADVECTION, path) == expected, layout


def test_advection_from_python_is_verified(front, tmp_path):
    text = (ROOT / "cases" / "transport" / "advection.toml").read_text().replace("[128, 128]", "[32, 32]")
    path = tmp_path / "advection.toml"
    path.write_text(text.replace("error = 6e-3", "error = 0.1"))
    values = []
    for name, solver in (("native", []), ("python", [ADVECTION])):
        done = run(front, "run", *solver, path, "--layout", "1x1", "--out", tmp_path / name)
        assert "verified:" in done.stdout
        values.append(json.loads((tmp_path / name / "result.json").read_text())["verification"]["value"])
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_a_profile_that_no_cell_sees_is_refused_by_both(front, tmp_path):
    text = (ROOT / "cases" / "transport" / "vortex.toml").read_text()
    path = tmp_path / "far.toml"
    path.write_text(text.replace("centre = [0.5, 0.75]", "centre = [0.5, 7.5]"))
    for solver in ([], [ADVECTION]):
        done = run(front, "run", *solver, path, "--layout", "1x1", status=2)
        assert done.stderr.count("error:") == 1
        assert "no cell sees the gaussian" in done.stderr and "profile.centre" in done.stderr


def test_over_nodes_too(front, tmp_path):
    path = case(tmp_path, cells="[20, 18, 16]", patch="[10, 9, 7]", error="0.0")
    expected = temperatures(front, tmp_path / "native", "1x1", path)
    for ranks, per_node in ((2, 1), (4, 2)):
        out = tmp_path / f"{ranks} by {per_node}"
        over_nodes(ranks, per_node, sys.executable, SOLVER, path, *leaving(out))
        assert temperatures_in(out) == expected


def test_a_whole_run_is_verified_with_the_same_error_on_every_layout(front, tmp_path):
    path = case(tmp_path, cells="[16, 16, 16]", patch="[8, 8, 8]", error="1e-2")
    results = {}
    for layout in ("1x1", "2x1", "4x1"):
        done = run(
            front, "run", SOLVER, path, "--layout", layout, "--bind", "none", "--out", tmp_path / layout
        )
        assert "verified:" in done.stdout
        results[layout] = json.loads((tmp_path / layout / "result.json").read_text())
    assert {r["processes"] for r in results.values()} == {1, 2, 4}
    assert all(r["verified"] for r in results.values())
    run(front, "run", path, "--out", tmp_path / "native")
    native = json.loads((tmp_path / "native" / "result.json").read_text())
    errors = {r["verification"]["value"] for r in results.values()}
    assert len(errors) == 1
    assert errors.pop() == pytest.approx(native["verification"]["value"], rel=1e-9)
    assert native["steps"] == results["4x1"]["steps"]


def test_strata_launch_knows_a_python_program_that_starts_its_processes(front, tmp_path):
    path = case(tmp_path, cells="[16, 16, 16]", patch="[8, 8, 8]", error="1e-2")
    words = ["--layout", "4x1", "--bind", "none", "--", sys.executable, SOLVER, path, "--quiet"]
    done = run(front, "launch", *words)
    assert "transport: 4 processes x 1 thread" in done.stdout
    assert done.stdout.count("verified:") == 1
    other = tmp_path / "other.py"
    other.write_text("print('a copy', flush=True)\n")
    done = run(front, "launch", "--layout", "2x1", "--bind", "none", "--", sys.executable, other)
    assert done.stdout.count("a copy") == 2


def test_a_run_in_python_goes_on_from_its_checkpoint_on_another_layout(front, tmp_path):
    path = case(tmp_path, cells="[16, 16]", patch="[8, 8]", error="1e-2")
    common = [SOLVER, path, "--bind", "none", "--quiet"]
    run(front, "run", *common, "--out", tmp_path / "whole")
    run(front, "run", *common, "--out", tmp_path / "part", "--steps", "10", "--checkpoint", "5")
    run(front, "run", *common, "--out", tmp_path / "part", "--restart", tmp_path / "part", "--layout", "2x1")
    whole, part = (json.loads((tmp_path / n / "result.json").read_text()) for n in ("whole", "part"))
    assert part["verification"]["value"] == whole["verification"]["value"]
    assert part["steps"] == whole["steps"]


def test_the_program_in_the_documentation_runs_on_four_processes(front, tmp_path):
    page = (ROOT / "docs" / "write-a-solver.md").read_text()
    found = re.search(r"## From Python.*?```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    program, path = tmp_path / "plate.py", tmp_path / "plate.toml"
    program.write_text(found[1])
    path.write_text('solver = "plate"\ncells = 64\nend = 1e-3\n')
    done = run(front, "run", program, path, "--layout", "4x1", "--bind", "none", "--out", tmp_path / "run")
    assert "plate: 4 processes x 1 thread, 21 steps to t = 0.001 s, which took " in done.stdout
    document = json.loads(run(front, "run", program, path, "--graph").stdout)
    assert [task["name"] for task in document["tasks"]][:2] == ["hot inside", "diffuse"]


PROGRAM = """
from strata.graph import Graph
from strata.graph.program import Case, Solver, drive
import os
import time as clock

case = Case("faulty", "Ends badly.")
HOW = ["raise", "fail", "keep", "wait", "declare", "divide"]
case.key("how", type=str, choices=HOW, meaning="how it ends")


def declare(graph, case):
    if case["how"] == "declare":
        case.refuse("how", "this cannot be declared", "anything else")
    grid = graph.grid("grid", (8,), (2,) if case["how"] != "divide" else (1 // 0,))
    u = graph.field("u", grid, history=1)
    time = graph.scalar("time", "max", history=1)
    graph.start(grid, makes={"u": u})(lambda here: here["u"].fill(0.0))
    kept = []

    @graph.step(grid, needs={"old": u.previous(ghosts=1)}, makes={"u": u}, contributes={"time": time})
    def burst(here):
        here["u"][:] = 1.0
        here["time"][0] = here.step
        if case["how"] == "wait":
            os.write(1, b"waiting\\n")  # whole, although other members write too
            clock.sleep(60)
        if here.patch == 3 and here.step == 2:
            if case["how"] == "raise":
                raise ValueError("no such luck")
            if case["how"] == "fail":
                here.fail("'u' is no number")
            kept.append(here["old"][:, :, 1:])

    return Solver(time=time, end=100)


if __name__ == "__main__":
    drive(case, declare)
"""


def faulty(tmp_path: Path, how: str) -> tuple[Path, Path]:
    program, path = tmp_path / "faulty.py", tmp_path / "faulty.toml"
    program.write_text(PROGRAM)
    path.write_text(f'solver = "faulty"\nhow = "{how}"\n')
    return program, path


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raise", "ValueError: no such luck"),
        ("fail", "'u' is no number"),
        ("keep", "an array of 'u' was kept after the task's end"),
    ],
)
def test_a_kernel_that_fails_ends_the_run_in_all_processes_with_its_text(front, tmp_path, how, said):
    done = run(front, "run", *faulty(tmp_path, how), "--layout", "4x1", "--bind", "none", "--quiet", status=1)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    assert len(errors) == 1, done.stderr
    assert f"task 'burst', patch 3 of 'grid', step 2: {said}" in errors[0]
    assert "; the run ends" in errors[0]
    assert ("faulty.py" in done.stderr) == (how == "raise")  # where, for what was not meant


@pytest.mark.parametrize(
    ("text", "status", "given"),
    [
        ("print('hello')\n", 2, "no import of strata.graph.program"),
        ("from strata.graph.program import drive\nprint('hello')\n", 1, "drive was never called"),
    ],
)
def test_a_program_that_is_no_solver_is_said_to_be_none(front, tmp_path, text, status, given):
    program = tmp_path / "hello.py"
    program.write_text(text)
    done = run(front, "run", program, status=status)
    assert "this program is no solver" in done.stderr
    assert str(program) in done.stderr
    assert given in done.stderr
    assert done.stdout == ("" if status == 2 else "hello\n")


def test_what_cannot_be_declared_is_said_once_before_anything_starts(front, tmp_path):
    program, path = faulty(tmp_path, "declare")
    done = run(front, "run", program, path, "--layout", "2x1", "--bind", "none", status=2)
    assert done.stderr.count("strata: error: this cannot be declared") == 1
    assert f"{path}:2 how" in done.stderr
    done = run(front, "run", *faulty(tmp_path, "divide"), status=1)
    assert done.stderr.startswith("strata: error: ZeroDivisionError: ")
    assert "faulty.py" in done.stderr
    path.write_text('solver = "faulty"\nhow = "else"\n')
    assert "allowed: text, one of" in run(front, "run", program, path, status=2).stderr
    assert "how it ends" in (shown := run(front, "run", program, "--help").stdout)
    assert "strata run faulty.py NAME.toml --out run" in shown
    assert "no such solver" in run(front, "run", tmp_path / "absent.py", path, status=2).stderr


def test_nothing_is_left_when_a_run_in_python_is_killed(front, tmp_path):
    program, path = faulty(tmp_path, "wait")
    started = subprocess.Popen(
        [front, "run", str(program), str(path), "--layout", "2x1", "--bind", "none", "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "STRATA_PYTHON": sys.executable},
        start_new_session=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "waiting\n"
    started.send_signal(signal.SIGKILL)
    started.wait(timeout=10)
    for _ in range(100):
        left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(program).encode() in _text(p)]
        if not left:
            break
        time.sleep(0.1)
    assert not left


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_kernels_see_the_values_where_they_lie_and_may_not_write_what_they_only_need(graphs):
    graph = graphs.Graph("views")
    grid = graph.grid("grid", (8,), (4,), periodic=(True,))
    u = graph.field("u", grid, history=1)
    total = graph.scalar("total", "sum")
    seen = []

    @graph.start(grid, makes={"u": u})
    def first(here):
        here["u"][:] = np.arange(here.cells[2].start, here.cells[2].stop)

    @graph.step(grid, needs={"old": u.previous(ghosts=1)}, makes={"u": u}, contributes={"total": total})
    def shift(here):
        old = here["old"]
        assert old is here["old"]
        assert not old.flags.owndata
        assert not old.flags.writeable
        assert old.shape == (1, 1, 6)
        with pytest.raises(ValueError, match="read-only"):
            old[0, 0, 0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            old.flags.writeable = True
        here["u"][:] = old[:, :, :-2]
        here["total"][0] += here["u"].sum()
        seen.append((here.step, here.patch, here["u"].__array_interface__["data"][0]))

    run = graphs.Simulation(graph, threads=2)
    run.start()
    run.advance(3)
    values = np.concatenate([run.values(u, p).ravel() for p in range(2)])
    assert values.tolist() == [5, 6, 7, 0, 1, 2, 3, 4]
    assert run.value(total) == 28
    assert sorted(s[:2] for s in seen) == [(step, patch) for step in (1, 2, 3) for patch in (0, 1)]
    assert (
        len({address for _, _, address in seen}) == 4
    )  # two buffers of two patches, in turn: nothing is copied


def test_an_array_that_is_kept_ends_the_run_and_stays_readable(graphs):
    graph = graphs.Graph("keeping")
    grid = graph.grid("grid", (8,), (4,))
    u = graph.field("u", grid, history=1)
    kept = []
    graph.start(grid, makes={"u": u})(lambda here: here["u"].fill(7.0))

    @graph.step(grid, needs={"old": u.previous()}, makes={"u": u}, name="hold on")
    def hold(here):
        cycle = [here["old"]]
        cycle.append(cycle)  # is no keeping: nobody can reach it any more
        here["u"][:] = here["old"]
        if here.step == 2:
            kept.append(here["old"][0, 0])

    run = graphs.Simulation(graph)
    run.start()
    assert run.advance(1) == 1
    with pytest.raises(
        StrataError, match=r"task 'hold on', patch 0 of 'grid', step 2: an array of 'u' was kept"
    ):
        run.advance(1)
    del run
    gc.collect()
    assert kept[0].tolist() == [7.0] * 4


def test_lists_of_whole_numbers_and_of_another_length_on_each_patch(graphs):
    graph = graphs.Graph("lists")
    grid = graph.grid("grid", (3,), (1,))
    types = {"int64": 2**53 + 1, "int32": -5, "uint8": 255, "float64": 0.5}  # no float64 is 2**53 + 1
    lists = {name: graph.list(name, grid, [2, 0, 1], dtype=name, kept=True) for name in types}

    @graph.start(grid, makes=lists)
    def first(here):
        for name, value in types.items():
            assert here[name].dtype == name
            here[name][:] = value

    @graph.step(grid, modifies=lists)
    def less(here):
        for name in types:
            here[name][:] -= 1

    run = graphs.Simulation(graph)
    run.start()
    run.advance(1)
    for name, value in types.items():
        assert run.values(lists[name], 0).dtype == name
        found = [run.values(lists[name], patch).tolist() for patch in range(3)]
        assert found == [[value - 1] * 2, [], [value - 1]]
    with pytest.raises(StrataError, match="no such type of numbers") as caught:
        graph.list("complex", grid, dtype=complex)
    assert caught.value.allowed == "float64, int64, int32, uint8"
    with pytest.raises(StrataError, match="for all patches, or one for each"):
        graph.list("two", grid, [1, 2])


def test_patches_in_the_order_of_a_sweep(graphs):
    graph = graphs.Graph("sweeps")
    graph.in_program_order()
    grid = graph.grid("grid", (7, 6), (3, 2))
    s, u, w = (graph.field(name, grid, kept=True) for name in "suw")
    largest = graph.scalar("largest", "max")

    @graph.start(grid, makes={"u": u, "w": w})
    def first(here):
        j, i = np.mgrid[here.cells[1:]]
        here["u"][0] = here["w"][0] = i + 10 * j

    @graph.step(grid, makes={"now": s}, needs={"before": s.upwind((1, 1), corners=True)})
    def count(here):
        _, rows, columns = here.cells
        first_row, first_column = (here.box("before")[d].start for d in (1, 2))
        before, now = here["before"], here["now"]
        for j in range(rows.start, rows.stop):
            for i in range(columns.start, columns.stop):
                at = (0, j - first_row, i - first_column)
                west = before[0, at[1], at[2] - 1] if i else 0
                south = before[0, at[1] - 1, at[2]] if j else 0
                corner = before[0, at[1] - 1, at[2] - 1] if i and j else 0
                now[0, j - rows.start, i - columns.start] = west + south - corner + 1

    @graph.step(grid, needs={"s": s}, modifies={"u": u.upwind((0, -1))}, contributes={"largest": largest})
    def back(here):
        rows, first_row = here.cells[1], here.box("u")[1].start
        own = here.inner("u")[2]
        for j in reversed(range(rows.start, rows.stop)):
            row = here["u"][0, j - first_row, own]
            if j < 5:
                row += here["u"][0, j + 1 - first_row, own]
            if j > 0:
                row += 2 * here["u"][0, j - 1 - first_row, own]
        here["largest"][0] = here["s"].max()

    @graph.step(grid, modifies={"w": w.newest(ghosts=1)})
    def shift(here):
        inner = here.inner("w")
        left = here["w"][inner[0], inner[1], inner[2].start - 1 : inner[2].stop - 1]
        here["w"][inner] = left if here.cells[2].start else 0

    to_itself = [e for e in graph.inspect().document["edges"] if e["from"] == e["to"] and not e["lag"]]
    assert {(e["label"], e["through"]) for e in to_itself} == {
        ("s", "upwind x+ y+ with corners"),
        ("u", "upwind y-"),
    }
    run = graphs.Simulation(graph, threads=2)
    run.start()
    run.advance(1)

    def whole(label):
        values = np.empty((6, 7))
        for patch in range(grid.patches):
            values[graph.box(grid, patch)[1:]] = run.values(label, patch)[0]
        return values

    j, i = np.mgrid[0:6, 0:7]
    assert np.array_equal(whole(s), (i + 1) * (j + 1))
    expected = (i + 10.0 * j).copy()
    for row in reversed(range(6)):
        expected[row] += (expected[row + 1] if row < 5 else 0) + (2 * expected[row - 1] if row else 0)
    assert np.array_equal(whole(u), expected)
    assert run.value(largest) == 42
    assert np.array_equal(whole(w), np.where(i < 3, 0, i - 1 + 10 * j))  # also from the patch on the left

    graph.step(grid, modifies={"u": u.upwind((1, 2), version=1)}, name="wrong")(lambda here: None)
    with pytest.raises(StrataError, match="task 'wrong' uses 'u' upwind along y with a sign"):
        graph.inspect()
    with pytest.raises(StrataError, match="entry for each"):
        u.upwind((1,))


def test_ghosts_without_corners_give_the_same_bits_and_are_said(graphs):
    def smoothed(corners):
        graph = graphs.Graph("small")
        grid = graph.grid("grid", (8, 8), (4, 4), periodic=(True, True))
        u = graph.field("u", grid, history=1)

        @graph.start(grid, makes={"u": u})
        def begin(here):
            y, x = np.mgrid[here.cells[1:]]
            here["u"][0] = np.sin(3 * x + 5 * y)

        @graph.step(grid, needs={"old": u.previous(ghosts=1, corners=corners)}, makes={"u": u})
        def smooth(here):
            around = [here.near("old", *shift) for shift in ((1,), (-1,), (0, 1), (0, -1))]
            here["u"][:] = sum(around) / 4

        run = graphs.Simulation(graph)
        run.start()
        run.advance(3)
        said = "without corners" in json.dumps(graph.inspect().document)
        return [run.values(u, patch).tobytes() for patch in range(4)], said

    all_around, beyond_faces = smoothed(True), smoothed(False)
    assert all_around[0] == beyond_faces[0]
    assert (all_around[1], beyond_faces[1]) == (False, True)


def test_what_is_modified_has_ghosts_all_around(graphs):
    graph = graphs.Graph("small")
    grid = graph.grid("grid", (8, 8), (4, 4))
    u = graph.field("u", grid)
    with pytest.raises(StrataError, match="all ghosts around"):
        graph.step(grid, modifies={"u": u.newest(ghosts=1, corners=False)})(lambda here: None)


def test_a_graph_can_be_inspected(graphs):
    graph = graphs.Graph("small")
    grid = graph.grid("grid", (8, 8), (4, 4))
    u = graph.field("u", grid, history=1, unit="K")
    peak = graph.scalar("peak", "max")
    graph.start(grid, makes={"u": u})(lambda here: None)

    @graph.step(grid, needs={"peak": peak.at(0)}, modifies={"u": u.at(0)})
    def scale(here):
        pass

    @graph.step(grid, needs={"old": u.previous(ghosts=1)}, makes={"u": u}, contributes={"peak": peak})
    def smooth(here):
        pass

    seen = graph.inspect()
    assert seen.labels == ("u", "peak")
    assert {"smooth", "scale"} < set(seen.tasks)
    assert seen.critical_path[0] == "smooth"
    assert seen.critical_path[-1] == "scale"
    assert len(seen.critical_path) == 3  # with the reduction between them
    assert seen.peak_bytes >= 2 * 64 * 8  # two generations of 8 x 8 numbers
    assert seen.document["schema"] == "strata.graph/1"
    assert seen.warnings == ()
    assert "critical path of a step, the longest chain" in str(seen)
    assert seen.svg().startswith("<svg")
    assert graphs.Simulation(graph).bytes >= seen.peak_bytes


def test_errors_in_kernels_and_declarations_say_where(graphs):
    graph = graphs.Graph("faulty")
    grid = graph.grid("grid", (8,), (4,))
    u = graph.field("u", grid, history=1)

    @graph.start(grid, makes={"u": u})
    def first(here):
        if here.patch == 1:
            raise ValueError("no such luck")

    @graph.step(grid, needs={"old": u.previous()}, makes={"u": u})
    def again(here):
        here["older"]

    run = graphs.Simulation(graph)
    with pytest.raises(StrataError, match="a run begins with start"):
        run.advance(1)
    with pytest.raises(
        StrataError, match=r"task 'first', patch 1 of 'grid', step 0: ValueError: no such luck$"
    ) as caught:
        run.start()
    assert isinstance(caught.value.__cause__, ValueError)

    with pytest.raises(StrataError, match="u"):
        graph.field("u", grid)
    with pytest.raises(StrataError) as caught:
        graph.field("w", grid, on="edges")
    assert "faces_x" in (caught.value.allowed or "")
    with pytest.raises(StrataError, match="entry for each") as caught:
        graph.grid("other", (8, 8), (4,))
    assert caught.value.at == "grid 'other'"
    cfl = graph.parameter("cfl", 0.5, 0.1, 1.0)
    with pytest.raises(StrataError, match="what task 'late' uses is no label of the graph") as caught:
        graph.step(grid, needs={"cfl": cfl}, name="late")
    assert caught.value.at == "cfl" and caught.value.given.startswith("Parameter ")
    with pytest.raises(StrataError, match="two uses of task 'late' have one name"):
        graph.step(grid, needs={"u": u.previous()}, makes={"u": u}, name="late")


def test_a_kernel_that_touches_what_it_did_not_declare_is_told_what_it_may(graphs):
    graph = graphs.Graph("curious")
    grid = graph.grid("grid", (8,), (8,))
    u = graph.field("u", grid)

    @graph.start(grid, makes={"u": u})
    def first(here):
        here["v"]

    said = r"a task touches only what it declared, given: v, allowed: u$"
    with pytest.raises(StrataError, match=said):
        graphs.Simulation(graph).start()


def test_a_key_without_default_and_type_is_said_to_be_one(graphs, front):
    from strata.graph.program import Case

    case = Case("keys", "declares some")
    with pytest.raises(StrataError, match="neither a default nor a type"):
        case.key("size")
    with pytest.raises(StrataError, match="what a restart may do with a key") as caught:
        case.key("end", 1.0, restart="later")
    assert caught.value.allowed == "same, end, any"


def test_a_task_that_runs_once_makes_scalars_from_scalars(graphs):
    graph = graphs.Graph("clock")
    grid = graph.grid("grid", (8, 8), (4, 4))
    total = graph.scalar("total", "sum")
    time, mean = graph.scalar("time", history=1), graph.scalar("mean")
    called = []

    @graph.step(grid, contributes={"mine": total})
    def give(here):
        here["mine"][0] = here.patch

    @graph.once(needs={"total": total, "before": time.previous()}, makes={"mean": mean, "time": time})
    def advance(here):
        called.append(here.step)
        here["mean"][0] = here["total"][0] / 4
        here["time"][0] = here["before"][0] + 0.5
        if here.step == 4:
            here.cells  # noqa: B018

    run = graphs.Simulation(graph)
    run.start()
    run.advance(3)
    assert called == [1, 2, 3]
    assert (run.value(mean), run.value(time)) == (1.5, 1.5)
    with pytest.raises(StrataError, match=r"task 'advance', step 4: .*has no cells"):
        run.advance(1)


WAITING = """
import threading

from strata.graph import Graph, Simulation

graph = Graph("locks")
grid = graph.grid("grid", (8,), (4,))
u = graph.field("u", grid, history=1)
asked, answered = threading.Event(), threading.Event()
graph.start(grid, makes={"u": u})(lambda here: None)


@graph.step(grid, needs={"old": u.previous()}, makes={"u": u})
def ask(here):
    asked.set()
    assert answered.wait(20)


def answer():
    asked.wait(20)
    answered.set()


threading.Thread(target=answer, daemon=True).start()
run = Simulation(graph, threads=3)
run.start()
assert run.advance(2) == 2
"""


def test_threads_of_python_go_on_while_a_run_waits(graphs):
    """What a kernel waits for in another thread of Python would never come if the run held Python's lock."""
    subprocess.run([sys.executable, "-c", WAITING], check=True, timeout=60)


def test_without_the_module_one_error_says_what_to_do(tmp_path):
    environment = {**os.environ, "STRATA_BIN": str(tmp_path / "bin" / "strata")}
    program = "from strata.graph import Graph\nGraph('g')\n"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 1
    assert "strata: error: graphs from Python were not built" in done.stderr
    assert "python3-dev" in done.stderr
    folder = tmp_path / "libexec" / "strata"
    folder.mkdir(parents=True)
    (folder / "strata_graph.cpython-39-x86_64-linux-gnu.so").touch()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60
    )
    assert "were built for another Python" in done.stderr
