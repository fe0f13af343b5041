"""The programs that set Strata beside its peers: what they compare, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks" / "peers"))

import compare  # noqa: E402

import npb  # noqa: E402


def comparison(higher: bool, **figures: list[float]) -> compare.Comparison:
    contenders = [compare.Contender(name, dict, {"": values}) for name, values in figures.items()]
    return compare.Comparison("a title", "GB/s", higher, 0.05, contenders)


@pytest.mark.parametrize(
    ("higher", "figures", "told"),
    [
        (True, {"strata": [10, 11, 12], "peer": [11, 11, 11.5]}, compare.GOOD),
        (True, {"strata": [10, 10, 12], "peer": [9, 9, 9], "other": [11, 11, 11.5]}, compare.BEHIND),
        (False, {"strata": [10, 10, 12], "peer": [11, 11, 11.5]}, compare.GOOD),
        (False, {"strata": [12, 12, 12], "peer": [11, 11, 11.5]}, compare.BEHIND),
        (True, {"strata": [10, 11, 12]}, compare.NO_PEER),
    ],
)
def test_ours_is_held_to_the_best_peer_and_without_one_to_nothing(higher, figures, told, capsys) -> None:
    assert compare.tell(comparison(higher, **figures)) == told
    assert ("no peer is installed" in capsys.readouterr().out) == (told == compare.NO_PEER)


def test_the_table_s_ratio_is_to_the_best_peer_of_each_block() -> None:
    faster = comparison(True, strata=[10.0, 20.0, 30.0], slow=[5.0, 20.0, 10.0], other=[10.0, 10.0, 10.0])
    sooner = comparison(False, strata=[10.0, 20.0, 30.0], slow=[5.0, 40.0, 60.0], other=[20.0, 25.0, 30.0])
    alone = comparison(True, strata=[10.0, 20.0, 30.0])
    alone.limit = None
    assert compare.table([faster, sooner, alone]).splitlines()[2:] == [
        "| a title, GB/s | 20 [10, 30] | slow 10; other 10 | 1.00 [1.00, 3.00] | 0.95 |",
        "| a title, GB/s | 20 [10, 30] | slow 40; other 25 | 1.00 [0.80, 2.00] of the time | 1.05 |",
        "| a title, GB/s | 20 [10, 30] | none | - |  |",
    ]


def test_a_comparison_without_a_peer_has_a_status_of_its_own() -> None:
    good, behind, none = compare.GOOD, compare.BEHIND, compare.NO_PEER
    assert len({good, behind, none}) == 3 and good == 0
    assert compare.status_of([good, good]) == good
    assert compare.status_of([good, none]) == none
    assert compare.status_of([none, behind, good]) == behind
    assert compare.status_of([]) == none


def test_without_its_peers_a_program_ends_with_that_status(tmp_path: Path) -> None:
    strata = tmp_path / "strata"
    strata.write_text("#!/bin/sh\nexit 0\n")
    strata.chmod(0o755)
    program = ROOT / "benchmarks" / "peers" / "starts.py"
    done = subprocess.run(
        [sys.executable, str(program), "--blocks", "1"],
        env={"PATH": str(tmp_path), "STRATA_BIN": str(strata)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == compare.NO_PEER, done.stderr
    assert "no peer is installed" in done.stdout and "left out: taskset is not installed" in done.stdout


def test_npb_s_ratio_is_to_the_better_peer_of_each_block() -> None:
    rates = {"ours": [20.0, 30.0, 24.0], npb.NASA: [10.0, 10.0, 12.0], npb.CPP: [8.0, 15.0, 6.0]}
    row = npb.Row("cg", "A", 2, {}, rates)
    assert row.ratios() == [2.0, 2.0, 2.0]
    row.rates["ours"] = [20.0, 15.0, 36.0]
    line = npb.table([row], [npb.NASA, npb.CPP]).splitlines()[-1]
    assert line == "| CG A | 2 | 20 [15, 36] | 10 [10, 12] | 8 [6, 15] | 2.00 [1.00, 3.00] | - |"
    row.shares = [(0.4, 0.5), (0.5, 0.6), (0.7, 0.9)]
    assert npb.table([row], [npb.NASA]).endswith("| 50 %, 60 % |\n")


def test_npb_s_peers_get_the_flags_that_change_our_code() -> None:
    flags = npb.optimization("-O3 -DNDEBUG -Wall -march=native -fno-math-errno")
    assert flags == ["-O3", "-march=native", "-fno-math-errno"]
    text = npb.make_def(flags, cxx=False)
    assert "FFLAGS = -O3 -march=native -fno-math-errno -fopenmp\n" in text
    assert "CFLAGS = -O3 -march=native -fno-math-errno -fopenmp\n" in text


@pytest.mark.parametrize("verified", [True, False])
def test_a_peer_that_does_not_verify_is_an_error(tmp_path: Path, verified: bool) -> None:
    program = tmp_path / "cg.S.x"
    word = "  SUCCESSFUL" if verified else "UNSUCCESSFUL"
    program.write_text(f"#!/bin/sh\necho ' Mop/s total     =  1234.5'\necho ' Verification    =  {word}'\n")
    program.chmod(0o755)
    run = npb.peer_rate(program, len(os.sched_getaffinity(0)))
    if verified:
        assert run() == 1234.5
    else:
        with pytest.raises(RuntimeError, match="not verified"):
            run()
