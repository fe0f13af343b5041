"""`strata replay`: a window of a run again, bit for bit, on another layout; and when it is refused."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from solver_cases import MPM_CASES, changed, plane, solver_program, steps_in

from strata.errors import StrataError
from strata.run.control import ask

ROOT = Path(__file__).resolve().parents[3]
Replay = Callable[..., "subprocess.CompletedProcess[str]"]
ADVECTION = {"cells": "[64, 64]", "patch": "[16, 16]", "error": "0.0", "end": "1000.0"}


@pytest.fixture
def replay(front: str) -> Replay:
    """`strata replay RUN words...` on a layout; fails where the status is another."""

    def go(
        out: Path, *words: object, layout: str = "2x1", status: int = 0
    ) -> subprocess.CompletedProcess[str]:
        command = [front, "replay", out, "--layout", layout, "--bind", "none", "--quiet", *words]
        environment = {**os.environ, "STRATA_PYTHON": sys.executable}
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=120, env=environment
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return go


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(folder: Path) -> dict[int, str]:
    lines = (folder / "series.csv").read_text().splitlines()[1:]
    return {int(line.split(",")[0]): line for line in lines}


def temperature(checkpoint: Path) -> np.ndarray:
    return plane(checkpoint, "temperature", (64, 64), (16, 16))


def others(file: Path, values: np.ndarray) -> Iterator[np.ndarray]:
    """All that could be an array of this shape in a file, beside these values."""
    for part in file.read_bytes().split(values.tobytes()):
        for at in range(0, len(part) - values.nbytes + 1, 8):
            yield np.frombuffer(part, count=values.size, offset=at).reshape(values.shape)


def steered_twice(command: list[object], out: Path) -> bool:
    """Runs this; false where its parameter was not changed twice before step 900, on a busy machine."""
    with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True) as process:
        for count, value in ((2, 0.3), (6, 0.45)):
            while len(list(out.glob("checkpoint-*"))) < count and process.poll() is None:
                time.sleep(0.002)
            with contextlib.suppress(StrataError):
                ask(out, {"set": {"cfl": value}})
        assert process.wait(timeout=60) == 0, process.stderr.read()
    steps = [event["before_step"] for event in events(out, "steered")]
    return len(steps) == 2 and steps[1] < 900


@pytest.fixture(scope="module")
def steered(front, tmp_path_factory) -> Path:
    """A run whose parameter is changed twice, at steps that its history names; with checkpoints of each 20
    steps and fields each 10."""
    folder = tmp_path_factory.mktemp("steered")
    case = changed(folder, "advection", **ADVECTION)
    words = ["--checkpoint", "20", "--keep", "0", "--series", "5", "--fields", "10", "--steps", "1000"]
    command = [front, "run", case, "--layout", "1x1", "--bind", "none", "--quiet", *words, "--out"]
    runs = (folder / f"run {i}" for i in range(5))
    return next(out for out in runs if steered_twice([*command, out], out))


def events(out: Path, name: str) -> list[dict]:
    lines = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    return [line for line in lines if line["event"] == name]


def frames(file: Path) -> dict[int, str]:
    """The frames of an extended XYZ file, by their steps, without the steps from one to the next."""
    lines = re.sub(r" every=\d+ ", " ", file.read_text()).splitlines()
    atoms = int(lines[0])
    found = ["\n".join(lines[at : at + atoms + 2]) for at in range(0, len(lines), atoms + 2)]
    return {int(re.search(r" step=(\d+)", frame)[1]): frame for frame in found}


def test_a_window_of_molecular_dynamics_has_its_frames(front, replay, tmp_path) -> None:
    case = tmp_path / "melt.toml"
    text = (ROOT / "cases" / "md" / "melt.toml").read_text().replace("[20, 20, 20]", "[6, 6, 6]")
    case.write_text(text + '\n[trajectory]\nforms = ["xyz", "dcd"]\nsteps = 10\n')
    run = tmp_path / "run"
    words = ["--checkpoint", "20", "--keep", "0", "--steps", "100", "--quiet", "--out", run]
    subprocess.run([str(w) for w in [front, "run", case, "--bind", "none", *words]], check=True, timeout=100)
    out = tmp_path / "window"
    replay(run, "--steps", "35:60", "--every", 5, "--out", out, layout="1x2")
    then, now = frames(run / "trajectory.xyz"), frames(out / "trajectory.xyz")
    assert sorted(now) == [35, 40, 45, 50, 55, 60]
    assert [now[step] for step in (40, 50, 60)] == [then[step] for step in (40, 50, 60)]
    assert now[45] not in then.values()
    one = (run / "trajectory.dcd").stat().st_size / len(then)
    assert round((out / "trajectory.dcd").stat().st_size / one) == len(now)
    # Also that of the checkpoint's own step, whose time no task has made again.
    replay(run, "--steps", "40:50", "--every", 10, "--out", tmp_path / "other")
    assert frames(tmp_path / "other" / "trajectory.xyz") == {step: then[step] for step in (40, 50)}


@pytest.mark.parametrize("layout", ["2x1", "1x2", "4x1"])
def test_a_window_with_a_steered_parameter_in_it_is_the_runs_on_another_layout(
    steered, replay, tmp_path, layout
):
    first, second = (event["before_step"] for event in events(steered, "steered"))
    begin, end = second - 3, second + 23
    assert 20 < first < second
    before, out = content(steered), tmp_path / "window"
    said = replay(steered, "--steps", f"{begin}:{end}", "--every", 1, "--out", out, layout=layout)
    assert "bit for bit alike with the run" in said.stdout
    assert re.search(r"\d+ rows of series.csv, \d+ field files?, \d+ checkpoints?", said.stdout)
    assert content(steered) == before
    written = rows(out)
    assert list(written) == list(range(begin, end + 1))
    shared = written.keys() & rows(steered).keys()
    assert len(shared) >= (end - begin) // 5
    assert all(written[step] == rows(steered)[step] for step in shared)
    assert steps_in(out / "fields", "grid-*.vtkhdf") == list(range(begin, end + 1))
    for step in set(steps_in(steered / "fields", "grid-*.vtkhdf")) & set(range(begin, end + 1)):
        name = f"grid-{step:06d}.vtkhdf"
        assert (out / "fields" / name).read_bytes() == (steered / "fields" / name).read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_a_parameter_steered_before_the_window_comes_with_the_checkpoint_or_again(steered, replay, tmp_path):
    _, second = (event["before_step"] for event in events(steered, "steered"))
    lost = tmp_path / "run"  # as if only the last checkpoints had been kept
    shutil.copytree(steered, lost)
    for step in steps_in(lost, "checkpoint-*"):
        if step < second + 60:
            shutil.rmtree(lost / f"checkpoint-{step:06d}")
    begin = second + 40
    for run in (steered, lost):
        said = replay(run, "--steps", f"{begin}:{begin + 9}", "--out", tmp_path / f"of {run.parent.name}")
        assert "alike" in said.stdout
        from_start = "from the start" in said.stderr
        assert from_start == (run == lost), said.stderr
    assert rows(tmp_path / f"of {lost.parent.name}") == rows(tmp_path / f"of {steered.parent.name}")


def test_a_steering_that_is_missing_from_the_history_is_found_and_named(steered, replay, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(steered, run)
    lines = (run / "history.jsonl").read_text().splitlines(keepends=True)
    (run / "history.jsonl").write_text("".join(line for line in lines if '"steered"' not in line))
    first = events(steered, "steered")[0]["before_step"]
    said = replay(run, "--steps", f"{first}:{first + 30}", status=1).stderr
    named = re.search(r"the replay is not the run's: step (\d+), (.*)", said)
    assert named and first <= int(named[1]) < first + 20, said
    assert "'" in named[2] and " and " in named[2]
    assert not list(run.glob("replay-*")) and not list(run.glob(".replay-*"))


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("series", "series.csv, 'total'"),
        ("fields", "'temperature', value"),
        ("checkpoint", "checkpoint-000040"),
    ],
)
def test_each_kind_of_output_is_compared_and_the_first_difference_named(
    steered, replay, tmp_path, what, says
):
    run = tmp_path / "run"
    shutil.copytree(steered, run)
    if what == "series":
        head = (run / "series.csv").read_text().splitlines()[0].split(",")
        lines = (run / "series.csv").read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("35,"))
        values = lines[at].split(",")
        values[2] = repr(float(np.nextafter(float(values[2]), 9)))
        lines[at] = ",".join(values)
        (run / "series.csv").write_text("\n".join(lines) + "\n")
        says, step = f"series.csv, '{head[2].split(' [')[0]}'", 35
    elif what == "fields":
        file = run / "fields" / "grid-000040.vtkhdf"
        data = bytearray(file.read_bytes())
        at = data.index(temperature(run / "checkpoint-000040").tobytes()) + 8 * (3 * 64 + 5)
        data[at] ^= 1  # the last bit of one value
        file.write_bytes(data)
        says, step = f"{says} {3 * 64 + 5}:", 40
    else:  # the state of another moment under this name
        other, step = run / "checkpoint-000060", 40
        shutil.rmtree(run / "checkpoint-000040")
        shutil.copytree(other, run / "checkpoint-000040")
    said = replay(run, "--steps", "25:50", status=1).stderr
    assert f"step {step}, " in said and says in said, said
    assert not list(run.glob("replay-*"))


def test_a_damaged_row_of_the_runs_series_is_one_error_that_names_its_line(steered, replay, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(steered, run)
    lines = (run / "series.csv").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("35,"))
    (run / "series.csv").write_text("\n".join([*lines[:at], lines[at][:-9] + ",x", *lines[at + 1 :], ""]))
    said = replay(run, "--steps", "25:50", status=2).stderr
    assert said.count("strata: error") == 1
    assert "not a row of the time series" in said and f"series.csv:{at + 1}" in said, said
    (run / "series.csv").write_text("\n".join(["step,time [s]", *lines[1:], ""]))
    assert "other columns" in replay(run, "--steps", "25:50", status=2).stderr
    assert not list(run.glob("*replay-*"))


def test_from_the_start_without_a_checkpoint_and_fields_that_the_run_did_not_write(run, replay, tmp_path):
    case, out = changed(tmp_path, "advection", **ADVECTION), tmp_path / "run"
    run(case, "--out", out, "--steps", 40, layout="2x1")
    listed = replay(out, "--add", "help").stdout
    assert re.search(r"^    temperature, first stage \[K\] +on cells", listed, re.MULTILINE), listed
    assert re.search(r"^  \* temperature ", listed, re.MULTILINE)
    assert re.search(r"^    stable rate \[1/s\] +one number a step", listed, re.MULTILINE), listed
    said = replay(
        out,
        "--steps",
        "10:30",
        "--every",
        5,
        "--add",
        "temperature, first stage,dt,time,stable rate",
        layout="3x1",
    )
    assert "from the start: 30 steps" in said.stderr
    again = out / "replay-10-30"
    assert steps_in(again / "fields", "grid-*.vtkhdf") == [10, 15, 20, 25, 30]
    run(case, "--out", tmp_path / "known", "--steps", 20, "--checkpoint", 20)
    after = temperature(tmp_path / "known" / "checkpoint-000020")
    with np.errstate(all="ignore"):
        near = [
            np.abs(other - after).max() for other in others(again / "fields" / "grid-000020.vtkhdf", after)
        ]
    assert 0 < np.nanmin(near) < 0.1 * np.abs(after).max()
    head = (again / "series.csv").read_text().splitlines()[0]
    assert head.endswith(",stable rate [1/s]") and head.count("time [s]") == head.count("dt [s]") == 1
    document = json.loads((again / "replay.json").read_text())
    assert document["schema"] == "strata.replay/1"
    assert document["alike"]["series_rows"] == 3  # of steps 10, 20, 30


def test_what_dies_within_a_step_is_right_at_a_checkpoints_own_step_too(run, replay, tmp_path):
    """So the replay begins at the checkpoint before."""
    case, out = changed(tmp_path, "advection", **ADVECTION), tmp_path / "run"
    run(case, "--out", out, "--steps", 40, "--checkpoint", 10, "--keep", 0)
    said = replay(out, "--steps", "20:21")
    assert "from checkpoint-000020: 1 step " in said.stderr
    written = rows(out / "replay-20-21")
    assert list(written) == [20, 21]
    assert written[20] == rows(out)[20]
    for name, begin in (("early", 15), ("here", 20)):
        said = replay(
            out, "--steps", f"{begin}:21", "--add", "temperature, first stage", "--out", tmp_path / name
        )
        assert "from checkpoint-000010" in said.stderr
    early, here = (tmp_path / name / "fields" / "grid-000020.vtkhdf" for name in ("early", "here"))
    assert early.read_bytes() == here.read_bytes()
    said = replay(out, "--steps", "0:3", "--add", "temperature, first stage", status=2)
    assert "from step 1 on" in said.stderr


@pytest.mark.parametrize("name", ["incline", "disks"])
def test_material_points(front, run, replay, tmp_path, name):
    if solver_program(front, "strata-mpm") is None:
        pytest.skip("the solver is not built")
    short = {"incline": {"cells": "[40, 12, 1]", "patch": "[10, 6, 1]"}, "disks": {"patch": "[8, 8, 1]"}}
    case, out = changed(tmp_path, name, cases=MPM_CASES, **short[name]), tmp_path / "run"
    run(case, "--out", out, "--steps", 240, "--checkpoint", 80, "--keep", 0, "--fields", 50, layout="2x1")
    listed = replay(out, "--add", "help").stdout
    assert re.search(r"^    volume \[m3\] +on particles: undeformed", listed, re.MULTILINE), listed
    assert re.search(r"^    force on grid points \[N\] +on nodes", listed, re.MULTILINE), listed
    words = ("--add", "volume,force on grid points")
    for layout in ("3x1", "1x2"):
        said = replay(
            out, "--steps", "90:170", "--every", 40, *words, "--out", tmp_path / layout, layout=layout
        )
        assert "from checkpoint-000080: 90 steps" in said.stderr
        assert "2 field files, 1 checkpoint" in said.stdout
    for path in (tmp_path / "3x1" / "fields").iterdir():
        assert path.read_bytes() == (tmp_path / "1x2" / "fields" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--steps", "990:1001"), ("the run has no such steps", "990:1001", "0 to 1000")),
        (("--steps", "30:20"), ("a window is its first and its last step", "--steps 30:20")),
        (("--steps", "seven"), ("--steps seven", "A:B")),
        ((), ("which steps?",)),
        (
            ("--steps", "20:30", "--add", "temprature"),
            ("--add temprature", "temperature, first stage", "temperature?"),
        ),
        (("--steps", "20:30", "--every", "0"), ("--every",)),
    ],
)
def test_wrong_words_give_one_error_and_nothing_begins(steered, replay, words, says):
    before = content(steered)
    said = replay(steered, *words, status=2).stderr
    assert said.count("strata: error") == 1, said
    for part in says:
        assert part in said
    assert content(steered) == before


def test_folders_without_a_history_and_replays_that_are_there_are_refused(steered, replay, tmp_path):
    assert "no history" in replay(tmp_path, "--steps", "1:2", status=2).stderr
    assert "no such folder" in replay(tmp_path / "nowhere", "--steps", "1:2", status=2).stderr
    replay(steered, "--steps", "1:2", "--out", tmp_path / "there")
    said = replay(steered, "--steps", "1:2", "--out", tmp_path / "there", status=2).stderr
    assert "there is a replay already" in said and str(tmp_path / "there") in said


def test_a_history_of_a_strangers_starts_nothing_but_a_solver_of_ones_own(steered, replay, tmp_path):
    run, mark, script = tmp_path / "run", tmp_path / "mark", tmp_path / "script"
    shutil.copytree(steered, run)
    began, text = events(run, "began")[0], (run / "history.jsonl").read_text()
    script.write_text(f"#!/bin/sh\ntouch {mark}\n")

    def said(mode, program, case):
        script.chmod(mode)
        named = text.replace(json.dumps(began["program"]), json.dumps(str(program)))
        (run / "history.jsonl").write_text(named.replace(json.dumps(began["case"]), json.dumps(str(case))))
        return replay(run, "--steps", "20:30", status=2).stderr

    assert f"everybody may write {script}" in said(0o757, script, began["case"])
    assert "no solver of Strata's" in said(0o755, script, began["case"])
    assert "no solver of Strata's" in said(0o755, "/bin/sh", script)
    option = said(0o755, began["program"], "--version")
    assert "no file of a case has such a name" in option
    assert "allowed: the path of a case file\n" in option and "  try: " in option
    assert not mark.exists()


@pytest.mark.parametrize("way", ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"])
def test_a_folder_that_a_strangers_history_names_gives_no_programs_and_no_libraries(
    front, steered, tmp_path, monkeypatch, way
):
    """An empty entry of a search path is the current folder, which is that one then; ./NAME lies in it."""
    run, trap, mark = tmp_path / "run", tmp_path / "trap", tmp_path / "mark"
    shutil.copytree(steered, run)
    trap.mkdir()
    (trap / "srun").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (trap / "libm.so.6").write_text("no library, but one that is looked for")
    for each in trap.iterdir():
        each.chmod(0o755)
    folder = json.dumps(events(run, "began")[0]["folder"])
    text = (run / "history.jsonl").read_text()
    (run / "history.jsonl").write_text(text.replace(folder, json.dumps(str(trap))))
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534", str(trap)], check=True)
    command = [front, "replay", run, "--steps", "20:22", "--bind", "none", "--quiet", "--out", tmp_path / "o"]
    if way == "PATH":  # on nodes, which srun starts
        command += ["--nodes", "1"]
        monkeypatch.setenv("SLURM_JOB_ID", "1")
        monkeypatch.setenv("SLURM_JOB_NUM_NODES", "1")
    monkeypatch.setenv("STRATA_PYTHON", sys.executable)
    given = "./libm.so.6" if way == "LD_PRELOAD" else f":{os.environ.get(way, '')}:"
    monkeypatch.setenv(way, given)
    done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert not mark.exists(), done.stderr
    assert "invalid ELF header" not in done.stderr, "the linker has looked at a file there"
    assert done.returncode == 0 or way == "PATH", done.stderr


def test_another_kind_of_processor_is_refused(steered, replay, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(steered, run)
    began = events(run, "began")[0]
    text = (run / "history.jsonl").read_text()
    for old, new, why in (
        (began["processor"], "Intel 80486", "on another kind of processor, Intel 80486, not"),
        (began["processor_kind"], "vendor_id X; ", "on a processor with other vector instructions"),
    ):
        changed_kind = text.replace(json.dumps(began["processor_kind"]), '"family 4"').replace(
            json.dumps(old), json.dumps(new)
        )
        (run / "history.jsonl").write_text(changed_kind)
        said = replay(run, "--steps", "20:30", status=2).stderr
        assert f"steps 20 to 30 were computed {why}" in said, said
        assert "of that kind" in said
    assert not list(run.glob("replay-*"))


def test_a_program_that_has_changed_is_refused_and_the_old_one_is_not(front, run, replay, tmp_path):
    """A program of one's own, of which the bytes change; and a run that another program went on with."""
    program, case, out = (
        tmp_path / "strata-mine",
        changed(tmp_path, "advection", **ADVECTION),
        tmp_path / "run",
    )
    shutil.copy(solver_program(front, "strata-transport"), program)

    def compute(*words: object) -> None:
        command = [
            front,
            "launch",
            "--layout",
            "1x1",
            "--bind",
            "none",
            "--",
            program,
            case,
            "--quiet",
            "--out",
            out,
        ]
        subprocess.run(
            [str(word) for word in [*command, *words]], check=True, capture_output=True, timeout=60
        )

    compute("--steps", 30, "--checkpoint", 10, "--keep", 0)
    assert "alike" in replay(out, "--steps", "12:20").stdout
    with program.open("ab") as file:
        file.write(b"built anew")
    said = replay(out, "--steps", "12:22", status=2).stderr
    assert re.search(r"steps 12 to 22 were computed by another strata-mine \(crc32c .*, now crc32c", said), (
        said
    )
    compute("--restart", out, "--steps", 50, "--checkpoint", 10, "--keep", 0)
    assert "alike" in replay(out, "--steps", "32:50").stdout
    said = replay(out, "--steps", "28:40", status=2).stderr
    assert "steps 28 to 30 were computed by another strata-mine" in said


def test_a_restart_undoes_what_was_steered_after_it(front, run, replay, tmp_path):
    case, out = changed(tmp_path, "advection", **ADVECTION), tmp_path / "run"
    run(case, "--out", out, "--steps", 40, "--checkpoint", 10, "--keep", 0)
    history = out / "history.jsonl"
    ended = history.read_text().splitlines(keepends=True)
    steered = json.dumps({"event": "steered", "before_step": 35, "values": {"cfl": 0.01}}) + "\n"
    history.write_text("".join([*ended[:-1], steered, '{"event":"cut off']))
    shutil.rmtree(out / "checkpoint-000040")
    run(case, "--out", out, "--restart", out, "--steps", 60, "--checkpoint", 10, "--keep", 0)
    said = replay(out, "--steps", "25:60", "--every", 5)
    assert "4 checkpoints" in said.stdout
    other = tmp_path / "other"  # a run that goes on in another folder begins with its checkpoint
    run(case, "--out", other, "--restart", out, "--steps", 80)
    assert "from checkpoint-000060" in replay(other, "--steps", "62:80", "--every", 9).stderr
    said = replay(other, "--steps", "50:70", status=2).stderr
    assert "60 to 80" in said and str(out) in said


def test_a_solver_in_python_on_another_layout_and_after_its_script_changed(
    run, replay, tmp_path, monkeypatch
):
    pytest.importorskip("strata.graph.native").module()
    monkeypatch.setenv("STRATA_PYTHON", sys.executable)
    script = tmp_path / "advection.py"
    for name in ("advection.py", "heat.py"):
        shutil.copy(ROOT / "solvers" / "transport" / name, tmp_path)
    case, out = (
        changed(tmp_path, "advection", cells="[16, 16]", patch="[8, 8]", error="0.0"),
        tmp_path / "run",
    )
    run(script, case, "--out", out, "--steps", 20, "--checkpoint", 8, "--keep", 0, "--series", 1)
    said = replay(out, "--steps", "10:20", layout="2x1")
    assert "from checkpoint-000008: 12 steps" in said.stderr
    assert "12 rows of series.csv" in said.stdout
    script.write_text(script.read_text() + "\n# one more line\n")
    said = replay(out, "--steps", "10:19", status=2).stderr
    assert "computed by another advection.py" in said


@pytest.mark.parametrize("victim", ["member", "command"])
def test_after_sigkill_nothing_of_a_replay_is_left(front, steered, replay, tmp_path, victim):
    run = tmp_path / "run"
    shutil.copytree(steered, run)
    command = [front, "replay", run, "--steps", "1:999", "--layout", "1x1", "--bind", "none", "--quiet"]
    with subprocess.Popen(
        [str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        partial = run / ".replay-1-999.partial"
        deadline = time.monotonic() + 60
        while not list(partial.glob("fields/*.vtkhdf")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.002)
        if victim == "command":
            process.kill()
        else:
            for entry in Path("/proc").iterdir():
                with contextlib.suppress(OSError):
                    if entry.name.isdecimal() and b"STRATA_TEAM_SEAT=" in (entry / "environ").read_bytes():
                        words = (entry / "cmdline").read_bytes().split(b"\0")
                        if b"--replay" in words and str(run).encode() in words:
                            os.kill(int(entry.name), signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode != 0
    deadline = time.monotonic() + 120
    while list(run.glob("*replay-*")):
        assert time.monotonic() < deadline, list(run.glob("*replay-*"))
        time.sleep(0.02)


def test_what_a_killed_replay_left_goes_with_the_next_one(steered, replay, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(steered, run)
    left = run / ".replay-3-9.partial" / "fields"
    left.mkdir(parents=True)
    replay(run, "--steps", "20:22")
    assert not left.parent.exists()
    assert (run / "replay-20-22").is_dir()
