"""`strata run`: a case from its file to result.json, and how it fails."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from solver_cases import CASES, changed

ROOT = Path(__file__).resolve().parents[3]


def run(front: str, *words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([front, "run", *map(str, words)], capture_output=True, text=True, timeout=120)
    if check:
        assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("name", "cells", "limit"),
    [("heat", "[64, 64, 64]", 6e-5), ("advection", "[128, 128]", 6e-3), ("vortex", "[128, 128]", 5.5e-3)],
)
def test_each_case_ends_verified_against_its_exact_solution(front, tmp_path, name, cells, limit):
    out = tmp_path / "out"
    case = CASES / f"{name}.toml"  # as it is: its limit leaves half as much room as it needs
    done = run(front, case, "--layout", "2x1", "--bind", "none", "--out", out)
    assert "verified:" in done.stdout
    result = json.loads((out / "result.json").read_text())
    assert result["schema"] == "strata.result/1"
    assert result["verified"] is True
    assert limit / 2 < result["verification"]["value"] <= limit
    assert result["verification"]["limit"] == limit
    assert result["processes"] == 2
    assert result["parameters"]["grid.cells"] == cells
    assert {"time of a step", "cells updated", "error"} <= {f["name"] for f in result["figures"]}


def test_the_result_is_the_same_for_every_layout(front, tmp_path):
    case = changed(tmp_path, "vortex", cells="[64, 64]", patch="[16, 16]", error="1.0")
    errors = set()
    for layout in ("1x1", "2x1", "1x2", "4x1"):
        out = tmp_path / layout
        run(front, case, "--layout", layout, "--bind", "none", "--out", out)
        errors.add(json.loads((out / "result.json").read_text())["verification"]["value"])
    assert len(errors) == 1


def test_a_result_beyond_its_limit_is_not_verified_and_fails(front, tmp_path):
    case = changed(tmp_path, "advection", cells="[32, 32]")
    done = run(front, case, "--out", tmp_path / "out", check=False)
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout
    assert json.loads((tmp_path / "out" / "result.json").read_text())["figures"] == []


def test_a_case_without_criteria_never_says_verified(front, tmp_path):
    case = changed(tmp_path, "heat", cells="[8, 8, 8]", patch="[8, 8, 8]", error="0.0")
    done = run(front, case, "--out", tmp_path / "out")
    assert "  nothing verified, since the case gives no limit (verify.error): what was lost" in done.stdout
    assert "  verified" not in done.stdout
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["verified"] is None and result["verification"]["unasked"].endswith("(verify.error)")
    assert result["figures"]  # the solver's own rule holds


@pytest.mark.parametrize(
    ("name", "changes", "why"),
    [
        # exp(-3 pi^2) of the cosines is left: 1e-13 K, far below verify.error.
        ("heat", {"cells": "[8, 8, 8]", "patch": "[8, 8, 8]", "end": "1.0"}, "allows the background alone"),
        (
            "advection",
            {"cells": "[32, 32]\nperiodic = false", "error": "0.0", "end": "3.0"},
            "flow through walls",
        ),
    ],
)
def test_where_nothing_is_left_to_compare_a_result_is_not_verified(front, tmp_path, name, changes, why):
    done = run(front, changed(tmp_path, name, **changes), "--out", tmp_path / "out")
    assert re.search(rf"not verified: .*{why}; no figures", done.stdout)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["verified"] is False
    assert result["figures"] == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cfl": "-1"}, ("time.cfl", "given: -1", "> 0, up to 4")),
        ({"cells": "[64]"}, ("grid.cells", "2 to 3 entries")),
        ({"velocity": "[1.0, 1.0]\nvelocty = 1"}, ("advection.velocty", "advection.velocity?")),
        ({"equation": '"heath"'}, ("equation", '"heat"')),
        ({"solver": '"transprot"'}, ("there is no such solver", "transprot")),
        ({"patch": "[32]"}, ("grid.patch",)),
    ],
)
def test_a_wrong_key_gives_one_error_with_file_line_key_and_what_is_allowed(front, tmp_path, changes, says):
    case = changed(tmp_path, "advection", **changes)
    done = run(front, case, "--layout", "2x1", "--bind", "none", check=False)
    assert done.returncode == 2
    assert done.stderr.count("strata: error") == 1
    key = next(iter(changes))
    after = 1 if "\n" in changes[key] else 0
    line = (
        1
        + after
        + next(i for i, text in enumerate(case.read_text().splitlines()) if text.startswith(f"{key} ="))
    )
    assert f"{case}:{line}" in done.stderr
    for part in says:
        assert part in done.stderr


def test_a_step_that_turns_unstable_ends_the_run_once_with_patch_step_and_label(front, tmp_path):
    case = changed(tmp_path, "advection", cfl="4", end="1000.0")
    done = run(front, case, "--layout", "2x1", "--bind", "none", "--out", tmp_path / "out", check=False)
    assert done.returncode == 1
    assert done.stderr.count("the step is unstable: 'temperature'") == 1
    assert re.search(r"task 'advect, second stage', patch \d+ of 'grid', step \d+", done.stderr)
    assert not (tmp_path / "out" / "result.json").exists()


@pytest.mark.parametrize("layout", ["2x1", "4x1", "2x2"])
def test_members_that_become_unstable_at_once_give_one_error(front, tmp_path, layout):
    case = changed(
        tmp_path, "heat", cells="[32, 32, 32]", patch="[16, 16, 16]", cfl="4", end="1000.0", error="0"
    )
    for _ in range(5):  # each patch of the symmetric profile in the same step
        done = run(front, case, "--layout", layout, "--bind", "none", "--quiet", check=False)
        assert done.returncode == 1
        assert done.stderr.count("error") == 1, done.stderr
        assert re.search(r"task 'conduct', patch \d+ of 'grid', step \d+: the step is unstable", done.stderr)


def test_help_lists_the_keys_of_a_case(front):
    text = run(front, "transport", "--help").stdout
    for part in ("--steps", "[grid]", "diffusivity", "m2/s", "default", "required", "examples"):
        assert part in text
    assert text.startswith("usage: strata run [options] CASE\n")
    assert "strata run cases/transport/NAME.toml --out run --restart run --layout 4x1" in text
    assert "--layout" in run(front, "--help").stdout


def test_what_the_tutorial_shows_is_what_its_programs_are():
    programs = [ROOT / "examples" / "heat" / "heat.cpp"]
    programs += [ROOT / "tests" / "solvers" / "programs" / "coupled.cpp"]
    shown = [" ".join(each.read_text().split()) for each in programs]
    page = (ROOT / "docs" / "write-a-solver.md").read_text()
    blocks = re.findall(r"```cpp\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        assert any(" ".join(block.split()) in program for program in shown), block


def values(folder: Path) -> dict[tuple[str, int, int], str]:
    """(label, patch, generation) -> checksum, of a checkpoint's values, whichever process wrote them."""
    labels = [label["name"] for label in json.loads((folder / "checkpoint.json").read_text())["labels"]]
    found = {}
    for index in folder.glob("part-*.index"):
        for line in index.read_text().splitlines():
            chunk = json.loads(line)
            if "label" in chunk:
                found[labels[chunk["label"]], chunk["patch"], chunk["generation"]] = chunk["crc32c"]
    return found


@pytest.mark.parametrize(
    ("name", "cells", "patch"), [("vortex", "[64, 64]", "[16, 16]"), ("heat", "[24, 24, 24]", "[8, 12, 8]")]
)
def test_a_restart_on_another_layout_goes_on_bit_for_bit(front, tmp_path, name, cells, patch):
    case = changed(tmp_path, name, cells=cells, patch=patch, error="1.0")
    whole, first, then = (tmp_path / part for part in ("whole", "first", "then"))
    quiet = ("--bind", "none", "--quiet")
    run(front, case, "--layout", "1x2", *quiet, "--out", whole, "--steps", 60, "--checkpoint", 60)
    run(front, case, "--layout", "2x1", *quiet, "--out", first, "--steps", 30, "--checkpoint", 30)
    run(
        front,
        case,
        "--layout",
        "3x1",
        *quiet,
        "--out",
        then,
        "--restart",
        first,
        "--steps",
        60,
        "--checkpoint",
        60,
    )
    expected = values(whole / "checkpoint-000060")
    assert ("temperature", 0, 0) in expected
    assert values(then / "checkpoint-000060") == expected
    assert values(first / "checkpoint-000030") != expected
    # In the folder of the first part the series goes on as well: the same rows as in one go.
    run(front, case, "--layout", "1x1", *quiet, "--out", first, "--restart", first, "--steps", 60)
    assert (first / "series.csv").read_text() == (whole / "series.csv").read_text()


def test_a_checkpoint_of_another_case_is_refused(front, tmp_path):
    case = changed(tmp_path, "advection", cells="[32, 32]", error="1.0")
    run(front, case, "--out", tmp_path / "out", "--steps", 4, "--checkpoint", 4, "--quiet")
    other = changed(tmp_path, "advection", cells="[32, 32]", error="1.0", width="0.2")
    done = run(front, other, "--restart", tmp_path / "out", check=False)
    assert done.returncode == 2
    assert "another case" in done.stderr
    later = changed(tmp_path, "advection", cells="[32, 32]", error="0.5")  # decides nothing
    run(front, later, "--restart", tmp_path / "out", "--steps", 6, "--quiet")
    done = run(front, later, "--restart", tmp_path, check=False)
    assert "there is no checkpoint to go on from" in done.stderr


def test_profile_and_timeline_show_the_tasks(front, tmp_path):
    out = tmp_path / "out"
    words = (
        "--layout",
        "2x1",
        "--bind",
        "none",
        "--out",
        out,
        "--steps",
        50,
        "--profile",
        "--timeline",
        "--quiet",
    )
    case = changed(tmp_path, "advection")
    done = run(front, case, *words)
    assert "advect, second stage" in done.stdout
    profile = json.loads((out / "profile.json").read_text())
    rows = {row["name"]: row for row in profile["rows"]}
    assert profile["processes"] == 2
    assert rows["advect, first stage"]["calls"] == 50 * 16  # steps x patches
    assert rows["advect, first stage"]["declared_bytes"] == 50 * 128 * 128 * 32
    first = rows["advect, first stage"]
    assert first["gb_per_second"] == pytest.approx(1e-9 * first["declared_bytes"] / first["seconds"])
    assert 0 < profile["runtime_share"] < 1
    events = json.loads((out / "trace.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events if event["ph"] == "X"} == {0, 1}


def test_a_run_accounts_for_all_of_its_time(front, tmp_path):
    case, out = changed(tmp_path, "heat", cells="[128, 128, 128]", error="0.5", end="0.002"), tmp_path / "out"
    began = time.monotonic()
    done = run(front, case, "--out", out, "--profile", "--fields", 20, "--checkpoint", 40)
    took = time.monotonic() - began
    assert re.match(r"in all \S+ s: (\S+( \S+)? \S+ m?s, )+other ", done.stdout.splitlines()[-1])
    result = json.loads((out / "result.json").read_text())
    phases = result["phases_s"]
    assert list(phases) == [
        *("start", "plan", "start values", "between steps", "fields", "steps", "checkpoints", "comparison"),
        "profile",
    ]
    assert sum(phases.values()) == pytest.approx(result["wall_s"])
    assert phases["steps"] == pytest.approx(result["steps_s"])
    # It holds all that is written, and lies in what passed here. The kernel rounds a start to 10 ms.
    written = [file.stat().st_mtime for file in out.rglob("*") if file.is_file()]
    assert max(written) - min(written) - 0.02 < result["wall_s"] < took + 0.02
    told = json.loads((out / "profile.json").read_text())["phases_seconds"]
    assert list(told) == list(phases) and told["steps"] == phases["steps"]


def test_a_run_that_failed_ends_with_the_reason(front, tmp_path):
    done = run(front, changed(tmp_path, "advection", cells="[32, 32]"), check=False)
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stdout.splitlines()[-1] and "\nin all " in done.stdout


def test_the_graph_is_printed_without_a_run(front, tmp_path):
    document = json.loads(run(front, CASES / "vortex.toml", "--graph").stdout)
    assert document["schema"] == "strata.graph/1"
    assert "advect, first stage" in json.dumps(document)


def reached(out: Path, step: int) -> None:
    """Waits until a run that goes on has done so many steps."""
    from strata.run.control import ask

    deadline = time.monotonic() + 120
    while ask(out, {"get": "status"})["step"] < step:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_run_answers_while_it_goes_on(front, tmp_path):
    from strata.run.control import ask

    case = changed(tmp_path, "heat", cells="[32, 32, 32]", end="1000.0", error="0.0")
    out = tmp_path / "out"
    words = [front, "run", case, "--layout", "2x1", "--bind", "none", "--out", out, "--quiet"]
    with subprocess.Popen(
        [str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as going:
        try:
            deadline = time.monotonic() + 120
            while not (out / "control" / "control.sock").exists():
                assert going.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert ask(out, {"get": "status"})["end_time"] == 1000.0
            reached(out, 20)  # every tenth step is in the series
            answer = ask(out, {"set": {"cfl": 0.25}})
            assert answer["before_step"] >= 1
            (cfl,) = ask(out, {"get": "parameters"})["parameters"]
            assert cfl["name"] == "cfl"
            reached(out, answer["before_step"] + 20)
            after = ask(out, {"do": "checkpoint"})["after_step"]
            ask(out, {"do": "stop"})
            going.wait(30)
        finally:
            going.kill()
    assert going.returncode == 0
    head = json.loads((out / f"checkpoint-{after:06d}" / "checkpoint.json").read_text())
    assert head["step"] == after
    assert {"name": "cfl", "value": 0.25} in head["parameters"]
    # Steps are shorter from then on, and not before.
    rows = [line.split(",") for line in (out / "series.csv").read_text().splitlines()[1:]]
    first = float(rows[0][2])
    before, later = (
        [float(row[2]) for row in rows if (int(row[0]) >= answer["before_step"]) == late]
        for late in (False, True)
    )
    assert before == pytest.approx([first] * len(before)) and before
    assert later == pytest.approx([0.25 / 0.9 * first] * len(later)) and later


def test_a_run_that_stops_before_its_end_is_not_verified_and_has_no_figures(
    front: str, tmp_path: Path
) -> None:
    done = run(front, CASES / "heat.toml", "--steps", 3, "--quiet", "--out", tmp_path / "out")
    assert "not verified: stopped before the end of the case; no figures" in done.stdout
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["verified"] is False
    assert result["figures"] == []
    assert result["verification"]["value"] is None
