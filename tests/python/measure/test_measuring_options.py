"""Claim: an option of a measuring command that nothing would use is refused by one error."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata import cli


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["characterize", "--nodes", "2", "--full", "--dry-run"], "--full with --nodes 2"),
        (["characterize", "--case", "c.toml", "--full", "--dry-run"], "--full with --case"),
        (["machine-measure", "--case=c.toml", "--full", "--dry-run"], "--full with --case"),
        (["characterize", "--accept-change", "--dry-run"], "--accept-change without --out"),
        (["study", "run", "pages", "--accept-change", "--dry-run"], "--accept-change without --out"),
        (["tune", "--kind", "openmp", "--processes=2", "--", "true"], "--processes with --kind openmp"),
        (["tune", "--better", "higher", "--dry-run", "--", "true"], "--better with the wall time"),
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
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "nothing would use this option" in said and f"given: {given}" in said


def test_an_option_of_the_program_is_not_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRATA_BIN", "/nonexistent/strata")
    assert cli.main(["tune", "--dry-run", "--", "./no-such-program", "--better", "higher"]) != 0
    assert "nothing would use this option" not in capsys.readouterr().err
