"""Where site.toml is looked for, and the example that each installation has."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from strata import documents
from strata.errors import StrataError
from strata.site import site_file

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "contrib" / "site" / "site.toml"


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation, a link to a tree, and a user without settings."""
    tree = tmp_path / ".trees" / "1.0" / "today"
    for folder in ("bin", "share/strata", "etc/strata"):
        (tree / folder).mkdir(parents=True)
    (tree / "bin" / "strata").touch()
    prefix = tmp_path / "1.0"
    prefix.symlink_to(tree)
    (tree / "share" / "strata" / "prefix").write_text(f"{prefix}\n")
    monkeypatch.setenv("STRATA_BIN", str(tree / "bin" / "strata"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("STRATA_SITE", raising=False)
    return prefix


def test_the_example_says_nothing_and_so_is_passed_over(prefix: Path) -> None:
    file = prefix / "etc" / "strata" / "site.toml"
    file.write_text(EXAMPLE.read_text())
    assert site_file.find(None) != file
    file.write_text(EXAMPLE.read_text() + 'account = "physics"\n')
    assert site_file.find(None) == file, "by the name that stays when the tree is replaced"
    own = Path(prefix.parent, "config", "strata", "site.toml")
    own.parent.mkdir(parents=True)
    own.write_text('account = "chemistry"\n')
    assert site_file.find(None) == own, "the user's comes first"


def test_the_example_has_all_keys_and_is_the_one_of_the_documentation(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in EXAMPLE.read_text().splitlines()]
    keys = lines[next(i for i, line in enumerate(lines) if line.startswith("partition = ")) :]
    file = tmp_path / "site.toml"
    file.write_text("\n".join([*keys, ""]))
    site = site_file.read(file)
    assert {name for name in site.values if site[name]} | {"qos", "constraint"} == set(
        site_file.Site().values
    )
    page = (ROOT / "docs" / "cluster.md").read_text()
    shown = re.search(r"```toml\n(partition = .*?)```", page, re.S)
    assert shown and shown[1] == file.read_text()


def test_the_environment_names_a_site_before_the_user_s_own(prefix: Path, tmp_path: Path) -> None:
    file = tmp_path / "config" / "strata" / "site.toml"
    file.parent.mkdir(parents=True)
    file.write_text('account = "physics"\n')
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert site_file.find(None, environment) == file
    named = {**environment, "STRATA_SITE": "other.toml"}  # as docs/cluster.md has it
    assert site_file.find(None, named) == Path("other.toml")
    assert site_file.find(Path("asked.toml"), named) == Path("asked.toml")


def test_a_site_that_may_not_be_read_is_one_error(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise PermissionError(13, os.strerror(13))

    file = tmp_path / "strata" / "site.toml"
    file.parent.mkdir()
    file.write_text('account = "physics"\n')
    monkeypatch.setattr(documents, "contents", closed)
    monkeypatch.setattr(documents, "named", closed)
    with pytest.raises(StrataError, match="cannot read the case file") as refused:
        site_file.read(site_file.find(None, {"XDG_CONFIG_HOME": str(tmp_path)}))
    assert "permission denied" in str(refused.value.given)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_lines_of_shell_are_taken_from_no_file_of_another_users(prefix: Path, tmp_path: Path) -> None:
    for place in (tmp_path / "theirs", prefix / "etc" / "strata"):
        place.mkdir(exist_ok=True)
        (place / "site.toml").write_text('account = "physics"\n')
        os.chown(place / "site.toml", 65534, 65534)
        assert site_file.read(place / "site.toml")["account"] == "physics"
    (tmp_path / "theirs" / "site.toml").write_text('before = ["touch evil"]\n')
    with pytest.raises(StrataError, match="lines for the shells of your jobs") as refused:
        site_file.read(tmp_path / "theirs" / "site.toml")
    assert "belongs to user 65534" in str(refused.value.given)
    (prefix / "etc" / "strata" / "site.toml").write_text('before = ["module purge"]\n')
    assert site_file.read(prefix / "etc" / "strata" / "site.toml")["before"] == ["module purge"]
