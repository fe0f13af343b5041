"""Claims about the whole command, on a front that is a script.

Folders, resuming, reports, login nodes, one message per mistake.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fakes import busy_record, install

from strata import cli
from strata.characterize import answer, command
from strata.characterize.command import Request
from strata.errors import StrataError
from strata.measure import runner
from strata.site import slurm

CASE = """
schema = "strata.characterize/1"
mode = "tiny"
repeats = 1
patience_s = 0

[[task]]
benchmark = "stream"
layouts = ["1x1", "Nx1"]
figures = ["triad"]
"""
SLURM = ("SLURM_JOB_ID", "SLURM_CONF")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a fake installation, a tiny case, and a report that only keeps its summary."""
    front = install(tmp_path / "prefix with space")
    (tmp_path / "case.toml").write_text(CASE)
    monkeypatch.setenv("STRATA_BIN", str(front))
    monkeypatch.setenv("STRATA_RESULTS", str(tmp_path / "results"))
    # Whoever else works on the machine that runs these tests is not what they are about.
    monkeypatch.setattr(runner, "busy_seconds", lambda cpus: None)
    monkeypatch.setattr(slurm, "is_cluster", lambda environment=os.environ: False)
    fake = type(sys)("strata.report")
    fake.build = write_page
    monkeypatch.setitem(sys.modules, "strata.report", fake)
    import strata

    monkeypatch.setattr(strata, "report", fake, raising=False)
    return tmp_path


def write_page(summary: dict[str, Any], out: Path, more: object = ()) -> Path:
    (out / "figures").mkdir()
    (out / "figures" / "a.svg").write_text("<svg/>")
    (out / "report.html").write_text(f"<p>{len(summary['tasks'])} tasks {summary.get('in_progress', '')}")
    return out / "report.html"


def run(here: Path, **changes: Any) -> int:
    return command.run(
        Request(**{"case": here / "case.toml", **changes}), lock=f"strata-test-command-{os.getpid()}"
    )


def folders(here: Path) -> list[Path]:
    return sorted((here / "results").glob("*"))


def test_a_run_leaves_plan_machine_samples_summary_and_report_and_nothing_else(here: Path, capsys) -> None:
    assert run(here) == 0
    (folder,) = folders(here)
    names = {
        str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.parent.name != "journal"
    }
    assert names == {
        "plan.json",
        "machine.json",
        "provenance.json",
        "summary.json",
        "index.sqlite",
        "report/report.html",
        "report/figures/a.svg",
    }
    assert {p.name for p in folder.iterdir()} == {
        "plan.json",
        "machine.json",
        "provenance.json",
        "summary.json",
        "index.sqlite",
        "report",
        "journal",
    }
    whole = json.loads((folder / "summary.json").read_text())
    assert whole["schema"] == "strata.summary/1" and whole["mode"] == "tiny"
    assert [t["id"] for t in whole["tasks"]] == ["stream/1x1/core/s1", "stream/2x1/core/s1"]
    assert whole["provenance"]["libraries"] == ["/usr/lib/libopenblas.so.0"]
    assert whole["provenance"]["compiler"] == ["GNU 12.2.0"]
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"report:     {folder / 'report' / 'report.html'}"
    assert "disturbed:  none of 12 launches" in said and "measured:   2 of 2 settings" in said
    assert any(line.startswith("memory:     10 GB/s") for line in said)


def test_the_end_is_at_most_eight_lines_and_the_table_comes_only_when_asked_for(here: Path, capsys) -> None:
    assert run(here) == 0
    short = capsys.readouterr().out.splitlines()
    assert len(short) < answer.MOST and not any("stream/1x1/core/s1" in line for line in short)
    assert run(here, verbose=True) == 0
    long = capsys.readouterr().out.splitlines()
    assert any("stream/1x1/core/s1" in line and "triad" in line for line in long)
    assert long[-1].startswith("report: ") and len(long) > len(short)


def test_what_is_measured_is_said_in_words_and_how_far_it_is(here: Path, capsys) -> None:
    assert run(here) == 0
    said = capsys.readouterr().err
    assert "2 settings to measure, each 6 times and once before to warm up: about " in said
    assert re.search(
        r"^warming up: memory bandwidth, (1 thread|2 processes) \(1 of 2\); about .* left$", said, re.M
    )
    assert "stream/" not in said


def test_a_finished_run_is_not_resumed_but_followed_by_another(here: Path) -> None:
    run(here)
    run(here)
    assert len(folders(here)) == 2


def test_an_unfinished_run_is_resumed(here: Path, capsys) -> None:
    run(here)
    (folder,) = folders(here)
    (folder / "report" / "report.html").unlink()  # killed before the report was there
    launches = (here / "prefix with space" / "launches").read_text()
    assert run(here) == 0
    assert folders(here) == [folder] and (folder / "report" / "report.html").exists()
    assert (here / "prefix with space" / "launches").read_text() == launches  # all samples were there
    assert f"resuming {folder}" in capsys.readouterr().err


def test_new_starts_afresh_beside_an_unfinished_run(here: Path) -> None:
    run(here)
    (folders(here)[0] / "report" / "report.html").unlink()
    run(here, new=True)
    assert len(folders(here)) == 2


def test_a_rebuilt_binary_starts_a_new_folder_and_is_refused_in_the_old_one(here: Path) -> None:
    run(here)
    (folder,) = folders(here)
    (folder / "report" / "report.html").unlink()
    bench = here / "prefix with space" / "libexec" / "strata" / "strata-bench"
    bench.write_text(bench.read_text() + "\n# rebuilt\n")
    run(here)
    assert len(folders(here)) == 2
    with pytest.raises(StrataError, match="something else: changed since then: binaries"):
        run(here, results=folder)
    assert run(here, results=folder, accept_change=True) == 0


def test_on_a_machine_that_is_never_quiet_every_setting_is_answered_and_graded(here: Path, capsys) -> None:
    (here / "prefix with space" / "disturb").write_text("")
    assert run(here) == 0
    said = capsys.readouterr().out
    disturbed, measured, report = said.splitlines()[-3:]
    assert disturbed.startswith("disturbed:  14 of 14 launches: ")
    assert disturbed.endswith("2 of 2 answers marked disturbed") and measured == "measured:   2 of 2 settings"
    assert report.startswith("report: ")
    whole = json.loads((folders(here)[0] / "summary.json").read_text())
    assert "other programs took 50.0 % of its CPUs in 14 of them" in whole["counts"]["disturbed_by"]
    whole = json.loads((folders(here)[0] / "summary.json").read_text())
    for task in whole["tasks"]:
        assert (task["grade"], task["undisturbed"], task["figures"][0]["n"]) == ("disturbed", False, 7)
        assert any(
            "other programs took 50.0 % of its CPUs in 7 of 7 launches" in why for why in task["disturbed_by"]
        )
    assert busy_record()["cpu"]["others_share"] > whole["limits"]["others_share"]


def test_strict_on_a_machine_that_is_never_quiet_has_no_answer_and_exit_1(here: Path, capsys) -> None:
    (here / "prefix with space" / "disturb").write_text("")
    assert run(here, strict=True) == 1
    said = capsys.readouterr().out
    assert (
        "measured:   0 of 2 settings; not: memory bandwidth, 1 thread: disturbed in 7 of 7 launches" in said
    )
    assert "disturbed:  14 of 14 launches" in said
    whole = json.loads((folders(here)[0] / "summary.json").read_text())
    assert all(not t["answered"] and t["figures"][0]["median"] is None for t in whole["tasks"])


def test_the_report_can_be_opened_while_the_run_goes_on(here: Path, monkeypatch) -> None:
    from strata.measure.campaign import Campaign

    seen: list[str] = []
    original = Campaign._block

    def watched(self, block, attempt, tasks):
        for page in (here / "results").glob("*/report/report.html"):
            seen.append(page.read_text())
        original(self, block, attempt, tasks)

    monkeypatch.setattr(Campaign, "_block", watched)
    assert run(here) == 0
    assert len(seen) >= 5, "made anew after each block"
    assert seen[0].endswith("2 of 12 launches so far") and seen[-1] != seen[0]
    (page,) = (here / "results").glob("*/report/report.html")
    assert "so far" not in page.read_text()


def test_a_dry_run_measures_and_writes_nothing(here: Path, capsys) -> None:
    assert run(here, dry_run=True) == 0
    said = capsys.readouterr().out
    assert (
        "memory bandwidth, 2 processes: 6 times and once to warm up, about 7 s   # stream/2x1/core/s1" in said
    )
    assert "2 settings, about" in said and said.endswith("nothing was launched\n")
    assert not (here / "results").exists() and not (here / "prefix with space" / "launches").exists()


def test_a_damaged_journal_is_one_message_and_nothing_is_overwritten(here: Path) -> None:
    run(here)
    (folder,) = folders(here)
    (folder / "report" / "report.html").unlink()
    (journal,) = (folder / "journal").glob("*.jsonl")
    lines = journal.read_bytes().split(b"\n")
    lines[3] = lines[3][:-9] + b"damaged}}"
    journal.write_bytes(b"\n".join(lines))
    before = journal.read_bytes()
    with pytest.raises(StrataError) as caught:
        run(here)
    assert f"{journal}:4" in str(caught.value) and journal.read_bytes() == before
    journal.rename(f"{journal}.damaged")  # as the message says
    assert run(here) == 0 and folders(here) == [folder]


def test_report_and_results_read_what_is_there(here: Path, capsys) -> None:
    run(here)
    (folder,) = folders(here)
    (folder / "summary.json").unlink()
    assert cli.main(["report", str(folder)]) == 0 and (folder / "summary.json").exists()
    capsys.readouterr()
    assert cli.main(["results"]) == 0
    assert (
        "triad" in (said := capsys.readouterr().out)
        and "n=6" in said
        and "6 of 6 launches undisturbed" in said
    )
    assert cli.main(["results", str(folder), "--samples", "stream/1x1/core/s1"]) == 0
    assert capsys.readouterr().out.count("counts") == 6
    assert cli.main(["results", str(folder), "--samples", "stream/9x9"]) == 2
    assert "stream/1x1/core/s1" in capsys.readouterr().err
    assert cli.main(["results", str(folder), "--rebuild-index"]) == 0
    assert "rebuilt" in capsys.readouterr().out


def test_a_folder_that_holds_no_results_is_refused(here: Path, capsys) -> None:
    assert cli.main(["results", str(here)]) == 2
    assert cli.main(["report", str(here)]) == 2
    assert capsys.readouterr().err.count("strata: error:") == 2


def test_an_unknown_task_name_lists_the_known(here: Path) -> None:
    with pytest.raises(StrataError) as caught:
        run(here, only=("strem",))
    assert "strem" in str(caught.value) and "stream" in str(caught.value)


# -- Slurm
# --------------------


@pytest.fixture
def cluster(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A login node: sinfo on PATH, no allocation."""
    monkeypatch.undo()
    folder = here / "slurm bin"
    folder.mkdir()
    (folder / "sinfo").write_text("#!/bin/sh\necho batch\n")
    (folder / "sinfo").chmod(0o755)
    monkeypatch.setenv("STRATA_BIN", str(here / "prefix with space" / "bin" / "strata"))
    monkeypatch.setenv("STRATA_RESULTS", str(here / "results with space"))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    for name in SLURM:
        monkeypatch.delenv(name, raising=False)
    return here


def test_on_a_login_node_nothing_is_measured_and_the_way_on_is_said(cluster: Path, capsys) -> None:
    assert cli.main(["characterize", "--case", str(cluster / "case.toml")]) == 3
    said = capsys.readouterr().err
    assert (
        "login node" in said
        and "strata submit -- characterize" in said
        and "--here" in said
        and "srun strata characterize" in said
    )
    assert (
        not (cluster / "results with space").exists()
        and not (cluster / "prefix with space" / "launches").exists()
    )


def test_inside_an_allocation_it_is_no_login_node(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slurm.is_login_node()
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert not slurm.is_login_node()


def test_a_plain_machine_is_no_login_node() -> None:
    assert not slurm.is_cluster({"PATH": "/nonexistent"})
    assert slurm.is_cluster({"PATH": "/nonexistent", "SLURM_CONF": "/x/slurm.conf"})


# -- the command line
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["characterize"],
        ["machine-measure"],
        ["report"],
        ["results"],
        ["findings"],
        ["draw"],
        ["submit"],
        ["go-on"],
    ],
)
def test_every_command_explains_itself_with_an_example(words: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0 and "usage: strata" in said
    assert not words or "examples:" in said


def test_a_wrong_option_is_one_message_and_exit_2(capsys) -> None:
    assert cli.main(["characterize", "--quik-ly"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("strata: error:") and "--quik-ly" in said and "--help" in said


@pytest.mark.parametrize(
    ("words", "end"), [(["characterize"], []), (["machine-measure"], []), (["tune"], ["--", "true"])]
)
@pytest.mark.parametrize("name", ["--out", "--results"])
def test_the_results_folder_is_named_by_out_and_by_its_former_name(
    words: list[str], end: list[str], name: str
) -> None:
    given = cli._parser(words).parse_args([*words, name, "somewhere", *end])
    assert given.results == Path("somewhere")
    assert cli._parser(words).parse_args([*words, *end]).results is None


@pytest.mark.parametrize("command_name", ["characterize", "machine-measure", "tune"])
def test_the_help_shows_one_name_of_the_results_folder(command_name: str, capsys) -> None:
    with pytest.raises(SystemExit):
        cli.main([command_name, "--help"])
    said = capsys.readouterr().out
    assert "--out DIR" in said and "--results" not in said


def test_help_imports_nothing_heavy() -> None:
    import subprocess

    code = (
        "import sys\nfrom strata.cli import main\n"
        "try:\n  main(['characterize','--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy','matplotlib','jinja2','rich','sqlite3','subprocess','strata.measure.stats'}\n"
        "bad = heavy & set(sys.modules)\n"
        "sys.exit(str(bad) if bad else 0)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_native_programs_the_way_to_get_them_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv("STRATA_BIN", str(tmp_path / "nothing"))
    assert cli.main(["characterize", "--here"]) == 1
    assert "native programs were not found" in capsys.readouterr().err


def test_an_error_is_the_last_that_is_said_also_after_how_long_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    now = time.clock_gettime
    monkeypatch.setattr(time, "clock_gettime", lambda clock: now(clock) + 90)
    monkeypatch.setenv("STRATA_BIN", str(tmp_path / "nothing"))
    assert cli.main(["characterize", "--here"]) == 1
    took, error, *_ = capsys.readouterr().err.splitlines()
    assert re.match(r"in all \d+ min", took) and error.startswith("strata: error: ")
    assert cli.main(["characterize", "--quik-ly"]) == 2
    assert "in all" not in capsys.readouterr().err  # wrong input is refused before the command begins
