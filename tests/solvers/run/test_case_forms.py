"""Claims about case files in each form of TOML: what the native reader makes of them, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import toml_forms as forms

from strata.errors import StrataError

pytestmark = pytest.mark.soak  # two hundred runs

GOOD = '# a case\nsolver = "transport"\n'
PLAIN = """\
solver = "transport"
equation = "heat"
grid.cells = [16, 4]
grid.periodic = false
time.end = 0.0001
"""
Refused = Callable[[str | bytes], StrataError]


@pytest.fixture
def settings(run: Callable, tmp_path: Path) -> Callable[[str | bytes], dict[str, str]]:
    """What a case says, as its run understood it."""

    def read(text: str | bytes) -> dict[str, str]:
        path, out = tmp_path / "a.toml", tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = run(path, "--steps", 1, "--out", out, check=False)
        assert done.returncode == 0, f"{text!r}: {done.stderr}"
        return json.loads((out / "result.json").read_text())["parameters"]

    return read


@pytest.fixture
def refused(run: Callable, tmp_path: Path) -> Refused:
    """The one error for a case; nothing is written."""

    def read(text: str | bytes) -> StrataError:
        path = tmp_path / "a.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = run(path, "--out", tmp_path / "out", check=False)
        assert done.returncode == 2 and not (tmp_path / "out").exists(), f"{text!r}: {done}"
        assert done.stderr.count("strata: error: ") == 1, done.stderr
        error = StrataError.read(done.stderr, done.returncode)
        assert error is not None, done.stderr
        return error

    return read


def test_each_form_of_a_value_means_the_same(settings: Callable) -> None:
    for key, meant, written in (
        ("equation", '"heat"', forms.TEXTS),
        ("output.steps", str(forms.WHOLE), forms.WHOLES),
        ("heat.diffusivity", str(forms.REAL), forms.REALS),
    ):
        rest = PLAIN.replace('equation = "heat"\n', "") if key == "equation" else PLAIN
        for name, text in forms.values(key, written):
            assert settings(f"{rest}{text}\n")[key] == meant, name


def test_each_form_of_a_table_and_of_a_file_means_the_same(settings: Callable) -> None:
    for name, text in forms.tables("heat", "diffusivity", "0.5"):
        assert settings(f"{PLAIN}{text}\n")["heat.diffusivity"] == "0.5", name
    for name, data in forms.files(f"{PLAIN}[heat]\ndiffusivity = 0.5\n"):
        assert settings(data)["heat.diffusivity"] == "0.5", name
    for name, text in forms.values("'solver'", ('"transport"', "'transport'")):
        assert settings(PLAIN.replace('solver = "transport"', text))["heat.diffusivity"] == "1", name


def test_what_is_no_toml_is_one_error_with_its_line(refused: Refused, tmp_path: Path) -> None:
    wrong = []
    for text, lines in forms.WRONG:
        error = refused(GOOD + text + "\n")
        if error.at not in [f"{tmp_path / 'a.toml'}:{n}" for n in lines]:
            wrong.append(f"{text!r}: {error}")
    for data in forms.NO_TEXT:
        error = refused(GOOD.encode() + data + b"\n")
        if not error.at.startswith(f"{tmp_path / 'a.toml'}:3"):
            wrong.append(f"{data!r}: {error}")
    assert not wrong, "\n".join(wrong)


def test_a_number_is_one_and_finite_and_is_told_with_its_key(refused: Refused, tmp_path: Path) -> None:
    for given in forms.NO_NUMBERS:
        error = refused(f"{PLAIN}heat.diffusivity = {given}\n")
        assert error.at.startswith(f"{tmp_path / 'a.toml'}:6") and "heat.diffusivity" in error.at, given
        assert error.given and "number" in error.allowed, f"{given}: {error}"


def test_a_misspelt_key_is_told_with_what_was_given(refused: Refused, tmp_path: Path) -> None:
    for _, text in forms.tables("heat", "diffusivty", "0.5"):
        error = refused(f"{PLAIN}{text}\n")
        line = 5 + next(n for n, one in enumerate(text.split("\n"), 1) if "0.5" in one and one[:1] != "#")
        assert error.at.startswith(f"{tmp_path / 'a.toml'}:{line}"), f"{text!r}: {error}"
        assert error.given == "0.5" and error.remedy == "heat.diffusivity?", f"{text!r}: {error}"
