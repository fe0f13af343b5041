"""Where site.toml is looked for, and the example that each installation has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
