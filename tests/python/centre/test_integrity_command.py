"""Claims about `strata centre integrity`: history, report, metrics, what is drained, what is refused.

The native program is another one here, which says what the test wants.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import integrity_program
import pytest
from integrity_program import START, finding, sums

from strata import cli
from strata.centre.integrity import command
from strata.centre.integrity.history import State

PROGRAM = Path(integrity_program.__file__)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "strata-integrity"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {PROGRAM}\n")
    program.chmod(0o755)
    monkeypatch.setattr(command, "find", lambda: program)
    monkeypatch.setenv("STRATA_TEST_EVENTS", str(tmp_path / "events"))
    return tmp_path


def says(folder: Path, *events: Any) -> None:
    (folder / "events").write_text("".join(json.dumps(e) + "\n" for e in events))


def strata(folder: Path, *words: str) -> int:
    return cli.main(["centre", "integrity", "--state", str(folder / "state"), *words])


def test_a_pass_without_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    says(folder, START, sums("progress", 1, 0), sums("end", 2, 0))
    assert strata(folder, "--time", "1m", "--prometheus", str(folder / "m.prom")) == 0
    said = capsys.readouterr()
    assert "8 rounds of tests on 2 cores: no wrong answer" in said.out
    assert "testing 2 cores (0-1) by avx2, memory-march; 8 MiB" in said.err
    assert "left out: amx: this processor has no AMX" in said.err
    state = folder / "state"
    assert "Every answer was right." in (state / "report.md").read_text()
    assert "coverage" in (state / "report.html").read_text()
    assert not (state / "drain").exists() and not (state / "running.json").exists()
    data = json.loads((state / "integrity.json").read_text())
    assert data["rounds"] == 8 and data["drain"] is None
    metrics = (folder / "m.prom").read_text()
    assert 'strata_integrity_rounds_total{core="1",kernel="avx2"} 2\n' in metrics
    assert "strata_integrity_drain 0\n" in metrics


def test_passes_add_up(folder: Path) -> None:
    says(folder, START, sums("end", 2, 0))
    for _ in range(3):
        assert strata(folder) == 0
    data = json.loads((folder / "state" / "integrity.json").read_text())
    assert data["passes"] == 3 and data["rounds"] == 24
    assert sum(row["seconds"] for row in data["yielded"]) == 9.0


def test_a_core_that_is_wrong_again_drains_until_it_is_cleared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = finding(1)
    says(folder, START, {**bad, "event": "suspect", "verdict": None}, bad, sums("end", 2, 1))
    assert strata(folder, "--prometheus", str(folder / "m.prom")) == 1
    state = folder / "state"
    why = "core 1: wrong answer of avx2 (core, avx2:0x2f:1)"
    assert (state / "drain").read_text() == why + "\n"
    assert why in capsys.readouterr().out
    page = (state / "report.md").read_text()
    for text in ("double lane 3", "core 1 wrong, core 0 right", "0x40", "--replay avx2:0x2f:1", "51"):
        assert text in page, text
    metrics = (folder / "m.prom").read_text()
    assert 'findings_total{core="1",verdict="core"} 1\n' in metrics and "_drain 1\n" in metrics
    assert strata(folder, "--check") == 1 and why in capsys.readouterr().out
    assert strata(folder, "--report") == 1
    assert strata(folder, "--clear") == 0
    assert not (state / "drain").exists()
    assert strata(folder, "--check") == 0
    assert len(json.loads((state / "integrity.json").read_text())["findings"]) == 1


@pytest.mark.parametrize(
    ("changes", "drained"),
    [
        ([{"verdict": "not repeated"}], None),
        ([{"verdict": "not repeated"}] * 2, "core 1: 2 wrong answers that did not repeat"),
        ([{"verdict": "not repeated"}, {"verdict": "not repeated", "core": 0}], None),
        ([{"verdict": "program"}] * 3, None),
        ([{"verdict": "repeated"}], "core 1: wrong answer of avx2 (repeated, avx2:0x2f:1)"),
        ([{"verdict": "memory", "physical": "0x3000"}], "memory at 0x3000: wrong answer of avx2"),
    ],
)
def test_what_is_a_reason_to_drain(folder: Path, changes: list[dict[str, Any]], drained: str | None) -> None:
    found = [finding(i + 1, **change) for i, change in enumerate(changes)]
    says(folder, START, *found, sums("end", 2, len(found)))
    assert strata(folder) == 1
    path = folder / "state" / "drain"
    assert path.read_text().startswith(drained) if drained else not path.exists()


def test_a_power_cut_costs_neither_findings_nor_sums(folder: Path) -> None:
    says(folder, START, {**finding(1), "event": "suspect"}, "die")
    words = [
        sys.executable,
        "-c",
        "import sys; from tests.python.centre.test_integrity_command import alone; alone()",
    ]
    environment = in_a_process(folder)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with (folder / "state" / "history.jsonl").open("a") as file:
        file.write('{"event": "fin')  # what a cut leaves of a line
    says(folder, START, sums("end", 2, 0))
    assert strata(folder) == 0
    data = json.loads((folder / "state" / "integrity.json").read_text())
    assert data["passes"] == 2 and data["passes_lost"] == 1
    assert [f["verdict"] for f in data["findings"]] == ["not judged"]
    page = (folder / "state" / "report.md").read_text()
    assert "1 pass did not end" in page and "1 line of the history could not be read" in page


def in_a_process(folder: Path) -> dict[str, str]:
    """The environment in which this file is a program that does a pass."""
    return {**os.environ, "STRATA_TEST_FOLDER": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


def alone() -> None:
    """A pass in a process that is killed; the test above starts it."""
    folder = Path(os.environ["STRATA_TEST_FOLDER"])
    command.find = lambda: folder / "strata-integrity"
    sys.exit(cli.main(["centre", "integrity", "--state", str(folder / "state")]))


def test_a_signal_ends_a_pass_with_its_report(folder: Path) -> None:
    says(folder, START, sums("progress", 1, 0), "wait", sums("end", 3, 0))
    words = [
        sys.executable,
        "-c",
        "import sys; from tests.python.centre.test_integrity_command import alone; alone()",
    ]
    environment = in_a_process(folder)
    process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
    running = folder / "state" / "running.json"
    until = time.monotonic() + 60
    while not running.exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    data = json.loads((folder / "state" / "integrity.json").read_text())
    assert data["rounds"] == 12
    assert State(folder / "state").load().of("run")[0]["ended_by"] == "signal"


def test_the_history_is_bounded_and_keeps_sums_and_findings(tmp_path: Path) -> None:
    state = State(tmp_path, limit=20_000)
    state.open()
    state.append(finding(1, run="first", time="first"))
    run = {
        "event": "run",
        "began": "then",
        "findings": 0,
        "ended_by": "itself",
        **sums("end", 2, 0),
        "seed": "0x1",
    }
    for _ in range(200):
        state.append({**run, "event": "run"})
        assert (tmp_path / "history.jsonl").stat().st_size <= 20_000
    state.close()
    whole = command.analyse(state.load())
    assert whole.passes == 200 and whole.rounds == 200 * 8 and len(whole.findings) == 1


def planted(root: Path) -> None:
    """A system that counts errors."""
    texts = {
        "sys/devices/system/edac/mc/mc0/ce_count": "4",
        "sys/devices/system/edac/mc/mc0/ue_count": "0",
        "sys/devices/system/edac/mc/mc0/dimm3/dimm_label": "CPU0_DIMM_D1",
        "sys/devices/system/edac/mc/mc0/dimm3/dimm_ce_count": "4",
        "sys/devices/system/machinecheck/machinecheck0/bank0": "ff",
        "proc/interrupts": "        CPU0     CPU1\n MCE:        1        2   Machine check exceptions\n",
        "proc/meminfo": "MemFree: 1 kB\nHardwareCorrupted:     8 kB\n",
        "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error": "7",
        "sys/devices/system/memory/soft_offline_page": "",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    base = root / "var/lib/rasdaemon/ras-mc_event.db"
    base.parent.mkdir(parents=True)
    with sqlite3.connect(base) as connection:
        connection.execute("CREATE TABLE mc_event (id INTEGER)")
        connection.execute("INSERT INTO mc_event VALUES (1)")
    connection.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads all that the system counts")
def test_what_the_system_counts_stands_beside_a_finding(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder / "root"
    planted(root)
    bad = finding(1, verdict="memory", physical="0x7f001008", kernel="memory-march")
    says(folder, START, bad, finding(2, verdict="not repeated"), sums("end", 2, 2))
    request = command.Request(state=folder / "state", offline=True, root=root)
    before = command.known.look

    def worse(where: Path) -> Any:
        found = before(where)
        (root / "sys/devices/system/edac/mc/mc0/ue_count").write_text("3")
        return found

    monkeypatch.setattr(command.known, "look", worse)
    assert command.run(request, "strata") == 1
    page = (folder / "state" / "report.md").read_text()
    for text in (
        "EDAC mc0 CPU0\\_DIMM\\_D1 corrected | 4",
        "EDAC mc0 corrected | 4 | 0",
        "EDAC mc0 uncorrected | 3 | 3",
        "EDAC mc0 uncorrected +3",
        "machine checks | 3",
        "rasdaemon memory errors | 1",
        "InfiniBand mlx5\\_0 port 1 symbol\\_error | 7",
        "memory taken off line, kB | 8",
        "the page at 0x7f001008 was taken off line",
    ):
        assert text in page, text
    assert (root / "sys/devices/system/memory/soft_offline_page").read_text() == "0x7f001008\n"


def test_absent_sources_are_named(folder: Path) -> None:
    says(folder, START, sums("end", 1, 0))
    assert command.run(command.Request(state=folder / "state", root=folder / "empty"), "strata") == 0
    page = (folder / "state" / "report.md").read_text()
    for text in (
        "EDAC: no driver",
        "rasdaemon: no database",
        "InfiniBand: no device",
        "machine checks: no banks",
    ):
        assert text in page, text


def test_units(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--units", str(folder / "units"), "--time", "30m", "--memory", "1GiB", "--cores", "0-3"]
    assert strata(folder, *words) == 0
    made = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [p.suffix for p in made] == [".service", ".timer", ".cron", ".sh"]
    service = made[0].read_text()
    assert f"centre integrity --state {folder / 'state'} --cores 0-3 --memory 1GiB --time 30m" in service
    assert "CPUSchedulingPolicy=idle" in service and "MemoryMax=1536M" in service
    assert subprocess.run(["sh", "-n", str(made[3])]).returncode == 0 and os.access(made[3], os.X_OK)


def test_units_take_the_place_of_what_is_there(folder: Path) -> None:
    """Of a link, whose file stays as it was, and of a hook that slurmd reads meanwhile."""
    units, mine = folder / "units", folder / "mine"
    assert strata(folder, "--units", str(units)) == 0
    mine.write_text("mine\n")
    service, hook = units / "strata-integrity.service", units / "strata-integrity-health.sh"
    service.unlink()
    service.symlink_to(mine)
    with hook.open() as running:
        before = running.readline()
        assert strata(folder, "--units", str(units), "--state", str(folder / "another")) == 0
        before += running.read()
    assert str(folder / "state") in before and str(folder / "another") in hook.read_text()
    assert mine.read_text() == "mine\n" and not service.is_symlink()
    assert os.access(hook, os.X_OK)


@pytest.mark.parametrize(
    ("node", "why", "asked"),
    [
        ("NodeName=n1 State=IDLE CPUs=2 Reason=back after DRAIN", "core 1: wrong", True),
        ("NodeName=n1 State=IDLE+DRAIN CPUs=2 Reason=by hand", "core 1: wrong", False),
        ("NodeName=n1 State=IDLE CPUs=2", "", False),
    ],
)
def test_the_hook_of_slurm_drains_once_with_the_reason(
    folder: Path, node: str, why: str, asked: bool
) -> None:
    assert strata(folder, "--units", str(folder / "units")) == 0
    (folder / "state").mkdir(exist_ok=True)
    if why:
        (folder / "state" / "drain").write_text(why + "\n")
    tools = folder / "tools"
    tools.mkdir()
    (tools / "scontrol").write_text(
        f'#!/bin/sh\ncase $1 in show) echo "{node}" ;; *) for w; do echo "$w"; done >{folder}/asked ;; esac\n'
    )
    (tools / "scontrol").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLURMD_NODENAME": "n1"}
    hook = folder / "units" / "strata-integrity-health.sh"
    assert subprocess.run([str(hook)], env=environment, timeout=20).returncode == 0
    if asked:
        assert (folder / "asked").read_text().splitlines() == [
            "update",
            "NodeName=n1",
            "State=DRAIN",
            f"Reason=integrity: {why}",
        ]
    else:
        assert not (folder / "asked").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--time", "soon"], "not a time"),
        (["--rounds", "0"], "not a number of rounds"),
        (["--report"], "nothing was tested yet"),
        (["--units", "events"], "not a folder"),
        (["--units", "u", "--memory", "much"], "not a size"),
        (["--report", "--clear"], "not allowed with"),
    ],
)
def test_what_is_refused(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    says(folder, START)
    assert strata(folder, *words) == 2
    assert message in capsys.readouterr().err


def test_pages_are_taken_off_line_by_root_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert strata(folder, "--offline-pages") == 2
    assert "only root takes pages off line" in capsys.readouterr().err
    assert not (folder / "state").exists()


def test_two_passes_do_not_share_a_history(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = State(folder / "state")
    other.open()
    assert strata(folder) == 1
    assert "another pass keeps its history here" in capsys.readouterr().err
    other.close()


def test_a_program_that_refuses_is_no_pass(folder: Path) -> None:
    (folder / "strata-integrity").write_text("#!/bin/sh\nexit 2\n")
    assert strata(folder) == 2
    assert not (folder / "state" / "history.jsonl").exists()


if __name__ == "__main__":
    alone()
