"""Claims about `strata report compare` as a user types it, on results that the real launcher measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

from as_typed import NOTHING, TOLERANT, Strata

# A program whose rate is in a file, with scatter below 1 % from the clock.
STUDY = (
    """
schema = "strata.study/1"
name = "mine"
launches = 6
patience_s = 0

[[program]]
name = "solver"
command = "sh -c 'read base < speed; echo rate: $base.$(date +%N)'"

[[program.figure]]
name = "rate"
pattern = '^rate: ([0-9.]+)$'
unit = "1/s"

[[layout]]
name = "pinned"

[[layout]]
name = "free"
bind = "none"
"""
    + TOLERANT
)


def measured(strata: Strata, speed: str, name: str, layouts: int = 2) -> Path:
    (strata.home / "speed").write_text(f"{speed}\n")
    case, out = strata.home / f"{name}.toml", strata.home / name
    case.write_text(
        STUDY if layouts == 2 else STUDY.replace('[[layout]]\nname = "free"\nbind = "none"\n', "")
    )
    done = strata.run("study", "run", str(case), "--out", str(out), "--here")
    assert done.returncode == 0, done.stderr + done.stdout
    return out


def test_two_runs_of_a_study_are_compared_and_a_slower_one_fails_the_job(strata: Strata) -> None:
    before, same, slow = (
        measured(strata, *given) for given in (("100", "before"), ("100", "same"), ("80", "slow"))
    )
    alike = strata.run("report", "compare", str(before), str(same))
    assert alike.returncode == 0, alike.stderr + alike.stdout
    assert "Of 2 figures" in alike.stdout and "solver/pinned/1x1" in alike.stdout
    assert list(strata.results.glob("compare-*/report.md"))

    out = strata.home / "difference"
    worse = strata.run("report", "compare", str(before / "summary.json"), str(slow), "--out", str(out))
    assert worse.returncode == 3, worse.stderr + worse.stdout
    assert "2 regressed by more than 3 %" in worse.stdout
    assert re.search(r"[-−](19|20)(\.\d+)? %", worse.stdout), worse.stdout
    assert str(out / "report.html") in worse.stdout and (out / "report.html").exists()
    found = json.loads((out / "comparison.json").read_text())
    assert {c["task"] for c in found["comparisons"]} == {"solver/pinned/1x1", "solver/free/1x1"}
    assert all(0.78 < c["low"] <= c["ratio"] <= c["high"] < 0.82 for c in found["comparisons"])

    allowed = strata.run("report", "compare", str(before), str(slow), "--regressed", "30%", "--json")
    assert allowed.returncode == 0 and json.loads(allowed.stdout)["counts"]["regressed"] == 2
    back = strata.run("report", "compare", str(slow), str(before), "--json")
    assert back.returncode == 0 and json.loads(back.stdout)["counts"]["improved"] == 2
    assert strata.left_behind() == NOTHING


def test_what_one_side_lacks_is_listed_and_nothing_in_common_is_an_error(strata: Strata) -> None:
    before, after = measured(strata, "100", "both"), measured(strata, "100", "one", layouts=1)
    done = strata.run("report", "compare", str(before), str(after))
    assert done.returncode == 0 and "only before: 1 task: solver/free/1x1" in done.stdout
    none = strata.run("report", "compare", str(before), str(after), "--task", "free")
    assert none.returncode == 2 and none.stderr.count("strata: error:") == 1
    assert str(before) in none.stderr and str(after) in none.stderr
    assert strata.left_behind() == NOTHING
