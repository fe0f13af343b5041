"""Claims about the words of errors: what a person reads who gave a wrong file, one claim for each kind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from strata import cli, documents
from strata.errors import StrataError, why
from strata.measure import files, store

# Words of Python's, which say nothing to those who do not know it.
STRANGE = (
    "codec",
    "Expecting",
    "char 0",
    "NoneType",
    "None",
    "Traceback",
    "Errno",
    "KeyError",
    "dict",
    "repr",
)
COMMANDS = (
    ["findings", "--machine"],
    ["draw", "--svg", "-", "--machine"],
    ["graph", "show"],
    ["report"],
    ["report", "compare", "good.json"],
    ["results"],
    ["centre", "use"],
    ["centre", "use", "--samples", "none", "--from", "slurm"],
    ["centre", "reliability"],
    ["centre", "fleet", "report"],
    ["md", "analyse"],
    ["flow", "show"],
)
GIVEN = {
    "empty.json": b"",
    "cut.json": b'{"schema": "strata.summary/1", "tasks": [',
    "words.json": b"hello\n",
    "list.json": b"[]",
    "other.json": b'{"schema": "strata.else/1"}',
    "bytes.json": b"\xff\xfe\x00{",
    "folder": None,
    "absent.json": None,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text("{}")
    (tmp_path / "folder").mkdir()
    for name, data in GIVEN.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_wrong_file_is_told_in_words_of_those_who_gave_it(
    folder: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    for name in GIVEN:
        status = cli.main([*command, name])
        said = capsys.readouterr().err
        assert status in (1, 2) and said.count("strata: error: ") == 1, f"{name}: {said}"
        parts = StrataError.read(said[said.index("strata: error: ") :], status)
        assert parts is not None and parts.at, f"{name}: no place: {said}"
        assert parts.given or parts.allowed or parts.remedy, f"{name}: nothing to go by: {said}"
        assert not [word for word in STRANGE if word in said], f"{name}: {said}"


@pytest.mark.parametrize(
    ("text", "message", "line", "given"),
    [
        ("", "the file is empty", "", None),
        (
            '{"a": 1',
            "the file ends within its JSON: it was cut off, or is still being written",
            ":1",
            '{"a": 1',
        ),
        (
            '{\n"a": [1,\n',
            "the file ends within its JSON: it was cut off, or is still being written",
            ":2",
            '"a": [1,',
        ),
        ('{\n"a" 1}', "this is not JSON: a colon is missing", ":2", '"a" 1}'),
        (
            '{"a": 1}\n{"b": 2}',
            "this is not JSON: something follows the end of the document",
            ":2",
            '{"b": 2}',
        ),
        ("{'a': 1}", "this is not JSON: a name in double quotes was expected", ":1", "{'a': 1}"),
    ],
)
def test_what_is_no_json_is_told_with_its_line_and_what_lacks(
    tmp_path: Path, text: str, message: str, line: str, given: str | None
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(StrataError) as refused:
        files.read_json(path, "strata.summary/1", "make it again")
    error = refused.value
    assert (error.message, error.at, error.given) == (f"damaged file: {message}", f"{path}{line}", given)
    assert error.remedy == "make it again"


def test_a_file_that_cannot_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "plan.json").mkdir()
    with pytest.raises(StrataError) as refused:
        files.read_json(tmp_path / "plan.json", "strata.plan/1", "make it again")
    error = refused.value
    assert (error.message, error.given) == ("the file cannot be read", "it is a folder: name a file in it")


@pytest.mark.parametrize(
    ("value", "message", "given"),
    [
        ({"schema": "strata.plan/7"}, "written by another version of Strata", "strata.plan/7"),
        ({"schema": "strata.node/1"}, "another kind of document", "strata.node/1"),
        ({"a": 1}, "not a document of Strata's", 'no key "schema" at its top'),
        ([], "not a document of Strata's", 'no key "schema" at its top'),
    ],
)
def test_a_document_of_another_version_is_not_called_damaged(value: object, message: str, given: str) -> None:
    with pytest.raises(StrataError) as refused:
        documents.of_schema(value, "strata.plan/1", "a.json", "make it again")
    assert (refused.value.message, refused.value.given) == (message, given)
    assert ("Strata that wrote it" in str(refused.value.remedy)) == ("version" in message)


def test_a_results_folder_that_is_none_says_what_it_is(folder: Path) -> None:
    for name, message, given in (
        ("absent.json", "there is no such folder", None),
        ("good.json", "not a results folder", "a file"),
        ("folder", "not a results folder", "a folder without plan.json"),
    ):
        with pytest.raises(StrataError) as refused:
            store.open_existing(folder / name)
        assert (refused.value.message, refused.value.given) == (message, given)
    (folder / "folder" / "plan.json").write_text(json.dumps({"schema": "strata.plan/99"}))
    with pytest.raises(StrataError, match="another version of Strata"):
        store.open_existing(folder / "folder")


@pytest.mark.parametrize(
    ("words", "message", "at", "given", "allowed", "remedy"),
    [
        (
            "centre generate --jobs many --out x",
            "not a whole number",
            "strata centre generate --jobs",
            "many",
            "[--jobs",
            "--help",
        ),
        ("centre uze jobs.txt", "there is no such choice", "strata centre", "uze", "reliability", "use?"),
        (
            "draw a.json",
            "something is missing",
            "strata draw --svg",
            "nothing",
            "strata draw",
            "strata draw --help",
        ),
        (
            "centre use a --parts",
            "a value is missing",
            "strata centre use --parts",
            "nothing",
            "[--parts",
            "--help",
        ),
        ("centre use a --wite 3", "the command does not take this", "strata", "--wite 3", "strata", "--help"),
    ],
)
def test_a_wrong_option_is_told_with_its_name_and_what_may_be(
    capsys: pytest.CaptureFixture[str],
    words: str,
    message: str,
    at: str,
    given: str,
    allowed: str,
    remedy: str,
) -> None:
    assert cli.main(words.split()) == 2
    error = StrataError.read(capsys.readouterr().err, 2)
    assert error is not None and (error.message, error.given) == (message, given)
    assert str(error.at).startswith(at) and allowed in str(error.allowed) and remedy in str(error.remedy)


def test_the_systems_reasons_are_said_in_plain_words() -> None:
    for error, words in (
        (FileNotFoundError(2, os.strerror(2)), "there is no such file or folder"),
        (IsADirectoryError(21, os.strerror(21)), "it is a folder: name a file in it"),
        (PermissionError(13, os.strerror(13)), "permission denied: ask its owner, or choose another place"),
        (OSError(28, os.strerror(28)), "the disk is full: free some of it, or choose another folder"),
        (OSError(9999, "something rare"), "something rare"),
        (OSError(40, "another user's link"), "another user's link"),
        (UnicodeDecodeError("utf-8", b"a\n\xff", 2, 3, "y"), "byte 0xff in line 2 is no text in UTF-8"),
    ):
        assert why(error) == words
