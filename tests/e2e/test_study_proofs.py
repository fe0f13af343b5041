"""Claims about studies that meet trouble, through the real command: one clear message, nothing is lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import signal
import time
from pathlib import Path

import pytest
from as_typed import NOTHING, TOLERANT, Strata

HEAD = """
schema = "strata.study/1"
name = "trouble"
patience_s = 0
"""
LAYOUT = (
    """
[[layout]]
name = "pinned"
options = []
"""
    + TOLERANT
)


def counting(name: str, counter: Path, fails: str) -> str:
    """A program that prints its own number as its rate, and fails where this test of $n holds."""
    script = (
        f"echo x >> {counter}; n=$(wc -l < {counter}); [ {fails} ] && {{{{ echo no licence; exit 3; }}}}; "
    )
    return f"""
[[program]]
name = "{name}"
command = "sh -c '{script}echo rate: $n'"
expected_s = 0.1

[[program.figure]]
name = "rate"
pattern = '^rate: ([0-9.]+)$'
"""


def rows_of(strata: Strata, folder: Path) -> list[dict[str, str]]:
    done = strata.run("study", "export", str(folder))
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def contents(folder: Path) -> dict[str, str]:
    """Every file of a folder by its content."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_a_command_that_fails_in_one_of_six_launches_is_measured_all_the_same(
    strata: Strata, tmp_path: Path
) -> None:
    case, out = tmp_path / "trouble.toml", tmp_path / "out"
    case.write_text(
        HEAD
        + counting("flaky", tmp_path / "flaky", "$((n % 6)) -eq 4")
        + counting("sure", tmp_path / "sure", "$n -lt 0")
        + LAYOUT
    )
    done = strata.run("study", "run", str(case), "--out", str(out), "--here")
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr.count("failed: ") == 1
    assert "failed: flaky: pinned, 1 thread: exit code 3: no licence" in done.stderr
    said = "flaky: 1 thread: 1 of 7 launches: exit code 3: no licence"
    assert done.stdout.count("no licence") == 1 and said in done.stdout
    assert said.removeprefix("flaky: 1 thread") in (out / "report" / "report.md").read_text()
    rows = rows_of(strata, out)
    values = {name: [r["value"] for r in rows if r["program"] == name] for name in ("flaky", "sure")}
    assert values["flaky"] == ["1.0", "2.0", "3.0", "", "5.0", "6.0", "7.0", "8.0"]
    assert values["sure"] == ["1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0"]
    assert [r["failed"] for r in rows if r["failed"]] == ["exit code 3: no licence"]
    assert strata.left_behind() == NOTHING


def test_what_a_command_gave_before_it_broke_stays(strata: Strata, tmp_path: Path) -> None:
    case, out = tmp_path / "trouble.toml", tmp_path / "out"
    silent = counting("silent", tmp_path / "silent", "$n -lt 0").replace("^rate", "^speed")
    breaks = counting("breaks", tmp_path / "breaks", "$n -gt 4")
    case.write_text(HEAD + breaks + silent + counting("sure", tmp_path / "sure", "$n -lt 0") + LAYOUT)
    done = strata.run("study", "run", str(case), "--out", str(out), "--here")
    assert done.returncode == 1
    assert "not measured: breaks: 1 thread: failed: exit code 3: no licence" in done.stdout
    assert "not measured: silent: 1 thread: failed: nothing in its output matches the figure" in done.stdout
    rows = rows_of(strata, out)
    assert [r["value"] for r in rows if r["program"] == "breaks" and not r["failed"]] == [
        "1.0",
        "2.0",
        "3.0",
        "4.0",
    ]
    launched = {name: len([r for r in rows if r["program"] == name]) for name in ("breaks", "silent")}
    assert launched == {"breaks": 4 + 3, "silent": 2}  # what worked before gets one more chance
    sure = next(
        t for t in json.loads((out / "summary.json").read_text())["tasks"] if t["id"].startswith("sure")
    )
    assert sure["undisturbed"] and sure["figures"][0]["n"] == 6
    status = strata.run("study", "status", str(out)).stdout
    assert f"{out}: finished" in status and "failed: exit code 3: no licence" in status


def test_a_damaged_results_file_is_one_message_and_nothing_is_changed(strata: Strata, tmp_path: Path) -> None:
    case, out = tmp_path / "trouble.toml", tmp_path / "out"
    case.write_text(HEAD + counting("sure", tmp_path / "sure", "$n -lt 0") + LAYOUT)
    run = ["study", "run", str(case), "--out", str(out), "--here"]
    assert strata.run(*run).returncode == 0
    (journal,) = (out / "journal").iterdir()
    for path in (journal, out / "plan.json", out / "machine.json", out / "provenance.json"):
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(whole[:middle] + b"\0" + whole[middle + 1 :])
        before = contents(out)
        for words in (run, ["study", "show", str(out)], ["report", str(out)]):
            done = strata.run(*words)
            assert done.returncode == 1, (path.name, words, done.stdout)
            assert done.stderr.count("strata: error:") == 1 and "Traceback" not in done.stderr
            assert "damaged" in done.stderr and path.name in done.stderr
            assert contents(out) == before
        path.write_bytes(whole)
    again = strata.run(*run)
    assert again.returncode == 0 and "7 launches of before are kept" in again.stderr


COMPILED = (
    HEAD
    + """
[[toolchain]]
name = "gcc"
tools = { cc = "gcc" }
flags = "-DRATE=7"

[[toolchain]]
name = "another"
tools = { cc = "no-such-compiler" }

[[program]]
name = "rate"
build = "{cc} {flags} {source}/rate.c -o {build}/rate"
command = "{build}/rate"

[[program.figure]]
name = "rate"
pattern = '^rate: ([0-9.]+)$'
"""
    + LAYOUT
)


def compiled(tmp_path: Path, text: str) -> Path:
    (tmp_path / "rate.c").write_text(
        '#include <stdio.h>\nint main(void) { return printf("rate: %d\\n", RATE) < 0; }\n'
    )
    case = tmp_path / "rate.toml"
    case.write_text(text)
    return case


def test_a_missing_compiler_is_one_message_or_a_setting_that_is_not_available(
    strata: Strata, tmp_path: Path
) -> None:
    case, out = compiled(tmp_path, COMPILED), tmp_path / "out"
    run = ["study", "run", str(case), "--out", str(out), "--here"]
    done = strata.run(*run)
    assert done.returncode == 2 and done.stderr.count("strata: error:") == 1
    assert "rate.toml:12 [[toolchain]] another" in done.stderr and "no-such-compiler" in done.stderr
    assert not out.exists()
    compiled(tmp_path, COMPILED.replace('"no-such-compiler" }', '"no-such-compiler" }\noptional = true'))
    done = strata.run(*run)
    assert done.returncode == 0, done.stderr
    assert "Not available here: toolchain another: no-such-compiler is not there." in done.stdout
    assert {r["toolchain"] for r in rows_of(strata, out)} == {"gcc"}
    assert {r["value"] for r in rows_of(strata, out)} == {"7.0"}


def test_a_build_that_fails_ends_the_study_before_it_begins(strata: Strata, tmp_path: Path) -> None:
    text = COMPILED.replace("no-such-compiler", "gcc").replace("-DRATE=7", "-DRAT=7")
    case, out = compiled(tmp_path, text), tmp_path / "out"
    done = strata.run("study", "run", str(case), "--out", str(out), "--here")
    assert done.returncode == 1 and done.stderr.count("strata: error:") == 1
    assert "undeclared" in done.stderr and "-DRAT=7" in done.stderr and "rate.toml" in done.stderr
    assert not out.exists() and strata.folders() == []


def test_the_status_of_a_study_while_it_runs_after_a_kill_and_at_its_end(
    strata: Strata, tmp_path: Path
) -> None:
    case, out = tmp_path / "slow.toml", tmp_path / "out"
    program = '\n[[program]]\nname = "slow"\ncommand = "sleep 0.2"\nexpected_s = 0.2\n'
    case.write_text(HEAD + program + LAYOUT)
    run = ["study", "run", str(case), "--out", str(out), "--here"]

    def state() -> str:
        done = strata.run("study", "status", str(out))
        return done.stdout.splitlines()[0].rpartition(": ")[2] if done.returncode == 0 else done.stderr

    running = strata.start(*run)
    deadline = time.monotonic() + 60
    while not any(out.glob("journal/*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert state() == "running"
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert strata.left_behind() == NOTHING
    before = strata.run("study", "status", str(out)).stdout
    assert state() == "interrupted" and "to go" in before and "slow: pinned, 1 thread" in before
    assert strata.run(*run).returncode == 0
    after = strata.run("study", "status", str(out)).stdout
    assert state() == "finished" and "6 of 6" in after and "to go" not in after


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "nowhere"], "no such folder"),
        (["export", "nowhere"], "no such folder"),
        (["export", "nowhere", "--format", "xls"], "csv, json, parquet"),
    ],
)
def test_bad_words_to_status_and_export_are_one_message(strata: Strata, words: list[str], said: str) -> None:
    done = strata.run("study", *words)
    assert done.returncode == 2 and done.stderr.count("strata: error:") == 1 and said in done.stderr
