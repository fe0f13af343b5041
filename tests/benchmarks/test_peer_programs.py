"""The programs that set Strata beside its peers: what they compare, and how they end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from built import front, mpirun, needs_solvers

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks" / "peers"))

import compare  # noqa: E402
import points  # noqa: E402

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


# Between the program and MPI: where does each message start within its page?
PLACES = """
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
int MPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    printf("at %ld\\n", (long)((uintptr_t)data % (uintptr_t)sysconf(_SC_PAGESIZE)));
    return PMPI_Send(data, n, type, to, tag, comm);
}
"""


@pytest.mark.skipif(
    shutil.which("mpicc") is None or shutil.which("mpirun") is None or len(os.sched_getaffinity(0)) < 2,
    reason="the minimal ping-pong needs an MPI and two cores",
)
def test_the_minimal_ping_pong_s_message_starts_on_a_page_as_ours_does(tmp_path: Path) -> None:
    (tmp_path / "places.c").write_text(PLACES)
    source, program = ROOT / "benchmarks" / "peers" / "minimal_pingpong.c", tmp_path / "pingpong"
    subprocess.run(["mpicc", str(source), str(tmp_path / "places.c"), "-o", str(program)], check=True)
    start = [*mpirun(), "-n", "2", str(program), "2000000", "3", "1"]
    said = subprocess.run(start, capture_output=True, text=True, timeout=60, check=True).stdout.split("\n")
    assert [line for line in said if line.startswith("at")] == ["at 0"] * 6
    assert any(line and not line.startswith("at") and float(line) > 0 for line in said)


def test_a_result_that_is_wrong_or_none_leaves_a_program_without_a_rate(capsys) -> None:
    def fails() -> float:
        raise RuntimeError("no such module")

    assert points.right("good", lambda: points.ERROR)
    for wrong in (lambda: 1.01 * points.ERROR, lambda: float("nan"), fails):
        assert not points.right("peer", wrong)
        assert "left out: peer" in capsys.readouterr().out


@pytest.mark.parametrize("error", [1e-4, 0.5])
def test_taichi_is_compared_with_the_exact_solution_before_its_rate_counts(
    error: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taichi = tmp_path / "python"
    taichi.write_text(f'#!/bin/sh\n[ "$4" = exact ] && echo {error} || echo 3.0\n')
    taichi.chmod(0o755)
    compared: list[list[str]] = []

    def noted(groups: Iterable[Sequence[compare.Comparison]], _: object) -> int:
        compared.extend([x.name for x in c.contenders] for group in groups for c in group)
        return compare.GOOD

    monkeypatch.setattr(points, "our_error", lambda *_: 1e-4)
    monkeypatch.setattr(points, "compared", noted)
    monkeypatch.setattr(sys, "argv", ["points.py", "--taichi", str(taichi), "--edges", "4"])
    assert points.main() == compare.GOOD
    assert compared and all(names == ["strata", "Taichi"][: 2 if error < 0.1 else 1] for names in compared)


def test_ours_is_held_to_the_same_exact_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_solvers("transport-update")  # built where that benchmark is
    monkeypatch.setenv("STRATA_BIN", str(front()))
    coarse, fine = points.our_error(4, 1, False), points.our_error(8, 1, False)
    assert fine < 0.4 * coarse and fine < 0.004  # second order would be a quarter
    assert points.our_error(8, 1, True) == pytest.approx(fine, rel=0.01)
