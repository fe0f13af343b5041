"""What the native front refuses reaches Python as it was thrown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from strata.errors import StrataError
from strata.front import ask

REFUSAL = {
    "schema": "strata.error/1",
    "message": "the layout needs more cores than may be used",
    "at": "a.toml:3",
    "given": "9x9: 81",
    "allowed": "up to 4",
    "try": "2x2",
    "code": 2,
}


def front(folder: Path, body: str) -> Path:
    path = folder / "strata"
    path.write_text(f"#!{sys.executable} -IS\nimport os, sys\n{body}\n")
    path.chmod(0o755)
    return path


def test_an_answer_is_what_the_front_prints(tmp_path: Path) -> None:
    assert ask(front(tmp_path, "print(sys.argv[1:])"), ["launch", "a b"]) == "['launch', 'a b']\n"


def test_a_refusal_keeps_its_parts_whatever_else_was_said(tmp_path: Path) -> None:
    said = f"a warning\n{json.dumps(REFUSAL)}\n"
    body = f"assert os.environ['STRATA_ERRORS'] == 'json'\nsys.stderr.write({said!r})\nsys.exit(2)"
    with pytest.raises(StrataError) as caught:
        ask(front(tmp_path, body), ["launch"])
    error = caught.value
    assert (error.message, error.at, error.given) == (
        "the layout needs more cores than may be used",
        "a.toml:3",
        "9x9: 81",
    )
    assert (error.allowed, error.remedy, error.code) == ("up to 4", "2x2", 2)


def test_a_front_that_dies_without_a_refusal_is_an_error_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(StrataError, match="`strata launch` ended with status 3") as caught:
        ask(front(tmp_path, "sys.stderr.write('7\\nSegmentation fault\\n')\nsys.exit(3)"), ["launch"])
    assert caught.value.given == "7\nSegmentation fault" and caught.value.code == 3
