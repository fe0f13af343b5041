"""Words of strangers in files of CSV are no formulas, and come back as they were."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from strata.centre.outages import log
from strata.centre.reliability.command import generate
from strata.csv_cells import cell, read_cell, text_of
from strata.study import data

FORMULAS = [
    '=HYPERLINK("http://x","job")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "--1",
    "-",
    "-1e",
    "'=1",
    "''@x",
]
WORDS = [
    "",
    "a",
    "'",
    "'a",
    "a=1",
    "job-1",
    "1",
    "é",
    "a,b",
    'a "b"',
    "two\nlines",
    "a\r=1",
    "a\r\n=1",
    " =1",
]
NUMBERS = ["-1", "+2.5", "-.5", "-1e-300", "+1E+5", "-3."]


@pytest.mark.parametrize("word", FORMULAS)
def test_a_formula_is_a_text_and_comes_back(word: str) -> None:
    assert cell(word) == f"'{word}" and read_cell(cell(word)) == word


@pytest.mark.parametrize("word", [*WORDS, *NUMBERS])
def test_other_words_and_numbers_stay_what_they_are(word: str) -> None:
    assert cell(word) == read_cell(word) == word


@pytest.mark.parametrize("value", [-1, -2.5, float("-inf"), 0, True, None])
def test_a_number_is_no_word(value: object) -> None:
    assert cell(value) is value


def test_a_table_has_no_cell_that_a_spreadsheet_carries_out() -> None:
    words = [*FORMULAS, *WORDS, *NUMBERS]
    text = text_of([words, list(range(0, -len(words), -1))], ["=head", "n"])
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head == ["'=head", "n"]
    assert [read_cell(row[0]) for row in rows] == words
    assert [row[1] for row in rows] == [str(-i) for i in range(len(words))]


def test_exported_samples_have_none(tmp_path: Path) -> None:
    """What a program says as it fails, and what its figures are called, is its own."""
    table = {"task": ["a"], "failed": ["=1+1"], "value": [-1.5], "unit": [None]}
    assert data.write(table, "csv", tmp_path / "x.csv").read_text() == (
        "task,failed,value,unit\na,'=1+1,-1.5,\n"
    )


def test_a_generated_log_has_none_and_is_read_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    totals = (Path(__file__).resolve().parents[3] / "cases/centre/origin2000_outages.csv").read_text()
    name = csv.DictReader(line for line in totals.splitlines() if line[:1] != "#").__next__()["system"]
    (tmp_path / "totals.csv").write_text(totals.replace(f",{name},", ",=SYSTEM(),"))
    generate(tmp_path / "totals.csv", "1999-08-01", tmp_path / "log.csv")
    written = (tmp_path / "log.csv").read_text()
    assert "\n'=SYSTEM()," in written and "\n=" not in written
    assert "=SYSTEM()" in set(log.read_cells(tmp_path / "log.csv").text["system"])
