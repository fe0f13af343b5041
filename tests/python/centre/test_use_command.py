"""Claims about `strata centre use`: what it writes and prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from use_logs import SACCT, sacct

from strata import cli
from strata.centre.use import figures

DAYS = [f"{month:02d}-{day:02d}" for month in (1, 2) for day in range(1, 29)]
JOBS = SACCT + "".join(
    sacct(
        f"{i}{k}",
        f"{d}T0{k}:00:00",
        f"{d}T0{k}:30:00",
        f"{d}T1{k}:00:00",
        2**k,
        "FAILED" if (i + k) % 5 == 0 else "NODE_FAIL" if (i, k) == (9, 1) else "COMPLETED",
        f"user{k}",
        nodes=k,
    )
    for i, d in enumerate(DAYS)
    for k in (1, 2, 3)
)
DOWN = """\
system,parts,start,end,category
m,16,2026-01-01,2026-03-01,observed
m,16,2026-01-30,2026-01-31,maintenance
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.txt").write_text(JOBS)
    (tmp_path / "down.csv").write_text(DOWN)
    return tmp_path


def use(*words: str) -> int:
    return cli.main(["centre", "use", *words])


def test_report_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["jobs.txt", "--outages", "down.csv", "--since", "2026-02-01", "--wide", "8"]
    assert use(*words) == 0
    said = capsys.readouterr().out
    assert "of the processor-hours in use were those of jobs of 8 processors or more" in said
    assert "report: jobs-use/report.html" in said
    made = folder / "jobs-use"
    page = (made / "report.html").read_text()
    for text in (
        "By month",
        "2026-02",
        "Before and after",
        "out of service",
        "user3",
        "Sustained rate",
        "Garwood",
    ):
        assert text in page, text
    drawn = {p.stem for p in (made / "figures").iterdir()}
    assert {"utilisation", "widths", "waits", "starts", "by-user", "by-group"} <= drawn
    whole = json.loads((made / "use.json").read_text())
    assert whole["schema"] == "strata.use/1" and whole["parts_by"] == "the log of outages"
    assert [p["name"] for p in whole["periods"]] == ["all", "before", "after"]
    assert whole["periods"][0]["figures"]["available"]["value"] < 100
    assert use(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out) == whole


def test_more_than_all_processors_is_said_where_it_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert use("jobs.txt", "--parts", "4") == 0
    said = capsys.readouterr().out
    assert float(said.split("of all")[0].rsplit(", ", 1)[1].split(" %")[0]) > 100
    assert "note: Up to 14 processors were in use at once" in said and "more than there are (4)" in said


def test_more_than_all_processors_is_not_hidden_in_what_was_up(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more is available than the machine has, and the plot reaches what its points show."""
    tops: list[float] = []
    finish = figures.finish
    monkeypatch.setattr(figures, "finish", lambda f, k: tops.append(f.axes[0].get_ylim()[1]) or finish(f, k))
    assert use("jobs.txt", "--parts", "2,4@2026-02-01") == 0
    assert "more than there are (2, then 4)" in capsys.readouterr().out
    whole = json.loads((folder / "jobs-use" / "use.json").read_text())
    have = {key: figure["value"] for key, figure in whole["periods"][0]["figures"].items()}
    assert have["available"] == 100 and have["utilisation_up"] == have["utilisation"] > 100
    days = [100 * day["used_hours"] / day["available_hours"] for day in whole["days"]]
    assert max(days) > 100 and tops[0] >= max(days)


def test_figures_of_a_trace_of_starts_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = "".join(f"{i} {t} -1 3600 32 -1 -1 32 -1 -1 1 1 -1 1 -1 1 -1 -1\n" for i, t in ((1, 0), (2, 1800)))
    (folder / "starts.swf").write_text("; UnixStartTime: 1163199901\n; MaxProcs: 64\n" + jobs)
    assert use("starts.swf") == 0
    said = capsys.readouterr().out
    assert "in use: 66.7 %" in said and "field 2 is taken as the start" in said


def test_no_name_is_left_in_a_report_without_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert use("jobs.txt", "--anonymise", "--out", "public") == 0
    for path in (folder / "public").rglob("*.*"):
        for name in ("user1", "user2", "user3", "of-user", "a.out", "jobs.txt"):
            assert name not in path.read_text(), path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.txt"], "cannot read the log"),
        ([], "either logs, or --live"),
        (["jobs.txt", "--live"], "either logs, or --live"),
        (["jobs.txt", "--from", "excel"], "an unknown form of logs"),
        (["jobs.txt", "--since", "soon"], "not a time"),
        (["jobs.txt", "--since", "2027-01-01"], "--since lies outside"),
        (["jobs.txt", "--begin", "2027-01-01"], "says nothing of this time"),
        (["jobs.txt", "--begin", "2026-02-01", "--until", "2026-01-01"], "--until lies before"),
        (["jobs.txt", "--zone", "Nowhere"], "no such time zone"),
        (["jobs.txt", "--parts", "many"], "not a number of processors"),
        (["jobs.txt", "--parts", "8@2026-01-01"], "not a number of processors"),
        (["jobs.txt", "--widths", "1-8,4-16"], "not classes of widths"),
        (["jobs.txt", "--wide", "0"], "not a width"),
        (["jobs.txt", "--samples", "nowhere"], "no samples there"),
        (["jobs.txt", "--outages", "jobs.txt"], "column system is missing"),
        (["jobs.txt", "--out", "jobs.txt"], "not a folder"),
    ],
)
def test_what_is_refused_leaves_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert use(*words) == 2
    assert message in capsys.readouterr().err
    assert {p.name for p in folder.iterdir()} == {"jobs.txt", "down.csv"}


def test_without_slurm_there_is_nothing_live_to_ask(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert use("--live") == 2
    assert "there is no sacct on this machine" in capsys.readouterr().err


def test_a_generated_trace_is_marked_and_nothing_is_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["centre", "generate", "--jobs", "3000", "--parts", "64", "--out", "t.swf"]) == 0
    assert use("t.swf", "--out", "t") == 0
    assert "Attention: these jobs never ran" in (folder / "t" / "report.html").read_text()
    assert cli.main(["centre", "generate", "--jobs", "3000", "--out", "t.swf"]) == 2
    assert cli.main(["centre", "generate", "--out", "u.swf"]) == 2
    assert "such a file already" in capsys.readouterr().err


@pytest.mark.soak
def test_ten_million_jobs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures of a large trace are those that it was made with; times are for docs/use.md, not judged."""
    assert cli.main(["centre", "generate", "--jobs", "10000000", "--out", "t.swf"]) == 0
    assert use("t.swf") == 0
    whole = json.loads((folder / "t-use" / "use.json").read_text())
    assert whole["runs"] == 10_000_000
    assert whole["periods"][0]["figures"]["utilisation"]["value"] == pytest.approx(94.0, abs=0.1)
    assert max(g["share"] for g in whole["widths"]) == pytest.approx(50.0, abs=0.1)


def test_days_are_those_of_the_logs_own_zone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for zone, first in (("US/Pacific", "2025-12-31"), ("Mars/Olympus", "2026-01-01")):
        text = f"; UnixStartTime: 1767225600\n; TimeZoneString: {zone}\n1 0 0 90000 4 -1 -1 4" + " -1" * 10
        (folder / "t.swf").write_text(text + "\n")
        assert use("t.swf", "--json") == 0
        whole = json.loads(capsys.readouterr().out)
        assert whole["days"][0]["day"] == first
        assert any("Mars/Olympus is not known" in line for line in whole["said"]) == (zone != "US/Pacific")
