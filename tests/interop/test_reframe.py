"""contrib/reframe/strata_study.py under ReFrame itself, on its built-in system with the local scheduler.

ReFrame and what it needs are 240 MB: it is installed for the soak alone, into an environment that goes again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from other_tools import ROOT

STUDY = """
schema = "strata.study/1"
name = "mine"
launches = 6

[[program]]
name = "sh"
command = "sh -c 'echo rate: {n}.5; exit {status}'"
values = { n = [1, 2], status = [STATUS] }

[[program.figure]]
name = "rate"
pattern = '^rate: ([0-9.]+)$'
unit = "1/s"

[[layout]]
name = "pinned"

[limits]
others_share = 1e9
elsewhere_cpus = 1e9
steal_share = 1e9
involuntary_per_s = 1e9
cpu_pressure = 1e9
clock_drop = 1e9
"""

OWN = """
import reframe as rfm
from strata_study import StrataStudyBase


class Mine(StrataStudyBase):
    strata = {strata!r}
    study = {study!r}


@rfm.simple_test
class kept(Mine):
    reference = {{'*': {{'sh-1-0/pinned/1x1 rate': (1.5, -0.01, 0.01, '1/s')}}}}


@rfm.simple_test
class missed(Mine):
    reference = {{'generic:default': {{'sh-2-0/pinned/1x1 rate': (3.0, -0.1, 0.1, '1/s')}}}}


@rfm.simple_test
class misspelt(Mine):
    reference = {{'generic': {{'sh-1-0/pinned/1x1 rat': (1.5, -0.01, 0.01, '1/s')}}}}


@rfm.simple_test
class failing(Mine):
    study = {failing!r}


@rfm.simple_test
class absent(Mine):
    study = '/nonexistent/study.toml'
"""


@pytest.fixture(scope="module")
def reframe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("reframe")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "ReFrame-HPC>=4.6,<5"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"ReFrame cannot be installed here: {done.stderr.strip().splitlines()[-1:]}")
    yield folder / "bin" / "reframe"
    shutil.rmtree(folder)


def run(reframe: Path, folder: Path, check: Path, *options: str) -> dict[str, Any]:
    """ReFrame's own report of a run: test name -> its entry."""
    environment = dict(os.environ, HOME=str(folder), TMPDIR=str(folder), STRATA_PYTHON=sys.executable)
    environment["PYTHONPATH"] = f"{ROOT / 'contrib/reframe'}:{ROOT / 'python'}"
    report = folder / "report.json"
    words = [reframe, "-c", check, *options, f"--prefix={folder / 'prefix'}", f"--report-file={report}"]
    done = subprocess.run(
        [*words, "--exec-policy=serial", "-r", "--performance-report"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=1200,
    )
    assert report.exists(), done.stdout + done.stderr
    entries = json.loads(report.read_text())["runs"][0]["testcases"]
    return {entry["name"]: entry for entry in entries}


def measured(entry: dict[str, Any]) -> dict[str, tuple[float, str]]:
    """Performance variable -> value and unit."""
    found = {}
    for name, said in entry["perfvalues"].items():
        value, *_, unit = said[:5]
        found[name.partition(":")[2].partition(":")[2]] = (value, unit)
    return found


@pytest.mark.soak
def test_a_study_gives_its_headline_figures_to_reframe(reframe: Path, binary: Path, tmp_path: Path) -> None:
    study = tmp_path / "my study.toml"
    study.write_text(STUDY.replace("STATUS", "0"))
    check = ROOT / "contrib" / "reframe" / "strata_study.py"
    options = ("-S", f"StrataStudy.study={study}", "-S", f"StrataStudy.strata={binary}")
    [entry] = run(reframe, tmp_path, check, *options).values()
    assert entry["result"] == "pass", entry
    kept = tmp_path / "prefix/output/generic/default/builtin/StrataStudy/summary.json"
    tasks = json.loads(kept.read_text())["tasks"]
    medians = {f"{t['id']} {t['figures'][0]['name']}": (t["figures"][0]["median"], "1/s") for t in tasks}
    assert (
        measured(entry)
        == medians
        == {
            "sh-1-0/pinned/1x1 rate": (1.5, "1/s"),
            "sh-2-0/pinned/1x1 rate": (2.5, "1/s"),
        }
    )


@pytest.mark.soak
def test_references_are_kept_and_what_fails_says_why(reframe: Path, binary: Path, tmp_path: Path) -> None:
    study, failing, check = tmp_path / "one's own.toml", tmp_path / "failing.toml", tmp_path / "own.py"
    study.write_text(STUDY.replace("STATUS", "0"))
    failing.write_text(STUDY.replace("STATUS", "3"))
    check.write_text(OWN.format(strata=str(binary), study=str(study), failing=str(failing)))
    entries = run(reframe, tmp_path, check)
    assert {name: entry["result"] for name, entry in entries.items()} == {
        "kept": "pass",
        "missed": "fail",
        "misspelt": "fail",
        "failing": "fail",
        "absent": "fail",
    }
    why = {name: str(entry["fail_reason"]) for name, entry in entries.items()}
    assert "2.5" in why["missed"] and "sh-2-0/pinned/1x1 rate" in why["missed"]
    assert "no figure for: sh-1-0/pinned/1x1 rat;" in why["misspelt"]
    assert "pinned, 1 thread: exit code 3" in why["failing"]
    assert "strata: error: cannot read the case file" in why["absent"]
