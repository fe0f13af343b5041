"""Fields for ParaView, as a run writes them: when, the same on every layout, whole or not there."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from solver_cases import CASES, changed, checksums, over_nodes, plane, solver_program, steps_in

STEPS = "\n[output]\nsteps = 10\n"


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "fields").glob("*.vtkhdf")}


def names(out: Path) -> set[str]:
    return {path.name for path in (out / "fields").iterdir()}


def listed(out: Path) -> list[tuple[str, float]]:
    document = json.loads((out / "fields" / "grid.vtkhdf.series").read_text())
    return [(file["name"], file["time"]) for file in document["files"]]


def test_every_so_many_steps_the_same_bytes_on_every_layout(run, tmp_path):
    case = changed(tmp_path, "vortex", STEPS, cells="[64, 48]", patch="[16, 12]", error="1.0")
    expected = None
    for layout in ("1x1", "2x1", "1x2", "3x1"):
        out = tmp_path / layout
        run(case, "--out", out, "--steps", 25, layout=layout)
        found = files(out)
        assert sorted(found) == [f"grid-{step:06d}.vtkhdf" for step in (0, 10, 20, 25)]
        assert [name for name, _ in listed(out)] == sorted(found)
        assert len(set(found.values())) == 4
        expected = expected or found
        assert found == expected
        assert names(out) == {*found, "grid.vtkhdf.series"}


def test_what_is_shown_is_the_state_of_the_checkpoint(run, tmp_path):
    case = changed(tmp_path, "advection", STEPS, cells="[64, 48]", patch="[16, 12]", error="1.0")
    run(case, "--out", tmp_path / "out", "--steps", 20, "--checkpoint", 20, layout="2x1")
    values = plane(tmp_path / "out" / "checkpoint-000020", "temperature", (64, 48), (16, 12))
    found = files(tmp_path / "out")
    assert values.tobytes() in found["grid-000020.vtkhdf"]
    assert values.tobytes() not in found["grid-000010.vtkhdf"]
    assert b"temperature" in found["grid-000020.vtkhdf"]


@pytest.mark.parametrize("name", ["vortex", "advection"])
def test_fields_on_faces_have_a_file_for_each_direction(run, tmp_path, name):
    """Of the flow that the case prescribes, which is in the checkpoint too; the same on every layout."""
    add = '\n[output]\nsteps = 4\nfields = ["temperature", "velocity x", "velocity y"]\n'
    case = changed(tmp_path, name, add, cells="[64, 48]", patch="[16, 12]", error="1.0")
    expected = None
    for layout in ("1x1", "3x1"):
        out = tmp_path / layout
        run(case, "--out", out, "--steps", 4, "--checkpoint", 4, layout=layout)
        found = files(out)
        assert set(found) == {f"grid{f}-{s:06d}.vtkhdf" for f in ("", "-x-faces", "-y-faces") for s in (0, 4)}
        expected = expected or found
        assert found == expected
    for axis, label in enumerate(("velocity x", "velocity y")):
        faces = face_plane(tmp_path / "1x1" / "checkpoint-000004", label, axis, (64, 48), (16, 12))
        # Else a wrong place would not be seen.
        assert name == "advection" or len(np.unique(faces)) > 500
        assert faces.tobytes() in found[f"grid-{'xy'[axis]}-faces-000004.vtkhdf"]


def face_plane(
    checkpoint: Path, label: str, axis: int, cells: tuple[int, int], patch: tuple[int, int]
) -> np.ndarray:
    """A label of f64 on the faces of a direction of a plane, [y, x], from a checkpoint's patches. On a
    periodic border the last faces are the first."""
    labels = [each["name"] for each in json.loads((checkpoint / "checkpoint.json").read_text())["labels"]]
    whole = np.full((cells[1] + (axis == 1), cells[0] + (axis == 0)), np.nan)
    across = cells[0] // patch[0]
    for index in checkpoint.glob("part-*.index"):
        data = index.with_suffix(".data").read_bytes()
        for chunk in map(json.loads, index.read_text().splitlines()):
            if "label" not in chunk or labels[chunk["label"]] != label:
                continue
            x, y = chunk["patch"] % across * patch[0], chunk["patch"] // across * patch[1]
            more = chunk["count"] > patch[0] * patch[1]
            shape = (patch[1] + (more and axis == 1), patch[0] + (more and axis == 0))
            values = np.frombuffer(data, np.float64, chunk["count"], chunk["offset"])
            whole[y : y + shape[0], x : x + shape[1]] = values.reshape(shape)
    last, first = ((slice(None), -1), (slice(None), 0)) if axis == 0 else (-1, 0)
    if np.isnan(whole[last]).all():
        whole[last] = whole[first]
    assert not np.isnan(whole).any()
    return whole


def test_every_so_much_time_after_the_first_step_that_reaches_it(run, tmp_path):
    case = changed(tmp_path, "heat", "\n[output]\ninterval = 0.004\n", cells="[16, 16, 16]", error="0.0")
    # Steps go in batches but where a row of the series is due after each.
    run(case, "--out", tmp_path / "out", "--series", 0, layout="2x1")
    run(case, "--out", tmp_path / "plain", "--series", 1, "--fields", 0)
    assert not (tmp_path / "plain" / "fields").exists()
    rows = [line.split(",") for line in (tmp_path / "plain" / "series.csv").read_text().splitlines()[1:]]
    times = {0: 0.0} | {int(row[0]): float(row[1]) for row in rows}
    reached = {min(s for s, t in times.items() if t >= k * 0.004) for k in range(13)}
    shown = {int(name[5:11]): time for name, time in listed(tmp_path / "out")}
    assert shown == {step: times[step] for step in sorted(reached | {max(times)})}


def test_a_field_that_is_not_there_is_refused_with_file_line_and_those_that_are(run, tmp_path):
    case = changed(tmp_path, "advection", STEPS + 'fields = ["temprature"]\n')
    line = case.read_text().splitlines().index('fields = ["temprature"]') + 1
    done = run(case, "--out", tmp_path / "out", layout="2x1", check=False)
    assert done.returncode == 2
    assert done.stderr.count("strata: error") == 1
    for part in (f"{case}:{line}", "output.fields", "'temprature'", "temperature"):
        assert part in done.stderr
    assert not (tmp_path / "out").exists()
    done = run(CASES / "advection.toml", "--fields", 3, check=False)
    assert done.returncode == 2
    assert "--fields without --out" in done.stderr


def test_fields_of_another_run_are_not_mixed_and_a_restart_goes_on(run, tmp_path):
    case = changed(tmp_path, "advection", STEPS, cells="[32, 32]", error="1.0")
    whole, out = tmp_path / "whole", tmp_path / "out"
    run(case, "--out", whole, "--steps", 50, "--series", 0)
    run(case, "--out", out, "--steps", 45, "--checkpoint", 20, "--keep", 0, "--series", 0, layout="2x1")
    done = run(case, "--out", out, "--series", 0, check=False)
    assert "there are field files already" in done.stderr
    for step in (40, 45):
        shutil.rmtree(out / f"checkpoint-{step:06d}")
    run(case, "--out", out, "--restart", out, "--steps", 50, "--series", 0, layout="3x1")
    assert listed(out) == listed(whole)
    assert {name: files(out)[name] for name, _ in listed(out)} == files(whole)


def test_a_run_that_is_killed_leaves_whole_files_alone(front, run, tmp_path):
    case = changed(tmp_path, "advection", "\n[output]\nsteps = 1\n", end="1000.0", error="0.0")
    whole, out = tmp_path / "whole", tmp_path / "out"
    run(case, "--out", whole, "--steps", 60, "--series", 0)
    expected = files(whole)
    for seed in range(3):
        command = [front, "run", case, "--layout", "2x1", "--bind", "none", "--quiet", "--series", "0"]
        with subprocess.Popen(
            [str(w) for w in [*command, "--out", out]], stderr=subprocess.PIPE, start_new_session=True
        ) as going:
            wait_for(lambda: len(steps_in(out / "fields", "grid-*.vtkhdf")) > 5)
            time.sleep(random.Random(seed).random() * 0.05)
            os.killpg(going.pid, signal.SIGKILL)
            going.stderr.read()  # until the last of its processes is gone
        found = files(out)
        assert len(found) > 5
        for name, content in found.items():
            if name in expected:
                assert content == expected[name]
        for name, _ in listed(out):
            assert name in found
        shutil.rmtree(out)


def wait_for(condition, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_over_several_nodes_the_same_bytes(front, run, tmp_path):
    """One machine that plays two nodes of two ranks each."""
    case = changed(tmp_path, "vortex", STEPS, cells="[64, 48]", patch="[16, 12]", error="1.0")
    one, four = tmp_path / "one", tmp_path / "four"
    words = ("--steps", "25", "--checkpoint", "25", "--quiet")
    run(case, "--out", one, *words[:-1])
    over_nodes(4, 2, solver_program(front, "strata-transport"), case, "--out", four, *words)
    assert files(four) == files(one)
    assert checksums(four / "checkpoint-000025") == checksums(one / "checkpoint-000025")
