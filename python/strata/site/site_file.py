"""site.toml: what somebody says once for a cluster, and every job script then has."""

from __future__ import annotations

import os
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strata import documents, own_folders, paths
from strata.casefile import CaseFile, Key, is_name, is_text, list_of
from strata.errors import StrataError

# Launch lines of starters other than srun. {processes} and {nodes} are those of the job, {per_node} the
# processes of a node, {threads} those of a process.
STARTERS = {
    "srun": "",  # strata launch --nodes makes its own
    "aprun": "aprun -n {processes} -N {per_node} -d {threads} -cc none",
    "jsrun": "jsrun -n {nodes} -a {per_node} -c ALL_CPUS -b none",
    "ibrun": "ibrun -n {processes}",
}
_FIELDS = ("processes", "nodes", "per_node", "threads")


def _is_line(value: Any) -> bool:
    try:
        return is_text(value) and all(
            name is None or name in _FIELDS for _, name, _, _ in string.Formatter().parse(value)
        )
    except ValueError:
        return False


_TEXT = "text that is not empty"
SITE = {
    "partition": Key("text", is_text, _TEXT, None, "where jobs go that name none (default: Slurm's own)"),
    "account": Key("text", is_text, _TEXT, None, "whom jobs are charged to"),
    "qos": Key("text", is_text, _TEXT, None, "their quality of service"),
    "constraint": Key("text", is_text, _TEXT, None, "features that nodes must have"),
    "scratch": Key("text", is_text, _TEXT, None, "folder for the output of jobs; $USER and others are read"),
    "modules": Key("list", list_of(is_text), "a list of names", [], "loaded by each script, in this order"),
    "before": Key("list", list_of(is_text), "a list of lines", [], "lines of shell before the command"),
    "options": Key(
        "list", list_of(is_text), "a list of options of sbatch", [], "more of them, such as --mail-type=END"
    ),
    "starter": Key("text", is_name, "srun, aprun, jsrun, ibrun or one of [starters]", "srun", "starts ranks"),
    "starters": Key(
        "table",
        lambda v: isinstance(v, dict) and all(_is_line(line) for line in v.values()),
        "lines with {" + "}, {".join(_FIELDS) + "}",
        {},
        "launch lines of other starters",
    ),
    "machines": Key(
        "table",
        lambda v: isinstance(v, dict) and all(is_text(each) for each in v.values()),
        "for a partition: an hwloc XML file or synthetic:...",
        {},
        "what a partition's nodes are like",
    ),
}

_SHELL = ("modules", "before", "options", "starters")  # become part of scripts that run as whoever submits


@dataclass(frozen=True)
class Site:
    """What site.toml says; all of it may be absent."""

    path: Path | None = None
    values: Mapping[str, Any] = field(
        default_factory=lambda: {name: key.default for name, key in SITE.items()}
    )

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def scratch(self) -> Path | None:
        """The folder for output, with its variables read."""
        return Path(os.path.expandvars(self["scratch"])) if self["scratch"] else None

    def starter(self) -> str:
        """The launch line; empty for srun."""
        return {**STARTERS, **self["starters"]}[self["starter"]]

    def machine(self, partition: str) -> str | None:
        """A partition's nodes as `--machine` takes them; files are counted from the folder of site.toml."""
        said = self["machines"].get(partition)
        if said is None or said.startswith("synthetic:") or self.path is None:
            return said
        return str(self.path.parent / said)


def find(asked: Path | None, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The file of this site: as asked, $STRATA_SITE, the user's, the installation's, the system's."""
    said = asked or (Path(environment["STRATA_SITE"]) if environment.get("STRATA_SITE") else None)
    if said is not None:
        return said
    config = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    places = [place / "site.toml" for place in (config / "strata", *_installed(), Path("/etc/strata"))]
    return next((place for place in places if place.is_file() and _says_something(place)), None)


def _installed() -> list[Path]:
    """Whoever owns the installation could have written anything into it."""
    return [prefix / "etc" / "strata" for prefix in paths.prefixes()]


def _says_something(file: Path) -> bool:
    """Whether it has more than comments: the example of an installation does not stand for /etc/strata."""
    try:
        text = documents.contents(file).decode(errors="replace")
    except OSError:
        return True  # read() says what is wrong with it
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def read(path: Path | None) -> Site:
    """Raises StrataError for wrong keys, with file and line. No file is a site that says nothing."""
    if path is None:
        return Site()
    file = CaseFile(path, "strata submit --help", "the example in docs/cluster.md")
    values = file.checked(file.value, SITE)
    known = {**STARTERS, **values["starters"]}
    if values["starter"] not in known:
        raise StrataError(
            "no such starter", at=file.at("starter"), given=values["starter"], allowed=", ".join(known)
        )
    if any(values[key] for key in _SHELL) and path.absolute().parent not in _installed():
        remedy = "read it, and copy it to ~/.config/strata/site.toml"
        own_folders.need(path, "lines for the shells of your jobs", remedy)
    return Site(path.absolute(), values)
