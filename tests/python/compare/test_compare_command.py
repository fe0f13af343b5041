"""`strata report compare` from the words of its command line to its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_results import figure, folder, noisy, saved, task, whole

from strata.cli import main


def run(*words: Any) -> int:
    return main(["report", "compare", *(str(w) for w in words)])


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reports go into the test's own folder."""
    base = tmp_path / "reports"
    monkeypatch.setenv("STRATA_RESULTS", str(base))
    return base


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A baseline, a run that is as fast, and one in which one of two tasks takes a tenth longer."""

    def made(name: str, seed: int, slower: float) -> Path:
        tasks = [
            task(
                "solve/a", [figure("time", noisy(slower, seed=seed)), figure("sweeps", noisy(9, seed=seed))]
            ),
            task("solve/b", [figure("rate", noisy(40, seed=seed + 50), "GB/s", "higher")]),
        ]
        return saved(whole(tasks), tmp_path / f"{name}.json")

    return made("base", 1, 1.0), made("same", 2, 1.0), made("slow", 5, 1.1)


def test_the_same_is_exit_0_and_a_regression_is_exit_3(
    sides: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    base, same, slow = sides
    assert run(base, same) == 0
    said = capsys.readouterr().out
    assert "No significant change. Of 2 figures, 2 unchanged within ±3 %." in said
    assert run(base, slow) == 3
    said = capsys.readouterr().out
    assert "regressed: time of solve/a rose by" in said and "regressed, > 3 %" in said
    assert "\x1b[" not in said and "1 regressed by more than 3 %, 1 unchanged" in said
    pages = list(results.glob("compare-*/report.html"))
    assert len(pages) == 2 and all(str(p) for p in pages if str(p) in said)


def test_the_threshold_the_task_and_the_figure_decide(
    sides: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    base, _, slow = sides
    assert run(base, slow, "--regressed", "20%") == 0
    assert "1 regressed (not certainly by more than 20 %)" in capsys.readouterr().out
    assert run(base, slow, "--regressed", "20%", "--json") == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["comparisons"][0]["verdict"] == "regressed" and not whole["comparisons"][0]["beyond"]
    assert run(base, slow, "--task", "solve/b", "--json") == 0
    assert run(base, slow, "--figure", "sweeps", "--json") == 0
    assert run(base, slow, "--figure", "time", "--json") == 3


def test_a_figure_that_is_no_headline_never_decides_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = (
        saved(
            whole([task("solve", [figure("time", noisy(1)), figure("start", noisy(start))])]),
            tmp_path / f"{start}.json",
        )
        for start in (1.0, 1.5)
    )
    assert run(a, b, "--json") == 0
    assert '"start"' not in capsys.readouterr().out
    assert run(a, b, "--all", "--json") == 0
    found = {c["figure"]: c for c in json.loads(capsys.readouterr().out)["comparisons"]}
    assert found["start"]["beyond"] and not found["start"]["gate"] and not found["time"]["beyond"]
    assert run(a, b, "--figure", "start", "--json") == 3


def test_json_is_the_comparison_and_writes_nothing_else(
    sides: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str], results: Path, tmp_path: Path
) -> None:
    base, _, slow = sides
    assert run(base, slow, "--json") == 3
    whole = json.loads(capsys.readouterr().out)
    assert whole["schema"] == "strata.comparison/1" and whole["exit_code"] == 3 and whole["family"] == 2
    first = whole["comparisons"][0]
    assert first["low"] < 1.1 < first["high"] and first["p"] <= first["p_family"] <= 0.05
    assert not results.exists()
    out = tmp_path / "out"
    assert run(base, slow, "--json", "--out", out) == 3
    assert json.loads((out / "comparison.json").read_text()) == json.loads(capsys.readouterr().out)
    assert {p.name for p in out.iterdir()} == {"comparison.json", "figures", "report.html", "report.md"}


def test_a_folder_without_summary_is_read_from_its_journals_and_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = folder(tmp_path / "a"), folder(tmp_path / "b", speed=9.0, seed=2)
    listing = sorted(p for p in tmp_path.rglob("*") if p.is_file())
    assert run(before, after, "--json") == 3
    whole = json.loads(capsys.readouterr().out)
    assert {(c["task"], c["verdict"]) for c in whole["comparisons"]} == {
        ("stream/1x1/core/s1", "regressed"),
        ("copy/1x1/core/s1", "regressed"),
    }
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == listing


def test_a_folder_stands_beside_a_kept_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from strata.compare.sides import load

    before, after = folder(tmp_path / "a"), folder(tmp_path / "b", seed=2)
    kept = saved(dict(load(before).summary), tmp_path / "baseline.json")
    assert run(kept, after, "--json") == 0
    (tmp_path / "only").mkdir()
    saved(json.loads(kept.read_text()), tmp_path / "only" / "summary.json")
    assert run(tmp_path / "only", after, "--json") == 0


def test_a_folder_that_cannot_be_read_points_to_its_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from strata.compare.sides import load

    before, after = folder(tmp_path / "a"), folder(tmp_path / "b", seed=2)
    kept = saved(dict(load(before).summary), before / "summary.json")
    plan = before / "plan.json"
    plan.write_text(plan.read_text().replace('"seed"', '"of_another_version": 1, "seed"'))
    assert run(before, after) == 2
    assert f"or give {kept}" in capsys.readouterr().err
    assert run(kept, after, "--json") == 0


def test_what_only_one_side_has_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = folder(tmp_path / "a", ["stream", "copy"])
    after = folder(tmp_path / "b", ["stream", "triad"], seed=2)
    assert run(before, after) == 0
    said = capsys.readouterr().out
    assert "only before: 1 task: copy/1x1/core/s1" in said and "only after: 1 task: triad/1x1/core/s1" in said


def damaged(path: Path) -> Path:
    (journal,) = (path / "journal").glob("*.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace('"time":"2', '"time":"3', 1)
    journal.write_text("".join(lines))
    return path


def test_bad_input_is_one_message_and_exit_2(
    tmp_path: Path, sides: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    base, same, _ = sides
    empty, text = tmp_path / "empty", tmp_path / "text.json"
    empty.mkdir()
    text.write_text("not json")
    torn = saved({"schema": "strata.summary/1", "machine": {}, "provenance": {}}, tmp_path / "torn.json")
    few = saved(whole([task("solve/a", [figure("time", noisy(1, 3))])]), tmp_path / "few.json")
    study = saved(whole([task("mine/x", [figure("time", noisy(1))])], kind="study"), tmp_path / "study.json")
    nothing = saved(whole([]), tmp_path / "nothing.json")
    for words, said in (
        ((base, tmp_path / "absent"), "absent"),
        ((base, empty), "it has neither plan.json nor summary.json"),
        ((base, text), "text.json:1"),
        ((base, torn), "it lacks 'tasks'"),
        ((base, nothing), "nothing was measured"),
        ((base, damaged(folder(tmp_path / "damaged"))), ".jsonl:4"),
        ((base, study), "no task in common"),
        ((base, study), "characterize with solve/a, solve/b"),
        ((base, study), "study with mine/x"),
        ((base, few), "it takes 6 on each side"),
        ((base, same, "--regressed", "3"), "not a percentage"),
        ((base, same, "--regressed", "100%"), "not a percentage"),
        ((base, same, "--regressed=-3%"), "not a percentage"),
        ((base, same, "--regressed", "lots"), "not a percentage"),
        ((base, same, "--figure", "("), "not a regular expression"),
        ((base, same, "--task", "["), "not a regular expression"),
        ((base, same, "--figure", "nosuch"), "time, sweeps, rate"),
        ((base, same, "--task", "nosuch"), "solve/a, solve/b"),
        ((base,), "compare B\n  given: nothing"),
        ((base, same, same), "the command does not take this"),
        ((base, same, "--regresed", "3%"), "--regresed"),
    ):
        assert run(*words) == 2, words
        answer = capsys.readouterr()
        assert answer.err.count("strata: error:") == 1 and said in answer.err, (words, answer.err)
        assert answer.out == ""


def test_a_study_beside_a_characterization_is_compared_where_they_share_tasks(
    tmp_path: Path, sides: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = json.loads(sides[1].read_text())["tasks"][:1]
    study = saved(whole(tasks, kind="study"), tmp_path / "study.json")
    assert run(sides[0], study) == 0
    said = capsys.readouterr().out
    assert "kind: characterize -> study" in said and "only before: 1 task: solve/b" in said


def test_a_report_that_cannot_be_written_is_one_error(
    sides: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run(sides[0], sides[1], "--out", tmp_path / "file") == 1
    assert "cannot write the report" in capsys.readouterr().err


def test_report_alone_and_a_folder_named_compare_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder(tmp_path / "compare")
    monkeypatch.chdir(tmp_path)
    assert main(["report", "./compare"]) == 0
    assert (tmp_path / "compare" / "report" / "report.html").exists()
    assert main(["report", "nosuch"]) == 2
    assert main(["report", "compare"]) == 2
    assert "compare A, B\n  given: nothing" in capsys.readouterr().err


def test_names_in_a_strangers_summary_move_no_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = "\x1b[2J\x07"
    sides = [
        saved(
            whole([task(f"a{odd}", [figure(f"time{odd}", noisy(v, seed=2), f"s{odd}")])], started=odd),
            tmp_path / f"{v}.json",
        )
        for v in (1.0, 2.0)
    ]
    assert run(*sides) == 3
    said = capsys.readouterr().out
    assert r"a\x1b[2J\x07" in said and all(c.isprintable() or c == "\n" for c in said)
