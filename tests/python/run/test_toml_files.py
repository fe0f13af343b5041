"""Claims about TOML files: what each form of TOML 1.0 means, where each key stands, and what is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toml_forms as forms

from strata import documents, toml_files
from strata.casefile import REQUIRED, CaseFile, Key, is_number, is_text, is_whole
from strata.centre.outages import categories
from strata.draw import show
from strata.errors import StrataError
from strata.run import case
from strata.site import site_file

SCHEMA = {
    "text": Key("text", is_text, "text", "", ""),
    "whole": Key("whole", is_whole, "a whole number", 0, ""),
    "real": Key("number", is_number, "a number", 0.0, ""),
    "of": Key("table", lambda v: isinstance(v, dict), "a table", {}, ""),
}
GOOD = "# a site\naccount = 'x'\n"
READERS: dict[str, Callable[[Path], Any]] = {
    "site": site_file.read,
    "case": case.load,
    "categories": categories.load,
    "graph": show.load,
}


def read(tmp_path: Path, text: str | bytes) -> dict[str, Any]:
    path = tmp_path / "a.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    file = CaseFile(path, "try", "an example")
    return file.checked(file.value, SCHEMA)


def test_each_form_of_a_value_means_the_same(tmp_path: Path) -> None:
    for key, meant, written in (
        ("text", forms.TEXT, forms.TEXTS),
        ("whole", forms.WHOLE, forms.WHOLES),
        ("real", forms.REAL, forms.REALS),
    ):
        for name, text in forms.values(key, written):
            assert read(tmp_path, text + "\n")[key] == meant, name


def test_each_form_of_a_table_and_of_a_file_means_the_same(tmp_path: Path) -> None:
    for name, text in forms.tables("of", "key", "'x'"):
        for ends, data in forms.files(text + "\n"):
            assert read(tmp_path, data)["of"] == {"key": "x"}, f"{name}, {ends}"


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_toml_is_one_error_with_its_line(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "a.toml"
    for text, lines in forms.WRONG:
        path.write_bytes((GOOD + text + "\n").encode())
        with pytest.raises(StrataError, match="this is not TOML") as refused:
            READERS[reader](path)
        found = refused.value
        assert found.at in [f"{path}:{n}" for n in lines], f"{text!r}: {found}"
        assert found.given and found.allowed and found.remedy, text
    for data in forms.NO_TEXT:
        path.write_bytes(GOOD.encode() + data + b"\n")
        with pytest.raises(StrataError, match="cannot read") as refused:
            READERS[reader](path)
        assert refused.value.at == f"{path}:3" and "not UTF-8" in str(refused.value.given)


def test_a_number_is_one_and_finite_and_is_told_as_it_was_written(tmp_path: Path) -> None:
    for given in forms.NO_NUMBERS:
        with pytest.raises(StrataError, match="wrong value for `real`") as refused:
            read(tmp_path, f"\n\nreal = {given}\n")
        assert refused.value.at == f"{tmp_path / 'a.toml'}:3 real"
        shown = {
            "'1'": '"1"',
            "+nan": "nan",
            "-nan": "nan",
            "2026-01-01T00:00:00Z": "2026-01-01T00:00:00+00:00",
        }
        assert refused.value.given == shown.get(given, given)


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ('a = """\nkey = 1\n"""\n"key" = 2\n', (), 4),
        ("# key = 1\n[a]\nkey = 1\n[b]\nx = 1\n", (), 1),
        ("[a]\nkey = 1\n[b]\nkey = 1\n", (("b", 1),), 4),
        ("a = [\n  1, # key = 1\n]\n'key' = 1\n", (), 4),
        ('b.x = 1\nb . "key" = 1\n', (("b", 1),), 2),
        ("x = 1\nb = {y = 1, key = 2}\n", (("b", 1),), 2),
        ("[[p]]\nkey = 1\n[[p]]\n[[p.f]]\n[[ 'p' . f ]]\nkey = 1\n", (("p", 2), ("f", 2)), 6),
        ("[[p]]\n[[p]]\n[p.t]\nkey = 1\n", (("p", 2), ("t", 1)), 4),
        ("p = [{x = 1},\n {key = 1}]\n", (("p", 2),), 1),
        ("[[p]]\nx = 1\n\n[[p]]\nx = 2\n", (("p", 2),), 4),
        ('x = "a\u2028b\x85c"\nkey = 1\n', (), 2),
        ('"\\u006bey" = 1\n', (), 1),
    ],
)
def test_a_key_stands_where_it_is_said(tmp_path: Path, text: str, place: Any, line: int) -> None:
    path = tmp_path / "a.toml"
    for ends, data in forms.files(text):
        if ends == "comments":  # a line more
            continue
        path.write_bytes(data)
        assert CaseFile(path, "try", "an example").at("key", place) == f"{path}:{line} key", ends


def test_a_misspelt_key_in_quotes_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(StrataError, match="unknown key") as refused:
        read(tmp_path, 'text = "a"\n"tex t" = 1\n')
    assert refused.value.at == f"{tmp_path / 'a.toml'}:2 tex t" and refused.value.given == '"tex t"'


def test_a_case_that_is_written_is_read_back(tmp_path: Path) -> None:
    made = {
        "a b": 'say "hi"\n\t\x7f☃\U0001f600',
        "x": [1, 0.5, True],
        "t": {"n": float("inf"), "ä": {"y": -1}},
    }
    path = tmp_path / "a.toml"
    path.write_text(case.text_of(made))
    assert case.load(path) == made


def test_a_key_that_is_missing_is_looked_for_in_its_table(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("x = 1\n\n[[p]]\n")
    file = CaseFile(path, "try", "an example")
    needed = {"name": Key("text", is_text, "text", REQUIRED, "")}
    with pytest.raises(StrataError, match="a key is missing") as refused:
        file.checked(file.value["p"][0], needed, (("p", 1),))
    assert refused.value.at == f"{path}:3 name"


def test_a_value_over_thousands_of_lines_is_not_read_again_with_each_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "x = [\n" + '"v"\n,' * 5000 + '"w"\n]\ny = 3\n'
    whole, read = documents.from_toml, 0

    def counted(piece: str) -> dict[str, Any]:
        nonlocal read
        read += len(piece)
        return whole(piece)

    monkeypatch.setattr(documents, "from_toml", counted)
    assert toml_files.Places(text).line("none", ()) == 1
    assert 0 < read <= 20 * len(text) + (1 << 20)
