"""Claims about `strata centre fleet`: what it writes and exits with, whom it drains, what it submits."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from strata import cli
from strata.centre.fleet import quick
from strata.centre.fleet.submit import hostnames
from strata.errors import StrataError

PLANTED = ("--plant", "17:bandwidth:12%:3", "--plant", "30:latency:20%:1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("SLURM_JOB_ID", "SLURM_CONF", "STRATA_SITE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def fleet(here: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """100 nodes, one of which lost bandwidth, and one that was slow once."""
    assert cli.main(["centre", "fleet", "generate", "--nodes", "100", *PLANTED, "--out", "fleet"]) == 0
    capsys.readouterr()
    return here / "fleet"


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, **texts: str) -> Path:
    """Stand-ins of Slurm's commands, first on PATH; `asked` gets their words."""
    (folder / "bin").mkdir(exist_ok=True)
    for name, text in texts.items():
        path = folder / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{folder}/asked"\n{text}\n')
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
    return folder / "asked"


def test_report_json_prometheus_and_exit_code(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["centre", "fleet", "report", "fleet", "--drain", "--prometheus", "fleet.prom"]
    assert cli.main(words) == 1
    said = capsys.readouterr().out
    assert re.search(
        r"^node n017: domain \d's bandwidth is 1\d % below the fleet's, since 2026-02-05", said, re.M
    )
    assert re.search(
        r"1 node; measure again \(strata centre fleet submit --again\)\n"
        r"  n030: domain \d's latency is \d\d % above the fleet's, since 2026-02-19 \(1 run\)\n",
        said,
    )
    assert "report: fleet-report/report.html" in said
    assert "\nscontrol update nodename=n017 state=drain 'reason=strata: domain " in said
    page = Path("fleet-report/report.html").read_text()
    for text in ("never were", "Suspects", "All nodes", "History of suspects", "kernel 6.1.1 became 6.1.2"):
        assert text in page, text
    drawn = {p.stem for p in Path("fleet-report/figures").iterdir()}
    assert drawn == {"nodes", "worst", "spread", "history", "fleet"}
    whole = json.loads(Path("fleet-report/fleet.json").read_text())
    assert whole["schema"] == "strata.fleet/1" and [s["node"] for s in whole["suspects"]] == ["n017"]
    outlier = whole["suspects"][0]["outliers"][0]
    assert outlier["figure"] == "bandwidth" and -14 < outlier["percent"] < -10 and outlier["runs"] == 3
    metrics = Path("fleet.prom").read_text().splitlines()
    assert "strata_fleet_suspects 1" in metrics and "strata_fleet_nodes 100" in metrics
    assert any(
        m.startswith('strata_fleet_suspect{node="n017",cause="bandwidth of one domain') for m in metrics
    )
    sample = re.compile(r'[a-z_]+(\{([a-z]+="[^"]*",?)+\})? -?[0-9.]+')
    assert all(m.startswith("# ") or sample.fullmatch(m) for m in metrics)
    assert cli.main(["centre", "fleet", "report", "fleet", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == whole
    assert cli.main(["centre", "fleet", "report", "fleet", "--least", "25%", "--out", "other"]) == 0
    assert "no suspect among 100 nodes" in capsys.readouterr().out


def test_nodes_to_be_measured_again_have_their_figures_and_an_exit_code_of_their_own(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["centre", "fleet", "generate", "--nodes", "40", "--runs", "1", "--out"]
    assert cli.main([*made, "once", "--plant", "17:core:25%:1"]) == 0
    capsys.readouterr()
    report = ["centre", "fleet", "report"]
    assert cli.main([*report, "once"]) == 4
    said = capsys.readouterr().out
    assert re.search(
        r"again\)\n  n17: core \d+'s computing rate is 2\d % below the fleet's, in its only run; "
        r"matrix multiplication is 1\d % below the fleet's, in its only run",
        said,
    )
    assert cli.main([*report, "once", "--json"]) == 4
    whole = json.loads(capsys.readouterr().out)
    (node,) = whole["again"]
    assert node["node"] == "n17" and [o["figure"] for o in node["outliers"]] == ["core", "dgemm"]
    assert node["outliers"][0]["percent"] == pytest.approx(-25, abs=3)
    assert cli.main([*made, "gone", "--plant", "17:core:40%:1"]) == 0
    capsys.readouterr()
    assert cli.main([*report, "gone"]) == 1  # no healthy node comes near: named at once
    assert re.match(
        r"node n17: core \d+'s computing rate is [34]\d % below the fleet's", capsys.readouterr().out
    )


def test_nodes_without_any_figure_have_a_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "fleet").mkdir()
    for node in "abc":
        run = {"schema": quick.SCHEMA, "node": node, "time": "2026-11-03T14:05:00Z", "figures": {}}
        run |= {"failed": {"dgemm": "residual: 3e9"} if node == "b" else {}}
        (here / "fleet" / f"{node}.json").write_text(json.dumps(run))
    assert cli.main(["centre", "fleet", "report", "fleet"]) == 1
    assert capsys.readouterr().out.startswith(
        "node b: wrong results of dgemm: residual: 3e9\nin groups of fewer than 8"
    )


def test_draining_is_asked_for_and_has_a_limit(
    fleet: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = program(fleet.parent, monkeypatch, scontrol="")
    report = ["centre", "fleet", "report", "fleet", "--json"]
    assert cli.main([*report, "--drain"]) == 1
    assert "\nscontrol update nodename=n017" in "\n" + capsys.readouterr().err
    assert not asked.exists()
    assert cli.main([*report, "--drain-now", "--drain-most", "0"]) == 1
    assert "so many nodes" in capsys.readouterr().err and not asked.exists()
    assert cli.main([*report, "--drain-now"]) == 1
    (line,) = asked.read_text().splitlines()
    assert line.startswith("scontrol update nodename=n017 state=drain reason=strata: domain ")
    program(fleet.parent, monkeypatch, scontrol="echo 'slurm_update error: Access denied' >&2; exit 1")
    assert cli.main([*report, "--drain-now"]) == 1
    assert "Access denied" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "nothing"], "no such file or folder"),
        (["report", ".", "--least", "120%"], "not a deviation"),
        (["generate", "--out", "x", "--plant", "17:paint:12%:3"], "not a fault"),
        (["generate", "--out", "x", "--plant", "401:core:12%:3"], "not a fault"),
        (["generate", "--out", ".", "--nodes", "3"], "such a folder already"),
        (["generate", "--out", "x", "--nodes", "0"], "no fleet"),
    ],
)
def test_what_is_refused(
    here: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["centre", "fleet", *words]) == 2
    assert message in capsys.readouterr().err


SINFO = """case $* in *--Node*) printf "n1|1000|(null)\\nn2|1000|(null)\\nn3|1000|(null)\\n";;
*) printf "batch*|3|2|32|2|1:00:00|n/a\\n";; esac"""


def test_a_job_for_each_node_and_who_stays_silent(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = program(here, monkeypatch, sinfo=SINFO, sbatch="case $* in *=n3*) exit 1;; esac\necho 4711")
    submit = ["centre", "fleet", "submit", "--out", "my fleet"]
    assert cli.main([*submit, "--dry-run"]) == 0
    assert "sbatch" not in asked.read_text() and not (here / "my fleet").exists()
    script = capsys.readouterr().out
    assert "#SBATCH --exclusive" in script and "#SBATCH --time=0:05:00" in script
    assert re.search(r"^exec \S+ centre fleet quick --out '/.*/my fleet' --campaign fleet-\S+$", script, re.M)
    assert cli.main(submit) == 1
    said = capsys.readouterr().out
    assert "submitted 2 jobs to partition batch" in said and "Slurm refused 1: n3" in said
    jobs = [line for line in asked.read_text().splitlines() if line.startswith("sbatch")]
    assert [re.search(r"--nodelist=(\S+)", j).group(1) for j in jobs] == ["n1", "n2", "n3"]  # type: ignore[union-attr]
    (path,) = (here / "my fleet").glob("fleet-*.sh")
    (here / "my fleet" / "n1").mkdir()
    run = {"schema": quick.SCHEMA, "node": "n1", "time": "2026-11-03T14:05:00Z", "campaign": path.stem}
    run |= {"figures": {"dgemm": {"unit": "GF/s", "better": "higher", "values": [1.0]}}}
    (here / "my fleet" / "n1" / "1.json").write_text(json.dumps(run))
    assert cli.main(["centre", "fleet", "report", "my fleet"]) == 0
    assert "asked, and left no file: n2, n3" in capsys.readouterr().out


def test_a_module_of_any_name_is_one_word_of_the_script(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program(here, monkeypatch, sinfo=SINFO)
    (here / "config" / "strata").mkdir(parents=True)
    (here / "config" / "strata" / "site.toml").write_text('modules = ["gcc/12", "a; touch evil"]\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "config"))
    assert cli.main(["centre", "fleet", "submit", "--out", "fleet", "--dry-run"]) == 0
    loaded = [line for line in capsys.readouterr().out.splitlines() if line.startswith("module ")]
    assert [shlex.split(line) for line in loaded] == [
        ["module", "load", "gcc/12"],
        ["module", "load", "a; touch evil"],
    ]


def test_who_was_slow_once_is_measured_again(
    fleet: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = program(fleet.parent, monkeypatch, sinfo=SINFO, sbatch="echo 4711")
    assert cli.main(["centre", "fleet", "submit", "--again", "--out", "fleet"]) == 0
    jobs = [line for line in asked.read_text().splitlines() if line.startswith("sbatch")]
    assert len(jobs) == 1 and "--nodelist=n030 " in jobs[0]
    capsys.readouterr()


def test_in_an_allocation_one_step_runs_on_all_of_its_nodes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = program(here, monkeypatch, srun="", scontrol="printf 'n1\\nn2\\n'")
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    assert cli.main(["centre", "fleet", "submit", "--out", "fleet"]) == 0
    line = asked.read_text().splitlines()[-1]
    assert line.startswith("srun --nodes=2 --ntasks-per-node=1 ") and line.endswith("--campaign job 12")
    assert (here / "fleet" / "asked-job 12.txt").read_text() == "n1\nn2\n"


def test_lists_of_nodes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hostnames("n1, n2") == ["n1", "n2"]
    program(here, monkeypatch, scontrol="exit 1")
    with pytest.raises(StrataError, match="not a list of nodes"):
        hostnames("n[1-")


# --- the run on a node

MACHINE = {
    "cores": [{"pus": [p]} for p in sorted(os.sched_getaffinity(0))],
    "domains": [{"index": 0}, {"index": 1}],
    "memories": [
        {"index": 0, "os_index": 0, "domain": 0, "total_bytes": 2**34},
        {"index": 1, "os_index": 8, "domain": 1, "total_bytes": 2**34},
    ],
    "packages": [{}],
    "cpu_model": "X",
}


def result(verified: bool = True, **parts: object) -> str:
    whole = {
        "verified": verified,
        "verification": {"what": "residual", "value": 7},
        "figures": [],
        "curves": [],
    }
    return json.dumps({**whole, "matrices": [], **parts})


def front(folder: Path, texts: dict[str, str]) -> Path:
    """A stand-in of the native front: `bench NAME` leaves the result NAME, or NAME.n the n-th time."""
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text)
    path = folder / "strata"
    path.write_text(
        f'#!/bin/sh\ncd "{folder}"\nfor last; do :; done\necho >> "$2.calls"\n'
        'for from in "$2.$(wc -l < "$2.calls").json" "$2.json"; do\n'
        '    [ -e "$from" ] && exec cp "$from" "$last"\ndone\n'
        'echo "strata: error: no BLAS was found" >&2; exit 1\n'
    )
    path.chmod(0o755)
    return path


def test_a_quick_run_takes_medians_and_says_what_failed_and_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def matrix(name: str, values: list[list[float]]) -> dict[str, object]:
        return {"name": name, "rows": [0, 1], "columns": [0, 8], "values": values}

    texts = {
        "clock": result(verified=False),
        "noise": result(
            figures=[{"name": "mean loss", "value": 25.0}],
            curves=[{"name": "time of a quantum", "points": [[4, 200.0], [2, 250.0]]}],
        ),
        "noise.2": result(
            figures=[{"name": "mean loss", "value": 900.0}],
            curves=[{"name": "time of a quantum", "points": [[4, 100.0], [2, 900.0]]}],
        ),
        "domains": result(
            matrices=[matrix("bandwidth", [[90, 40], [30, 80]]), matrix("latency", [[100, 150], [170, 110]])]
        ),
    }
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    whole = quick.measured(front(tmp_path, texts), MACHINE, lambda _: None)
    values = {name: f["values"] for name, f in whole["figures"].items()}
    assert values == {
        "core": [5000.0, 4000.0],
        "undisturbed": [80.0],
        "bandwidth": [90.0, 80.0],
        "latency": [100.0, 110.0],
        "remote_bandwidth": [30.0],
        "remote_latency": [170.0],
    }
    assert whole["figures"]["core"]["parts"] == [4, 2] and whole["figures"]["core"]["rounds"] == 3
    assert whole["failed"] == {"clock": "residual: 7"}
    assert whole["absent"]["dgemm"] == "no BLAS was found" and "not installed" in whole["absent"]["integrity"]
    assert whole["integrity"] is None


def test_many_pairs_of_domains_get_smaller_arrays() -> None:
    machine = {"caches": [{"level": 2, "size_bytes": 2**31}, {"level": 3, "size_bytes": 100 << 20}]}
    assert [quick._array(machine, n) for n in (1, 4, 8)] == [(), (), ("--array", "128MiB")]


@pytest.mark.parametrize(
    ("lines", "code", "findings"),
    [
        ('{"event":"end"}', 0, 0),
        ('{"event":"finding","kernel":"fma","core":3}\n{"event":"end"}', 1, 1),
        ("a crash", 139, None),
    ],
)
def test_integrity_is_asked_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, code: int, findings: int | None
) -> None:
    program = tmp_path / "strata-integrity"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{lines}\nE\nexit {code}\n")
    program.chmod(0o755)
    whole = quick.measured(front(tmp_path, {}), MACHINE, lambda _: None)
    if findings is None:
        assert whole["integrity"] is None and "139" in whole["absent"]["integrity"]
    else:
        assert len(whole["integrity"]["findings"]) == findings


def test_a_quick_run_of_this_node_can_be_read_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the real benchmarks, shortened to what one round has."""
    from strata.centre.fleet import reading

    native = pytest.importorskip("tested_build").strata()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATA_BIN", str(native))
        patch.setattr(quick, "ROUNDS", 1)
        patch.setattr(quick, "LONGEST_S", 300)  # beside other tests
        patch.setattr(quick, "_array", lambda *_: ("--array", "64MiB"))
        assert cli.main(["centre", "fleet", "quick", "--out", "fleet", "--campaign", "try", "--here"]) == 0
    path = capsys.readouterr().out.strip()
    fleet = reading.read([Path("fleet")])
    assert path.startswith("fleet/") and fleet.campaign == ["try"] and fleet.runs == 1
    assert {"clock", "core", "bandwidth", "latency"} <= set(fleet.figures), fleet.absent
    assert "dgemm" in fleet.figures or "BLAS" in fleet.absent["dgemm"]  # a front in a build folder has none
    assert fleet.facts["cores"][0].isdecimal() and fleet.facts["kernel"][0]
