"""The machine as hwloc's XML: read back here, and by lstopo where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from other_tools import MACHINES, Run

LSTOPO = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
TOPOLOGY = ("packages", "domains", "distances", "caches", "cores", "core_kinds")


def facts(strata: Run, *words: str | Path) -> dict[str, Any]:
    done = strata("machine", "--json", *words)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def sources() -> list[str]:
    files = sorted(str(file) for file in MACHINES.glob("*.xml") if not file.name.startswith("not-"))
    return [
        *files,
        "synthetic:package:2 numa:4 l3:2 core:8 pu:2",
        "synthetic:package:1 core:4 pu:1(indexes=3,1,2,0)",
    ]


@pytest.mark.parametrize("source", sources(), ids=lambda source: Path(source).name)
def test_a_described_machine_written_and_read_back_is_the_same(
    strata: Run, tmp_path: Path, source: str
) -> None:
    file = tmp_path / "machine.xml"
    assert strata("machine", "--input", source, "--xml", file).returncode == 0
    before, after = facts(strata, "--input", source), facts(strata, "--input", file)
    for key in (*TOPOLOGY, "memories", "devices", "allowed"):
        assert after[key] == before[key], key
    assert [path.name for path in tmp_path.iterdir()] == ["machine.xml"]


def test_this_machine_written_and_read_back_has_the_same_topology(strata: Run, tmp_path: Path) -> None:
    file = tmp_path / "here.xml"
    assert strata("machine", "--xml", file).returncode == 0
    here, back = facts(strata), facts(strata, "--input", file)
    for key in TOPOLOGY:
        if key in ("cores", "distances"):  # clock and firmware are this system's own
            continue
        assert back[key] == here[key], key
    for one, other in zip(here["cores"], back["cores"], strict=True):
        assert (one["pus"], one["package"], one["domain"]) == (
            other["pus"],
            other["package"],
            other["domain"],
        )
    assert [memory["os_index"] for memory in back["memories"]] == [m["os_index"] for m in here["memories"]]
    plan = strata("launch", "--dry-run", "--machine", file, "--layout", "1x1", "--", "true")
    assert plan.returncode == 0, plan.stderr


@pytest.mark.skipif(LSTOPO is None, reason="needs lstopo (Debian: hwloc-nox)")
@pytest.mark.parametrize("source", ["system", "synthetic:package:2 numa:2 l3:2 core:3 pu:2"])
def test_lstopo_reads_it_and_counts_the_same(strata: Run, tmp_path: Path, source: str) -> None:
    file = tmp_path / "machine.xml"
    assert strata("machine", "--input", source, "--xml", file).returncode == 0
    root = ElementTree.parse(file).getroot()
    assert root.tag == "topology" and root.get("version", "").startswith("2.")
    assert LSTOPO is not None
    said = subprocess.run(
        [LSTOPO, "-i", str(file), "--only", "pu"], capture_output=True, text=True, timeout=60
    )
    assert said.returncode == 0, said.stderr
    pus = sum(len(core["pus"]) for core in facts(strata, "--input", source)["cores"])
    assert len(said.stdout.splitlines()) == pus


def test_standard_output_takes_it_and_a_place_that_cannot_be_written_is_one_error(
    strata: Run, tmp_path: Path
) -> None:
    text = strata("machine", "--xml", "-", "--input", "synthetic:core:2 pu:1").stdout
    assert ElementTree.fromstring(text).tag == "topology"
    link, file = tmp_path / "link.xml", tmp_path / "file.xml"
    link.symlink_to("file.xml")
    assert strata("machine", "--xml", link, "--input", "synthetic:core:2 pu:1").returncode == 0
    assert link.is_symlink() and file.read_text() == text
    assert strata("machine", "--xml", "/dev/stdout", "--input", "synthetic:core:2 pu:1").stdout == text
    link.unlink(), file.unlink()
    refused = strata("machine", "--xml", tmp_path / "no" / "machine.xml")
    assert refused.returncode == 2
    assert refused.stderr.count("strata: error:") == 1 and "cannot be written" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_a_race_and_a_study_are_planned_for_a_machine_that_is_only_a_file(
    strata: Run, tmp_path: Path
) -> None:
    node = ("--machine", str(MACHINES / "two-sockets-128-cores-smt.xml"))
    raced = strata("tune", "--dry-run", "--kind", "openmp", *node, "--", "true")
    assert raced.returncode == 0, raced.stderr
    assert "--layout 1x128 " in raced.stdout and "--layout 1x64 " in raced.stdout
    study = tmp_path / "my.toml"
    study.write_text(
        'schema = "strata.study/1"\nname = "mine"\n[[program]]\nname = "true"\ncommand = "true"\n'
        '[[layout]]\nname = "held"\nlayouts = ["1xN", "Nx1"]\n'
    )
    planned = strata("study", "run", study, "--dry-run", *node)
    assert planned.returncode == 0, planned.stderr
    assert "--layout 1x128 " in planned.stdout and "--layout 128x1 " in planned.stdout
    for refused in (strata("study", "run", study, *node), strata("tune", *node, "--", "true")):
        assert refused.returncode == 2
        assert refused.stderr.count("strata: error:") == 1 and "runs nothing" in refused.stderr
    absent = strata("tune", "--dry-run", "--machine", "/nonexistent.xml", "--", "true")
    assert absent.returncode == 2 and absent.stderr.count("strata: error:") == 1
    assert "/nonexistent.xml" in absent.stderr and "hwloc XML file" in absent.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["my.toml"]
