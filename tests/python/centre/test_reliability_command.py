"""Claims about `strata centre reliability`: what it writes and prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strata import cli

ROWS = "system,parts,start,end,category,note\n" + "".join(
    f"{s},{p},2026-0{m}-0{d}T00:00,2026-0{m}-0{d}T0{d}:00,{c},\n"
    for s, p in (("big", 512), ("small", 64), ("odd", 128))
    for m in (1, 2, 3, 4)
    for d, c in ((1, "hardware"), (3, "software"), (5, "nfs"), (7, "maintenance"))
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(ROWS)
    return tmp_path


def test_report_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        cli.main(["centre", "reliability", "log.csv", "--since", "2026-03-01", "--forecast-parts", "1024"])
        == 0
    )
    said = capsys.readouterr().out
    assert "big: an interrupt every " in said and "report: log-reliability/report.html" in said
    made = folder / "log-reliability"
    page = (made / "report.html").read_text()
    for text in (
        "Account: from 2026-03-01 forward",
        "512 more parts",
        "Crow-AMSAA",
        "Days without interrupt",
        "Up times",
        "From start to start",
        "Young",
    ):
        assert text in page.replace("5<b>12", "512"), text
    assert (made / "report.md").read_text().startswith("# 3 systems: reliability report")
    assert {p.name for p in (made / "figures").iterdir()} == {"up-1.svg", "up-2.svg", "up-3.svg", "parts.svg"}
    whole = json.loads((made / "reliability.json").read_text())
    assert whole["schema"] == "strata.reliability/1" and [s["name"] for s in whole["systems"]] == [
        "big",
        "small",
        "odd",
    ]
    assert (
        cli.main(
            [
                "centre",
                "reliability",
                "log.csv",
                "--json",
                "--since",
                "2026-03-01",
                "--forecast-parts",
                "1024",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out) == whole


def test_one_of_several_systems(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["centre", "reliability", "log.csv", "--systems", "b*", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert [s["name"] for s in whole["systems"]] == ["big"]
    assert whole["larger"]["parts"] == 1024  # twice, as if each part failed by itself
    row = next(r for r in whole["systems"][0]["rows"] if r["key"] == "interrupts")
    assert whole["larger"]["mtti"] == pytest.approx(row["mtti"] / 2)
    # Outages are in times from start to start, and in no time up.
    up, between = (whole["systems"][0][key] for key in ("fit", "fit_start_to_start"))
    assert up["of"].startswith("up times") and between["of"].startswith("times between interrupts")
    assert up["mean"] < between["mean"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv"], "cannot read the log"),
        (["log.csv", "--systems", "z*"], "no such system"),
        (["log.csv", "--since", "soon"], "not a time"),
        (["log.csv", "--since", "2027-01-01"], "says nothing of this time"),
        (["log.csv", "--since", "2026-02-01", "--until", "2026-01-01"], "--until lies before"),
        (["log.csv", "--from", "excel"], "an unknown form of logs"),
        (["log.csv", "--zone", "Nowhere"], "no such time zone"),
        (["log.csv", "--checkpoint-time", "0s"], "not a time"),
        (["log.csv", "--forecast-parts", "0"], "not a number of parts"),
        (["log.csv", "--published", "log.csv"], "not a file of published totals"),
        (["log.csv", "--out", "log.csv"], "not a folder"),
    ],
)
def test_what_is_refused_leaves_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert cli.main(["centre", "reliability", *words]) == 2
    assert message in capsys.readouterr().err
    assert [p.name for p in folder.iterdir()] == ["log.csv"]


def test_a_generated_log_is_marked_and_nothing_is_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = str(Path(__file__).parents[3] / "cases" / "centre" / "origin2000_outages.csv")
    assert cli.main(["centre", "generate", totals, "--out", "made.csv"]) == 0
    assert cli.main(["centre", "reliability", "made.csv", "--published", totals]) == 0
    assert "sunrise, Total All Unsched Outages, events: printed 146, 31 found" in capsys.readouterr().out
    assert "Attention: these outages never were" in (folder / "made-reliability" / "report.html").read_text()
    assert cli.main(["centre", "generate", totals, "--out", "made.csv"]) == 2
    assert "such a file already" in capsys.readouterr().err
