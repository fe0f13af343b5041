"""Which solver a case names, in each spelling of TOML."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import toml_forms as forms

from strata.run.solver_of_case import answer


def named(tmp_path: Path, text: str | bytes) -> dict[str, object]:
    case = tmp_path / "case.toml"
    case.write_bytes(text if isinstance(text, bytes) else text.encode())
    return answer(case)


def test_each_form_of_the_key_and_of_its_value_names_the_same_solver(tmp_path: Path) -> None:
    for key in ("solver", '"solver"', "'solver'", '"s\\u006flver"'):
        for form, text in forms.values(key, forms.TEXTS):
            found = named(tmp_path, f"# a case\n{text}\n[grid]\nsolver = 1\n")
            assert found == {"solver": forms.TEXT, "line": 2}, (key, form)
    for form, data in forms.files('title = """\nsolver = "md"\n"""\nsolver = "heat"\n'):
        found = named(tmp_path, data)
        assert (found["solver"], found["line"]) == ("heat", 5 if form == "comments" else 4), form


@pytest.mark.parametrize(
    ("text", "at", "given"),
    [
        ("[grid]\ncells = 4\n", " solver", "no key solver"),
        ("", " solver", "no key solver"),
        ("\n[grid]\ncells = 4\n'solver' = 1\n", " solver", "a key solver in line 4, in [grid]"),
        ("grid.solver = 'md'\n", " solver", "a key solver in line 1, in [grid]"),
        ("['my grid']\nsolver = 'md'\n", " solver", 'a key solver in line 2, in ["my grid"]'),
        ("\nsolver = 3\n", ":2 solver", "3"),
        ("solver = ['md']\n", ":1 solver", '["md"]'),
        ("[solver]\nname = 'md'\n", ":1 solver", "a table"),
    ],
)
def test_what_is_there_instead_of_a_solver_is_told(tmp_path: Path, text: str, at: str, given: str) -> None:
    found = named(tmp_path, text)
    assert found["message"] == "a case says which solver runs it"
    assert (found["at"], found["given"]) == (f"{tmp_path / 'case.toml'}{at}", given)
    assert found["allowed"] == 'solver = "transport" before the first [section]'


def test_what_is_no_toml_is_told_with_its_line(tmp_path: Path) -> None:
    for text, lines in forms.WRONG:
        found = named(tmp_path, f"# a case\nsolver = 'md'\n{text}\n")
        assert str(found["message"]).startswith("this is not TOML: "), text
        assert found["at"] in [f"{tmp_path / 'case.toml'}:{n}" for n in lines], text


def test_the_answer_is_one_line_of_json_in_ascii(tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    case.write_text('solver = "w\u00e4rme"\n')
    command = [sys.executable, "-P", "-m", "strata.run.solver_of_case", str(case)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1
    assert json.loads(done.stdout.decode("ascii")) == {"solver": "w\u00e4rme", "line": 1}
