"""Claims about the figures in docs/: each measured table has its command and its code beside it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def module(path: Path) -> ModuleType:
    """A script of a folder that is no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


measured = module(ROOT / "docs" / "measured.py")


def where(table: object) -> str:
    return f"docs/{table.page}:{table.line} ({table.head[:60]})"  # type: ignore[attr-defined]


def test_each_measured_table_says_which_code_it_measured() -> None:
    without = [where(t) for t in measured.measured() if t.code is None]
    assert not without, f"below them: 'Code: COMMIT; measures FOLDER, FOLDER.' (docs/measured.py): {without}"


def test_each_measured_table_has_its_command_in_its_section() -> None:
    without = [where(t) for t in measured.measured() if not t.commands]
    assert not without, f"a command in a code span or a block: {without}"


def test_what_tables_measure_is_there() -> None:
    gone = [
        (where(t), folder)
        for t in measured.measured()
        if t.code is not None
        for folder in t.code.folders
        if not (ROOT / folder).exists()
    ]
    assert not gone


def test_tables_that_are_said_to_be_none_are_there() -> None:
    text = {page: (ROOT / "docs" / page).read_text() for page, _ in measured.NOT_MEASURED}
    assert all(f"\n{head}" in text[page] for page, head in measured.NOT_MEASURED)


TABLE = """# A page

{command}

| layout | GB/s |
| --- | --- |
| 1x1 | 12.1 |

{code}

## Words

| key | meaning |
| --- | --- |
| `a` | 3 words are no measurement |
| `b` | none |
| `c` | none |
| `d` | none |
| `e` | none |
"""


@pytest.mark.parametrize(
    ("command", "code", "commands", "coded"),
    [
        ("`strata bench stream`:", "Code: 1a2b3c4d; measures core/graph, cli.", True, True),
        ("```sh\npython3 x.py --y\n```", "Code: before 1a2b3c4d; measures core.", True, True),
        ("The command `strata` measures.", "Code: 1a2b3c4d", False, False),
        ("strata bench stream", "Code: one of them; measures core.", False, False),
    ],
)
def test_what_counts_as_a_command_and_as_a_commit(
    command: str, code: str, commands: bool, coded: bool
) -> None:
    (table,) = measured.tables("page.md", TABLE.format(command=command, code=code))
    assert (table.commands, table.code is not None) == (commands, coded)
    if coded:
        assert table.code.commit == "1a2b3c4d" and table.code.before is ("before" in code)


def test_tables_of_changed_folders_are_listed_and_a_shallow_clone_says_that_it_cannot_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def git(*words: str, at: Path) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b.example", "-C", str(at), *words],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    work = tmp_path / "work"
    (work / "docs").mkdir(parents=True)
    (work / "core").mkdir()
    (work / "cli").mkdir()
    git("init", "-q", at=work)
    for folder in ("core", "cli"):
        (work / folder / "a.cpp").write_text("1")
    git("add", ".", at=work)
    git("commit", "-qm", "first", at=work)
    first = git("rev-parse", "HEAD", at=work)
    pages = {"a": f"Code: {first}; measures core.", "b": f"Code: before {first[:9]}; measures cli."}
    for name, code in pages.items():
        (work / "docs" / f"{name}.md").write_text(TABLE.format(command="`strata x`", code=code))
    (work / "core" / "a.cpp").write_text("2")
    git("add", ".", at=work)
    git("commit", "-qm", "core changes", at=work)

    monkeypatch.setattr(measured, "DOCS", work / "docs")
    measured._git.cache_clear()
    assert measured.main([]) == 0
    said = capsys.readouterr().out
    assert "2 tables of measured figures, 1 of code that changed since" in said
    assert f"| docs/a.md:5, A page | {first} | 1 |" in said and "docs/b.md" not in said
    measured._git.cache_clear()
    assert measured.main(["--all"]) == 0 and "docs/b.md:5" in capsys.readouterr().out

    git("clone", "-q", "--depth", "1", f"file://{work}", str(tmp_path / "shallow"), at=work)
    monkeypatch.setattr(measured, "DOCS", tmp_path / "shallow" / "docs")
    measured._git.cache_clear()
    assert measured.main([]) == 0
    assert "cannot be known: this clone is shallow" in capsys.readouterr().out
    measured._git.cache_clear()
