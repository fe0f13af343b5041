"""What a restart may change in a case, what it says of other keys, and what it does when nothing is left."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from solver_cases import ROOT_OF_SOLVERS, SOFT, checksums, crystal

HEAT = """solver = "transport"
equation = "heat"
[grid]
cells = [8, 8, 8]
patch = [8, 8, 4]
[heat]
diffusivity = 1.0
[profile]
waves = [1, 1, 1]
[time]
end = {end}
[verify]
error = {error}
"""
VORTEX = """solver = "transport"
equation = "advection"
[grid]
cells = [16, 16]
[advection]
flow = "{flow}"
[profile]
kind = "gaussian"
centre = [0.5, 0.5]
width = 0.2
[time]
end = {end}
"""
BLOCK = f"""solver = "mpm"
[grid]
cells = [6, 6, 6]
size = [0.6, 0.6, 0.6]
{SOFT}[[bodies]]
shape = "box"
from = [0.2, 0.2, 0.2]
to = [0.4, 0.4, 0.4]
velocity = [0.1, 0.0, 0.0]
[time]
end = {{end}}
"""
ATOMS = f"""{crystal(1.0)}cutoff = 2.0
[thermostat]
kind = "langevin"
temperature = 1.0
[time]
steps = {{end}}
[output]
thermo = 2
[verify]
drift = 100.0
"""
DOWNHILL = f"""{crystal(0)}cutoff = 2.0
[time]
method = "fire"
steps = 9
[minimise]
force = {{end}}
"""
FLOW = """solver = "flow"
[grid]
kind = "brick"
cells = [8, 8]
periodic = [1, 2]
[flow]
equations = "euler"
mach = 0.5
initial = "vortex"
[time]
"""
STEADY = FLOW + 'kind = "steady"\niterations = 9\nresidual = {end}\n'
UNSTEADY = FLOW + 'kind = "unsteady"\nstep = 0.01\nend = {end}\n'
IN_PYTHON = (ROOT_OF_SOLVERS / "transport" / "heat.py",)
# name -> words before the case, the case, an end, a later end
ENDS = {
    "transport": ((), HEAT, "0.002", "0.004"),
    "python": (IN_PYTHON, HEAT, "0.002", "0.004"),
    "mpm": ((), BLOCK, "0.01", "0.02"),
    "md": ((), ATOMS, "4", "8"),
    "md, minimising": ((), DOWNHILL, "1e9", "1e-9"),
    "flow": ((), UNSTEADY, "0.02", "0.04"),
    "flow, steady": ((), STEADY, "1e9", "0.0"),
}


def strata(front: str, *words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [front, "run", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)


def went(front: str, *words: object, cwd: Path | None = None) -> str:
    done = strata(front, *words, cwd=cwd)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def case(folder: Path, text: str, **values: str) -> Path:
    file = folder / "case.toml"
    file.write_text(text.format(**{"error": "0.5", **values}))
    return file


def all_files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Time of the last change and content of each file."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def last_step(run: Path) -> int:
    return max(int(path.name.split("-")[1]) for path in run.glob("checkpoint-*"))


@pytest.mark.parametrize("name", ENDS)
def test_a_run_that_has_come_to_its_end_has_nothing_left_to_do_and_goes_on_to_a_later_one(
    front, tmp_path, name
):
    words, text, end, later = ENDS[name]
    run = tmp_path / "run"
    file = case(tmp_path, text, end=end)
    went(front, *words, file, "--out", run, "--checkpoint", 1000, "--quiet")
    step, before = last_step(run), all_files(run)
    for more in ([], ["--steps", step + 5], ["--out", run, "--checkpoint", 1]):
        said = went(front, *words, file, "--restart", run, *more)
        assert re.fullmatch(
            rf"nothing left to do: \S+checkpoint-{step:06} is the end of the case \(step {step}, .*\), "
            r"with its result in \S+result.json; a restart goes on where .* says a later end\n",
            said,
        ), said
        assert all_files(run) == before
    said = went(
        front, *words, case(tmp_path, text, end=later), "--restart", run, "--out", run, "--checkpoint", 1
    )
    assert f"went on from {run}/checkpoint-{step:06}" in said
    assert last_step(run) > step


def test_a_restart_that_is_asked_for_no_further_step_does_none(front, tmp_path):
    run = tmp_path / "run"
    file = case(tmp_path, HEAT, end="1.0")
    went(front, file, "--out", run, "--steps", 6, "--checkpoint", 6, "--quiet")
    before = all_files(run)
    said = went(front, file, "--out", run, "--restart", run, "--steps", 4)
    assert "is the state after step 6, and --steps 4 asks for no more" in said
    assert all_files(run) == before


def test_rounding_leaves_nothing_to_do_either(front, tmp_path):
    """Eleven steps of 0.03 end at 0.32999999999999996, which is the end of a case that ends at 0.33."""
    run = tmp_path / "run"
    text = UNSTEADY.replace("step = 0.01", "step = 0.03")
    words = ("--out", run, "--steps", 11, "--checkpoint", 11, "--quiet")
    went(front, case(tmp_path, text, end="0.66"), *words)
    said = went(front, case(tmp_path, text, end="0.33"), "--restart", run)
    assert "checkpoint-000011 is the end of the case (step 11, t = 0.33 L/a)" in said


def test_a_restart_begins_at_the_time_of_its_checkpoint(front, tmp_path):
    """Also where a solver makes the time anew in each step."""
    run = tmp_path / "run"
    went(front, case(tmp_path, ATOMS, end="4"), "--out", run, "--checkpoint", 4, "--quiet")
    done = strata(front, case(tmp_path, ATOMS, end="8"), "--restart", run)
    assert "step 4, 50 %, t = 0.02 of 0.04 tau\n" in done.stderr


def test_a_later_end_changes_no_step_before_it(front, tmp_path):
    """From a checkpoint before the first end, a longer run has the bits of one in one go."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    went(front, case(tmp_path, HEAT, end="0.01"), "--out", whole, "--steps", 7, "--checkpoint", 7, "--quiet")
    went(front, case(tmp_path, HEAT, end="0.005"), "--out", parts, "--steps", 3, "--checkpoint", 3, "--quiet")
    longer = case(tmp_path, HEAT, end="0.01")
    went(front, longer, "--out", parts, "--restart", parts, "--steps", 7, "--checkpoint", 7, "--quiet")
    assert checksums(parts / "checkpoint-000007") == checksums(whole / "checkpoint-000007")


def test_keys_that_a_restart_may_not_change_are_named_with_both_values(front, tmp_path):
    run = tmp_path / "run"
    went(front, case(tmp_path, HEAT, end="1.0"), "--out", run, "--steps", 2, "--checkpoint", 2, "--quiet")
    other = HEAT.replace("diffusivity = 1.0", "diffusivity = 2.5").replace("waves = [1,", "waves = [2,")
    file = case(tmp_path, other, end="3.0", error="0")
    done = strata(
        front, file, "--layout", "2x1", "--bind", "none", "--out", tmp_path / "out", "--restart", run
    )
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1
    assert f"at: {file}:7 heat.diffusivity\n" in done.stderr
    assert "heat.diffusivity (line 7) is 2.5, in the checkpoint 1; " in done.stderr
    assert "profile.waves (line 9) is [2, 1, 1], in the checkpoint [1, 1, 1]; " in done.stderr
    assert f"the checkpoint is {run}/checkpoint-000002" in done.stderr
    assert "time.end" in re.search(r"allowed: .* a restart may change (.*) alone", done.stderr)[1]
    assert "--restart" in re.search(r"try: (.*)", done.stderr)[1]
    assert "time.end is" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [(), (ROOT_OF_SOLVERS / "transport" / "advection.py",)])
def test_the_end_of_a_flow_that_turns_round_at_half_of_it_stays(front, tmp_path, words):
    run = tmp_path / "run"
    first = case(tmp_path, VORTEX, flow="vortex", end="1.0")
    went(front, *words, first, "--out", run, "--steps", 2, "--checkpoint", 2, "--quiet")
    done = strata(front, *words, case(tmp_path, VORTEX, flow="vortex", end="2.0"), "--restart", run)
    assert done.returncode == 2
    assert "time.end (line 12) is 2, in the checkpoint 1;" in done.stderr
    went(
        front,
        *words,
        case(tmp_path, VORTEX, flow="uniform", end="1.0"),
        "--out",
        tmp_path / "even",
        "--steps",
        2,
        "--checkpoint",
        2,
        "--quiet",
    )
    even = case(tmp_path, VORTEX, flow="uniform", end="2.0")
    went(front, *words, even, "--restart", tmp_path / "even", "--steps", 4, "--quiet")


def test_a_checkpoint_of_another_solver_is_refused_as_such(front, tmp_path):
    run = tmp_path / "run"
    went(front, case(tmp_path, HEAT, end="1.0"), "--out", run, "--steps", 2, "--checkpoint", 2, "--quiet")
    done = strata(front, case(tmp_path, ATOMS, end="4"), "--restart", run)
    assert done.returncode == 2
    assert "the checkpoint is of another solver" in done.stderr
    assert "given: transport\n" in done.stderr


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def with_head(checkpoint: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes a checkpoint's head, and seals it again."""
    file = checkpoint / "checkpoint.json"
    head = json.loads(file.read_text())
    del head["crc32c"]
    change(head)
    text = json.dumps(head, separators=(",", ":"))[:-1]
    file.write_text(f'{text},\n"crc32c":"{crc32c(text.encode()):08x}"}}\n')


def as_before(head: dict[str, Any]) -> None:
    """Without what earlier versions did not write."""
    for name in ("ended", "keys", "facts"):
        del head[name]


def test_a_checkpoint_of_an_earlier_version_goes_on_where_its_checksum_fits(front, tmp_path):
    run = tmp_path / "run"
    went(front, case(tmp_path, HEAT, end="1.0"), "--out", run, "--steps", 2, "--checkpoint", 2, "--quiet")
    with_head(run / "checkpoint-000002", as_before)
    same = case(tmp_path, HEAT, end="1.0", error="0.1")
    went(front, same, "--restart", run, "--steps", 4, "--quiet")
    done = strata(front, case(tmp_path, HEAT.replace("[1, 1, 1]", "[2, 1, 1]"), end="1.0"), "--restart", run)
    assert done.returncode == 2
    assert "an earlier version of Strata kept no more of a case" in done.stderr


def test_a_damaged_checkpoint_that_is_passed_over_is_named(front, tmp_path):
    run = tmp_path / "run"
    file = case(tmp_path, HEAT, end="1.0")
    went(front, file, "--out", run, "--steps", 4, "--checkpoint", 2, "--quiet")
    (run / "checkpoint-000004" / "checkpoint.json").write_text("{")
    done = strata(front, file, "--layout", "2x1", "--bind", "none", "--restart", run, "--steps", 6)
    assert done.returncode == 0
    assert done.stderr.count(f"a checkpoint is passed over: {run}/checkpoint-000004") == 1
    assert f"went on from {run}/checkpoint-000002" in done.stdout


def test_a_restart_from_a_checkpoint_itself_says_which_folder_is_meant(front, tmp_path):
    run = tmp_path / "run"
    file = case(tmp_path, HEAT, end="1.0")
    went(front, file, "--out", run, "--steps", 2, "--checkpoint", 2, "--quiet")
    done = strata(front, file, "--restart", run / "checkpoint-000002")
    assert done.returncode == 2
    assert f"this is a checkpoint itself: --restart {run}/ goes on" in done.stderr


def test_steps_before_and_after_a_later_end_are_replayed_apart(front, tmp_path):
    run = tmp_path / "run"
    went(front, case(tmp_path, HEAT, end="0.005"), "--out", run, "--checkpoint", 3, "--keep", 0, "--quiet")
    end = last_step(run)
    longer = case(tmp_path, HEAT, end="0.01")
    went(front, longer, "--out", run, "--restart", run, "--checkpoint", 3, "--keep", 0, "--quiet")
    replay = [front, "replay", str(run), "--steps"]
    across = subprocess.run([*replay, f"{end - 1}:{end + 2}"], capture_output=True, text=True, timeout=60)
    assert across.returncode == 2
    assert f"a restart changed the case at step {end}" in across.stderr
    for window in (f"{end - 1}:{end}", f"{end + 1}:{end + 3}"):
        done = subprocess.run([*replay, window], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


NEXT = """solver = "md"
[system]
file = "{state}"
[pair]
cutoff = 2.0
[neighbours]
every = 1
[time]
step = {step}
steps = 20
[verify]
drift = 100.0
"""


def test_a_case_that_begins_with_a_checkpoint_goes_on_with_its_bits(front, tmp_path):
    """Without a thermostat, and with lists made in every step, two cases are one run."""
    alone = ATOMS.replace('kind = "langevin"', 'kind = "none"').replace("temperature = 1.0\n[time]", "[time]")
    alone = alone.replace("[pair]", "[neighbours]\nevery = 1\n[pair]")
    went(front, case(tmp_path, alone, end="40"), "--out", tmp_path / "one", "--checkpoint", 20, "--quiet")
    state = tmp_path / "one" / "checkpoint-000020"
    production = case(tmp_path, NEXT, state=str(state.relative_to(tmp_path)), step="0.005")
    went(front, production, "--out", tmp_path / "two", "--checkpoint", 20, "--quiet", cwd=tmp_path.parent)
    from strata.md import checkpoints
    from strata.run import series

    one = checkpoints.read(tmp_path / "one" / "checkpoint-000040")
    two = checkpoints.read(tmp_path / "two" / "checkpoint-000020")
    assert np.array_equal(one.ids, two.ids) and len(one.ids) == 256
    for label in ("position", "velocity"):
        assert np.array_equal(one[label], two[label])
    # The state's own energies and pressure, as the first case had them, but for sums in another order.
    before, first = series.read(tmp_path / "one"), series.read(tmp_path / "two")
    at = list(before["step"]).index(20)
    for name in ("temperature", "potential energy", "kinetic energy", "pressure"):
        assert first[name][0] == pytest.approx(before[name][at], rel=1e-6)


def facts(checkpoint: Path) -> dict[str, list[float]]:
    head = json.loads((checkpoint / "checkpoint.json").read_text())
    return {fact["name"]: fact["values"] for fact in head["facts"]}


def test_a_case_begins_with_the_box_of_the_moment_and_with_velocities_of_the_same_time(front, tmp_path):
    barostat = (
        '[barostat]\nkind = "c-rescale"\npressure = 2.0\ntime = 0.5\ncompressibility = 0.2\nevery = 1\n[time]'
    )
    squeezed = ATOMS.replace("[time]", barostat)
    went(front, case(tmp_path, squeezed, end="10"), "--out", tmp_path / "one", "--checkpoint", 10, "--quiet")
    state = tmp_path / "one" / "checkpoint-000010"
    # In so short a step nothing moves, and velocities are those of the state's own time.
    production = case(tmp_path, NEXT, state=str(state), step="1e-300")
    out = tmp_path / "two"
    went(front, production, "--out", out, "--checkpoint", 1, "--steps", 1, "--series", 1, "--quiet")
    from strata.md import checkpoints

    one, two = checkpoints.read(state), checkpoints.read(out / "checkpoint-000001")
    assert one.scale != 1 and two.scale == 1
    places = one.scale * one["position"]
    box = facts(out / "checkpoint-000001")["box length"]
    assert box == facts(state)["box length"]
    first = facts(state)["scale"][0]
    assert first == one.scale and box[0] == first * (256 / 0.8) ** (1 / 3)
    inside = np.all((places >= 0) & (places < np.array(box)), axis=1)
    assert inside.sum() > 200
    assert np.array_equal(two["position"][inside], places[inside])
    assert not np.array_equal(two["velocity"], one["velocity"])
    assert np.allclose(two["velocity"], one["velocity"], atol=0.5)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('file = "run/checkpoint-000004"', 'file = "run"'), "checkpoint-000004, its last one"),
        (("[pair]", '[kinds]\nnames = ["Ar"]\n[pair]'), 'given: kinds.names = ["X"]'),
        (("[pair]", 'units = "metal"\n[pair]'), 'given: system.units = "lj"'),
        (('file = "run/checkpoint-000004"', 'file = "walk/checkpoint-000004"'), "there is no such file"),
    ],
)
def test_a_state_that_does_not_fit_the_case_is_refused_with_what_differs(front, tmp_path, change, says):
    went(front, case(tmp_path, ATOMS, end="4"), "--out", tmp_path / "run", "--checkpoint", 4, "--quiet")
    wrong = NEXT.replace("{state}", "run/checkpoint-000004").replace(*change)
    done = strata(front, case(tmp_path, wrong, step="0.005"))
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1
    assert says in done.stderr


def without_masses(head: dict[str, Any]) -> None:
    head["facts"] = [fact for fact in head["facts"] if fact["name"] != "masses"]


def without_length(head: dict[str, Any]) -> None:
    next(fact for fact in head["facts"] if fact["name"] == "box length")["values"] = [0, 5, 5]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (as_before, "does not say how large its box is"),
        (without_masses, "checkpoint.json masses\n  given: none\n"),
        (without_length, "given: 0 x 5 x 5, scale 1\n"),
    ],
)
def test_a_state_that_lacks_what_a_case_needs_is_refused(front, tmp_path, change, says):
    went(front, case(tmp_path, ATOMS, end="4"), "--out", tmp_path / "run", "--checkpoint", 4, "--quiet")
    with_head(tmp_path / "run" / "checkpoint-000004", change)
    done = strata(front, case(tmp_path, NEXT, state="run/checkpoint-000004", step="0.005"))
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1
    assert says in done.stderr


def test_a_restart_of_another_ensemble_says_how_a_new_case_begins_with_the_state(front, tmp_path):
    run = tmp_path / "run"
    went(front, case(tmp_path, ATOMS, end="4"), "--out", run, "--checkpoint", 4, "--quiet")
    other = ATOMS.replace('kind = "langevin"', 'kind = "v-rescale"')
    done = strata(front, case(tmp_path, other, end="8"), "--restart", run)
    assert done.returncode == 2
    assert 'thermostat.kind (line 9) is "v-rescale", in the checkpoint "langevin"' in done.stderr
    assert 'system.file = "RUN/checkpoint-NNNNNN"' in done.stderr
