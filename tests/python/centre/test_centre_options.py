"""Claim: an option of `strata centre` that nothing would use is refused by one error, before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata import cli

FLEET, INTEGRITY = ["centre", "fleet"], ["centre", "integrity"]
SAMPLE, USE = ["centre", "sample"], ["centre", "use", "no.txt"]


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ([*FLEET, "submit", "--out", "f", "--again", "--nodes", "n1"], "--nodes with --again"),
        ([*FLEET, "report", "f", "--json", "--out=r"], "--out with --json"),
        ([*FLEET, "report", "f", "--drain", "--drain-most", "3"], "--drain-most without --drain-now"),
        ([*INTEGRITY, "--report", "--time", "5m", "--alone"], "--time, --alone with --report"),
        ([*INTEGRITY, "--clear", "--rounds", "3"], "--rounds with --clear"),
        ([*INTEGRITY, "--check", "--json"], "--json with --check"),
        ([*INTEGRITY, "--units", "u", "--out", "r"], "--out with --units"),
        ([*INTEGRITY, "--rounds", "1", "--json", "--out", "r"], "--out with --json"),
        (["centre", "reliability", "no.csv", "--json", "--out", "r"], "--out with --json"),
        ([*USE, "--json", "--out", "r"], "--out with --json"),
        ([*USE, "--outages-from", "slurm"], "--outages-from without --outages"),
        ([*USE, "--categories", "own.toml"], "--categories without --outages"),
        ([*SAMPLE, "daemon", "--job", "7"], "--job with daemon"),
        ([*SAMPLE, "show", "f", "--interval", "5s"], "--interval with show"),
        ([*SAMPLE, "show", "f", "--folder", "g"], "--folder beside the folder f"),
        (["centre", "generate", "totals.csv", "--out", "o", "--parts", "8"], "--parts with TOTALS"),
        (["centre", "generate", "--jobs", "5", "--out", "o", "--since", "1999-01-01"], "--since with --jobs"),
    ],
)
def test_what_nothing_would_use_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    given: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "nothing would use this option" in said and f"given: {given}" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--partition", "--account", "--site"])
def test_in_an_allocation_options_of_jobs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (tmp_path / "srun").write_text("#!/bin/sh\n")
    (tmp_path / "srun").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    words = [*FLEET, "submit", "--out", str(tmp_path / "f"), "--dry-run", option, "x"]
    assert cli.main(words) == 2
    assert f"given: {option} x in job 7" in capsys.readouterr().err
