"""Claims about `strata study` as a user types it, on the real launcher and benchmarks."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from as_typed import NOTHING, ROOT, TOLERANT, Strata

from strata.characterize.bounds import UNKNOWN, UNMEASURED

# Any program: two settings, a figure that its output holds.
MINE = (
    """
schema = "strata.study/1"
name = "mine"

[[program]]
name = "sh"
command = "sh -c 'echo work {n}; echo rate: {n}.5'"
values = { n = [1, 2] }

[[program.figure]]
name = "rate"
pattern = '^rate: ([0-9.]+)$'
unit = "1/s"

[[layout]]
name = "pinned"

[[layout]]
name = "free"
bind = "none"
options = []
"""
    + TOLERANT
)


# Sizes that say nothing, for each program of the ready studies.
SMALL = {
    "pages --quick": "pages --array 1MiB --duration 5ms",
    "cycles --quick": "cycles --repeats 20 --work 10000",
    "stencil --quick --cells-per-core 128": "stencil --cells-per-core 12 --steps 2 --repeats 2",
    "stencil --quick": "stencil --n 24 --steps 2 --repeats 2",
    "dgemm --quick": "dgemm --n 64 --repeats 1",
    "pingpong --quick": "pingpong --repeats 2 --budget 20ms",
    "rings --quick --rings 4 --repeats 3": "rings --rings 1 --repeats 1",
    "stream --quick --array 2000000 --trials 20": "stream --array 2000000 --trials 2",
    "stream --quick": "stream --array 1MiB --trials 2",
    "lines --quick": "lines --rounds 10",
    "message-rate --quick": "message-rate --bytes 8,64 --repeats 1",
    "clock --quick": "clock --seconds 60ms",
    "#define SECONDS 0.4": "#define SECONDS 0.01",
    "--class A": "--class S",
    "--class W": "--class S",
    "#define WINDOW_S 0.005": "#define WINDOW_S 0.0005",
    "members = [2, 4, 8, 16]": "members = [2, 5]",
    "--duration 500ms": "--duration 10ms",
}
READY = sorted(path.stem for path in (ROOT / "cases" / "studies").glob("*.toml"))
SAMPLE = ("compilers", "cycles", "distance", "pages")  # views, curves and toolchains


def shortened(name: str, tmp_path: Path) -> Path:
    """A study that comes with Strata, with small sizes and limits that nothing breaks."""
    folder = tmp_path / "cases" / "studies"
    shutil.copytree(ROOT / "cases" / "studies", folder)
    for sources in ("benchmarks", "core"):  # from which one of them builds its programs
        (tmp_path / sources).symlink_to(ROOT / sources)
    for path in (folder / f"{name}.toml", *(folder / "programs").glob("*.c")):
        text = path.read_text()
        for long, short in SMALL.items():
            text = text.replace(long, short)
        path.write_text(text)
    path = folder / f"{name}.toml"
    text = re.sub(r"(?m)^launches = .*$", "launches = 6", path.read_text())
    text = re.sub(r"(?m)^(precision|most) = .*\n", "", text)
    text = re.sub(r"\[limits\]\n(.+\n)+", "", text)
    path.write_text(text + TOLERANT)
    return path


def _sampled(name: str) -> object:
    return name if name in SAMPLE else pytest.param(name, marks=pytest.mark.soak)


@pytest.mark.parametrize("name", [_sampled(name) for name in READY])
def test_a_ready_study_ends_with_every_setting_answered_or_named(
    strata: Strata, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    # (One of them builds its programs with four toolchains first.)
    words = ("study", "run", str(shortened(name, tmp_path)), "--out", str(out), "--here")
    done = strata.run(*words, timeout=900)
    assert done.returncode == 0, done.stderr + done.stdout
    whole = json.loads((out / "summary.json").read_text())
    about = whole["provenance"]["study"]
    only = about["settings"][0]
    answered = {task["labels"].get("setting", only) for task in whole["tasks"]}
    unavailable = {setting["setting"] for setting in about["unavailable"]}
    assert answered | unavailable >= set(about["settings"])
    # Without rights to control groups nothing says what a program's own share was.
    grouped = strata.run("launch", "--layout", "1x1", "--memory-limit", "1GiB", "--", "true").returncode == 0
    for task in whole["tasks"]:
        assert task["undisturbed"], task["id"]
        assert {f["n"] for f in task["figures"]} == {6}
        beside = {b["figure"]: b for b in task["bounds"]}
        for figure in task["figures"]:  # a bound, or a reason that the table gives
            bound = beside[figure["name"]]
            reason = bound.get("why") not in (None, UNKNOWN, UNMEASURED)
            assert bound.get("value", 0) > 0 or reason, (task["id"], bound)
        shared = "--own-share" in task["options"] and grouped
        assert (task["readback"]["share"]["method"] != "none") >= shared
    page = (out / "report" / "report.html").read_text()
    assert "What was found" in page and about["title"] in page
    assert all(f"Not available here: {setting}" in done.stdout for setting in unavailable)
    if about["view"] in ("strong", "weak", "series"):
        assert list((out / "report" / "figures").glob("s*.svg"))
    shown = strata.run("study", "show", str(out))
    assert shown.returncode == 0 and str(out / "report" / "report.html") in shown.stdout
    assert strata.left_behind() == NOTHING


def test_any_program_s_output_is_measured(strata: Strata, tmp_path: Path) -> None:
    case, out = tmp_path / "mine.toml", tmp_path / "out"
    case.write_text(MINE)
    done = strata.run("study", "run", str(case), "--out", str(out), "--here")
    assert done.returncode == 0, done.stderr + done.stdout
    whole = json.loads((out / "summary.json").read_text())
    medians = {task["id"]: task["figures"][0]["median"] for task in whole["tasks"]}
    assert medians == {f"sh-{n}/{setting}/1x1": n + 0.5 for n in (1, 2) for setting in ("pinned", "free")}
    again = strata.run("study", "run", str(case), "--out", str(out), "--here")
    assert again.returncode == 0 and "launches of before are kept" in again.stderr


def test_an_output_without_the_figure_is_a_failure_in_words(strata: Strata, tmp_path: Path) -> None:
    case, out = tmp_path / "mine.toml", tmp_path / "out"
    case.write_text(MINE.replace("^rate:", "^speed:"))
    done = strata.run("study", "run", str(case), "--out", str(out), "--here")
    assert done.returncode == 1
    assert "nothing in its output matches the figure `rate`" in done.stdout + done.stderr
    assert "rate: 1.5" in done.stdout + done.stderr


def test_a_dry_run_and_the_list_measure_nothing(strata: Strata) -> None:
    done = strata.run("study", "list")
    assert done.returncode == 0 and "pages" in done.stdout and "cycles" in done.stdout
    planned = strata.run("study", "run", "cycles", "--dry-run", "--budget", "1m")
    assert planned.returncode == 0 and "cycles/not pinned/1x1" in planned.stdout
    assert "strata launch --layout 1x1" in planned.stdout and strata.folders() == []


@pytest.mark.parametrize(
    ("change", "words", "said"),
    [
        (("bind = \"none\"", "bnd = \"none\""), [], "did you mean `bind`?"),
        (("{n};", "{m};"), [], "a placeholder without a value"),
        (("options = []", "options = [\"--exclusiv\"]"), [], "mine.toml:19 [[layout]] free"),
        (("bind = \"none\"", "bind = \"cor\""), [], "mine.toml:19 [[layout]] free"),
        (("sh -c", "no-such-program -c"), [], "is not there"),
        (("", ""), ["--budget", "soon"], "5m"),
        (("", ""), ["--budgt", "5m"], "--budgt"),
    ],
)  # fmt: skip
def test_a_mistake_gets_one_message_and_exit_2(
    strata: Strata, tmp_path: Path, change: tuple[str, str], words: list[str], said: str
) -> None:
    case = tmp_path / "mine.toml"
    case.write_text(MINE.replace(*change) if change[0] else MINE)
    done = strata.run("study", "run", str(case), "--here", *words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("strata: error:") == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert strata.folders() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [(["run", "page"], "pages"), (["show", "/nonexistent"], "no such folder"), (["rn"], "rn")],
)
def test_bad_words_get_one_message(strata: Strata, words: list[str], said: str) -> None:
    done = strata.run("study", *words)
    assert done.returncode == 2 and done.stderr.count("strata: error:") == 1 and said in done.stderr


LATENCY = "# OSU MPI Latency Test v5.3\n# Size          Latency (us)\n8      0.20\n4096   1.50\n"


@pytest.mark.parametrize("table", [LATENCY, "no table\n"], ids=["table", "none"])
def test_a_table_of_osu_s_benchmarks_is_figures_and_curves(
    strata: Strata, tmp_path: Path, table: str
) -> None:
    case, out = tmp_path / "osu.toml", tmp_path / "out"
    (tmp_path / "said.txt").write_text(table)
    case.write_text(
        'schema = "strata.study/1"\nname = "osu"\n[[program]]\nname = "osu"\noutput = "osu"\n'
        'command = "cat {source}/said.txt"\n[[layout]]\nname = "one"\n' + TOLERANT
    )
    done = strata.run("study", "run", str(case), "--out", str(out), "--here")
    (task,) = json.loads((out / "summary.json").read_text())["tasks"]
    if table != LATENCY:
        assert done.returncode == 1 and "no table of the OSU micro-benchmarks" in done.stdout
        return
    assert done.returncode == 0, done.stderr + done.stdout
    medians = {f["name"]: f["median"] for f in task["figures"]}
    assert medians == {"latency, 8 B": 0.2, "latency, 4096 B": 1.5}
    assert [point[:2] for point in task["curves"][0]["points"]] == [[8, 0.2], [4096, 1.5]]
    again = strata.run("results", str(out), "--osu")
    assert "# Size" in again.stdout and "1.500" in again.stdout
