"""The manifests of Strata's solvers: they are found in a checkout and in an installed tree, and a wrong one
is an error that says where.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from strata import paths, solvers
from strata.errors import StrataError

SMALL = """title = "Waves"
about = "waves on a string"
part = "wave"
program = "strata-wave"
needs = ["tomlplusplus"]
cases = ["wave"]
pages = ["wave.md"]
"""


def written(folder: Path, text: str, name: str = "wave") -> Path:
    path = folder / name / solvers.MANIFEST
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_a_manifest_says_what_a_solver_is_and_its_folder_the_name(tmp_path: Path) -> None:
    solver = solvers.read(written(tmp_path, SMALL + 'measuring = ["strata-wave-speed"]\n'))
    assert (solver.name, solver.title, solver.programs) == ("wave", "Waves", ())
    assert solver.all_programs() == ("strata-wave", "strata-wave-speed")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMALL + "page = []\n", (":8 page", "unknown key")),
        (SMALL.replace('"wave"', "3", 1), (":3 part", "given: 3", "allowed: a text")),
        (SMALL.replace('["wave"]', '"wave"'), (":6 cases", "allowed: a list of texts")),
        (SMALL.replace('title = "Waves"\n', ""), ("title", "given: nothing")),
        (SMALL + "programs =\n", (":8", "this is not TOML")),
    ],
)
def test_a_wrong_manifest_is_an_error_that_names_the_line(
    tmp_path: Path, text: str, said: tuple[str, ...]
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(StrataError) as caught:
        solvers.read(path)
    text = " ".join(str(caught.value).split())
    for words in (str(path), *said):
        assert words in text


def test_those_of_an_installed_tree_are_found_beside_its_front(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "share" / "strata" / "solvers", SMALL)
    front = tmp_path / "bin" / "strata"
    front.parent.mkdir()
    front.touch()
    monkeypatch.setenv("STRATA_BIN", str(front))
    monkeypatch.setattr(solvers, "root", lambda: None)
    assert list(solvers.shipped()) == ["wave"]
    (tmp_path / "share" / "strata" / "solvers" / "wave" / solvers.MANIFEST).unlink()
    monkeypatch.setattr(paths.sys, "prefix", str(tmp_path))
    with pytest.raises(StrataError, match="manifests of Strata's solvers were not found"):
        solvers.shipped()
