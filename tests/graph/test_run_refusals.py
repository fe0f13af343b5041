"""What a run cannot begin with is said once, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAT = ROOT / "cases" / "transport" / "heat.toml"
FRONT = os.environ.get("STRATA_BIN") or str(
    Path(os.environ.get("STRATA_PREFIX", "/nowhere"), "bin", "strata")
)

pytestmark = pytest.mark.skipif(
    not os.access(FRONT, os.X_OK), reason="no strata: STRATA_BIN does not say where"
)


def strata(*words: object) -> subprocess.CompletedProcess[str]:
    environment = {"STRATA_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "python"), **os.environ}
    command = [FRONT, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    if re.search("there is no such solver|solver.s program was not found", done.stderr):
        pytest.skip("the solvers are not built (toml++)")
    return done


def run(out: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return strata("run", HEAT, "--layout", "2x1", "--bind", "none", "--quiet", "--out", out, *words)


@pytest.mark.parametrize("place", ["", "nothing", "file"])
def test_a_restart_from_what_is_no_run_makes_no_folder(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    done = run(tmp_path / "out", "--restart", tmp_path / place)
    assert done.returncode == 2
    assert done.stderr.startswith("strata: error: there is no checkpoint to go on from\n")
    assert done.stderr.count("error") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_damaged_checkpoint_makes_no_folder(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-000005").mkdir()
    (tmp_path / "checkpoint-000005" / "checkpoint.json").write_text("{")
    done = run(tmp_path / "out", "--restart", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("there is no checkpoint to go on from") == 1
    assert f"damaged: {tmp_path}/checkpoint-000005" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run(tmp_path / "file" / "out")
    assert done.returncode == 1
    assert done.stderr.count("the folder of the results cannot be made: Not a directory") == 1
    for part in (f"at: {tmp_path}/file/out", "try: --out FOLDER"):
        assert part in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'cells = "many"',
            (":2 grid.cells", "given: 'many'", "allowed: whole numbers", "try: strata run tran"),
        ),
        ("cells = [", (":2", "this is no TOML", "given: grid.cells = [")),
        (
            "patch = [4, 4]",
            ("toml equation", "a key is missing", "allowed: text", "try: strata run tran"),
        ),
    ],
)
def test_a_wrong_case_is_refused_by_the_run_and_by_the_drawing_in_the_same_words(
    tmp_path: Path, text: str, said: tuple[str, ...]
) -> None:
    case = tmp_path / "case.toml"
    case.write_text(f'solver = "transport"\ngrid.{text}\n')
    refused = strata("run", case)
    assert refused.returncode == 2 and refused.stderr.count("error:") == 1
    for part in said:
        assert part in refused.stderr
    if "no TOML" not in refused.stderr:  # that one Python sees first
        shown = strata("graph", "show", case)
        assert (shown.returncode, shown.stderr.strip()) == (2, refused.stderr.strip())


@pytest.mark.parametrize(
    "start",
    [
        '"solver" = "transport"',
        "'solver' = 'transport' # heat",
        "\ufeffsolver = 'transport'",
        'solver = """transport"""',
        "solver = '''\ntransport'''",
        'solver = """\\\n    trans\\\n    port"""',
        '"s\\u006flver" = "tr\\u0061nsport"',
        "time.end = [\n]\nsolver = 'transport'",
        'equation = """\nsolver = "md"\n"""\nsolver = "transport"',
    ],
)
def test_the_solver_is_named_in_any_form_of_toml(tmp_path: Path, start: str) -> None:
    """The solver that is started knows what is wrong with the last two."""
    case = tmp_path / "case.toml"
    wrong = start.count("=") > 1
    case.write_text(start + "\n" + ("" if wrong else HEAT.read_text().replace('solver = "transport"\n', "")))
    done = strata("run", case, "--steps", 1, "--quiet")
    assert done.returncode == (2 if wrong else 0), done.stderr
    assert not wrong or "a key has a value that it cannot have" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'solver = "transport" "heat"\n',
            ("this is not TOML: ", ":1\n", 'given: solver = "transport" "heat"'),
        ),
        ("# heat\nsolver = transport\n", ("this is not TOML: ", ":2\n", "given: solver = transport")),
        ('solver = """transport\n', ("this is not TOML: ", "case.toml")),
        ("solver = ['transport']\n", ("a case says which solver", ":1 solver\n", 'given: ["transport"]')),
        ("solver.name = 'transport'\n", ("a case says which solver", ":1 solver\n", "given: a table")),
    ],
)
def test_what_names_no_solver_in_toml_is_refused_with_its_line(
    tmp_path: Path, text: str, said: tuple[str, ...]
) -> None:
    case = tmp_path / "case.toml"
    case.write_text(text)
    done = strata("run", case)
    assert done.returncode == 2 and done.stderr.count("error: ") == 1
    for part in said:
        assert part in done.stderr


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("[grid]\ncells = [8, 8]\n", "no key solver"),
        ('[grid]\nsolver = "transport"\n', "a key solver in line 2, in [grid]"),
    ],
)
def test_a_case_that_names_no_solver_is_told_what_it_has(tmp_path: Path, text: str, given: str) -> None:
    case = tmp_path / "case.toml"
    case.write_text(text)
    done = strata("run", case)
    assert done.returncode == 2
    assert f"given: {given}\n" in done.stderr
    assert f"at: {case} solver\n" in done.stderr


def test_the_graph_of_a_case_is_shown() -> None:
    done = strata("graph", "show", HEAT)
    assert done.returncode == 0, done.stderr
    assert "critical path of a step, the longest chain" in done.stdout and "advance clock" in done.stdout
