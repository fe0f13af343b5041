"""What --dry-run promises is what the running program is given: kinds of program x layouts x ways to bind."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from described import Asked, Described
from launching import Launcher, allowed_cores, needs_two_cores

PROGRAMS = Path(__file__).resolve().parent / "programs"
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# Compiler (a program on PATH), flags, arguments of the program.
KINDS: dict[str, tuple[str, list[str], list[str]]] = {
    "serial": ("g++", [], []),
    "forking": ("g++", [], ["forks", "3"]),
    "openmp-gcc": ("g++", ["-fopenmp"], []),
    "openmp-llvm": ("clang++", ["-fopenmp"], []),
    "open-mpi": ("mpicxx.openmpi", ["-DUSE_MPI"], []),
    "mpich": ("mpicxx.mpich", ["-DUSE_MPI"], []),
    "hybrid-open-mpi": ("mpicxx.openmpi", ["-DUSE_MPI", "-fopenmp"], []),
    "hybrid-mpich": ("mpicxx.mpich", ["-DUSE_MPI", "-fopenmp"], []),
}
THREADED = ("openmp-gcc", "openmp-llvm", "hybrid-open-mpi", "hybrid-mpich")

Sets = list[frozenset[int]]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("placed")
    found = {}
    for kind, (compiler, flags, _) in KINDS.items():
        program = folder / kind
        command = [compiler, "-std=c++17", "-O1", *flags, "-o", str(program), str(PROGRAMS / "placed.cpp")]
        if (
            shutil.which(compiler)
            and subprocess.run(command, capture_output=True, check=False).returncode == 0
        ):
            found[kind] = program
    return found


def numbers(text: str) -> frozenset[int]:
    """The numbers of "0-3,8"."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


def promised(text: str) -> dict[int, Sets]:
    """The table of --dry-run: by process, the PUs of each of its threads."""
    table: dict[int, Sets] = {}
    for line in text.splitlines():
        row = re.match(r" +(\d+) +(\d+)(?:-(\d+))? +([\d,-]+) ", line)
        if row is None:
            continue
        process, first, last = int(row[1]), int(row[2]), int(row[3] or row[2])
        table.setdefault(process, []).extend([numbers(row[4])] * (last - first + 1))
    return table


def read_back(text: str) -> dict[tuple[int, int], list[tuple[frozenset[int], int]]]:
    """By rank and child: of each thread the PUs that it may use, and the one that it was on."""
    found = {}
    for line in text.splitlines():
        head = re.match(r"rank (-?\d+) child (\d+): (.*)", line)
        if head is None:
            continue
        threads = [part.split("@") for part in head[3].split()]
        found[int(head[1]), int(head[2])] = [(numbers(may), int(cpu)) for may, cpu in threads]
    return found


def combinations() -> list[tuple[str, str, str]]:
    chosen = []
    for kind in KINDS:
        layouts = ["1x1", "2x1"] + (["1x2"] if kind in (*THREADED, "forking", "serial") else [])
        for layout in layouts:
            for bind in ("core", "numa", "none", "list"):
                chosen.append((kind, layout, bind))
    return chosen


@needs_two_cores
@pytest.mark.parametrize("kind, layout, bind", combinations())
def test_the_placement_is_the_one_that_was_promised(
    launcher: Launcher, built: dict[str, Path], kind: str, layout: str, bind: str
) -> None:
    if kind not in built:
        pytest.skip(f"{KINDS[kind][0]} is not here, or cannot build this")
    pus = sorted(os.sched_getaffinity(0))
    # Not in order: a list is taken as it is written.
    width = f"os:{pus[-1]},{pus[0]}" if bind == "list" else bind
    options = ["--layout", layout, "--bind", width]
    program = [str(built[kind]), *KINDS[kind][2]]
    plan = launcher.run(*options, "--dry-run", program=program)
    assert plan.returncode == 0, plan.stderr
    table = promised(plan.stdout)
    done = launcher.run(*options, program=program, env={**os.environ, **ROOT_MAY})
    assert done.returncode == 0, done.stderr
    assert "STRATA_RANK is" not in done.stderr
    seen = read_back(done.stdout)
    processes, threads = (int(n) for n in layout.split("x"))
    children = 4 if kind == "forking" else 1
    assert set(seen) == {(p, c) for p in range(processes) for c in range(children)}
    assert {p: len(sets) for p, sets in table.items()} == dict.fromkeys(range(processes), threads)
    for (process, _), sets in seen.items():
        if kind in THREADED:
            assert [may for may, _ in sets] == table[process]
        else:
            # One thread, or children, of a process that has all its PUs.
            assert [may for may, _ in sets] == [frozenset().union(*table[process])]
        assert all(cpu in may for may, cpu in sets)


@pytest.mark.parametrize(
    "machine, layout, options, rows",
    [
        # The Origin2000's nodes of two processors: 4 processes of 3 threads, one thread a node.
        ("pack:256 core:2 pu:1", "4x3", ["--stride", "2"], {0: [0, 2, 4], 1: [6, 8, 10], 3: [18, 20, 22]}),
        # 2 x 64 cores, 8 domains, SMT: cores, not siblings, and a process a domain.
        ("pack:2 numa:4 l3:2 core:8 pu:2", "8x16", [], {0: [*range(0, 32, 2)], 7: [*range(224, 256, 2)]}),
        ("pack:2 numa:4 l3:2 core:8 pu:2", "2x4", ["--smt", "2"], {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}),
        ("pack:1 core:14 pu:1", "2x2", ["--bind", "13-10,0"], {}),
    ],
)
def test_the_same_text_for_machines_that_are_described(
    launcher: Launcher, machine: str, layout: str, options: list[str], rows: dict[int, list[int]]
) -> None:
    done = launcher.run(
        "--layout", layout, *options, "--dry-run", "--machine", f"synthetic:{machine}", program=["true"]
    )
    if not rows:
        assert done.returncode == 2
        assert "unknown way to bind" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    table = promised(done.stdout)
    assert len(table) == int(layout.split("x")[0])
    for process, pus in rows.items():
        assert [min(each) for each in table[process]] == pus


# 256 cores in 8 domains, a hybrid processor, and memories that are not DRAM or have no cores of their own.
DESCRIBED = ["epyc-256-cores-8-domains.xml", "hybrid-6p-8e.xml", "hbm-and-cxl.xml"]
SHAPES = [(2, 2), (2, 3), (4, 2), (2, 7), (3, 4), (8, 16), (16, 8), (64, 4), (8, 32)]
WISHES = [
    Asked(p, t, stride, bind, memory)
    for p, t in SHAPES
    for stride in (1, 2, 5)
    for bind in ("core", "cache", "numa", "package")
    for memory in ("", "first-touch", "local", "interleave", "interleave:os:0", "bind:os:0")
]


def ranks_given(plan: dict[str, Any]) -> list[tuple[Sets, str, set[int]]]:
    """What mpirun's ranks are told (--as-rank): by process the PUs of each thread, policy and memories."""
    words = plan["start_command"]
    found = []
    for process in words[words.index("--as-rank") + 1].split(";"):
        threads, _, memory = process.partition("@")
        policy, _, nodes = memory.partition("=")
        found.append(
            ([numbers(t) for t in threads.split(":")], policy, set(numbers(nodes)) if nodes else set())
        )
    return found


@pytest.mark.parametrize("kind", ["hybrid-open-mpi", "hybrid-mpich"])
@pytest.mark.parametrize("machine", DESCRIBED)
@pytest.mark.parametrize("most", [20, pytest.param(len(WISHES), marks=pytest.mark.soak)])
def test_plans_for_hybrid_mpi_programs_follow_the_rule(
    launcher: Launcher, built: dict[str, Path], kind: str, machine: str, most: int
) -> None:
    """Threads, pages and what each rank is told, beside a reading of the same file that shares no code."""
    if kind not in built:
        pytest.skip("no such MPI here")
    described = Described(machine)
    wishes = [w for w in WISHES if described.spans(w) <= len(described.cores)]
    # So that every way to bind meets every policy in time: a step that both lists' lengths are prime to.
    wishes = wishes[:: next(n for n in count(max(1, len(wishes) // most)) if math.gcd(n, 24) == 1)]
    assert len({w.bind for w in wishes}) == 4 and len({w.memory for w in wishes}) == 6
    for asked in wishes:
        options = [*asked.options(), "--dry-run", "--json", "--machine", str(described.path)]
        done = launcher.run(*options, program=[str(built[kind])])
        assert done.returncode == 0, (asked, done.stderr)
        plan = json.loads(done.stdout)
        threads, pages = described.threads(asked), described.pages(asked)
        told = [[numbers(thread["pus"]) for thread in process["threads"]] for process in plan["processes"]]
        assert told == threads, asked
        given = ranks_given(plan)
        assert [sets for sets, _, _ in given] == threads, asked
        assert [(policy, nodes) for _, policy, nodes in given] == pages, asked
        for process, (_, nodes) in zip(plan["processes"], pages, strict=True):
            said = re.search(r"P#([\d,-]+)$", process["memory"])
            assert (set(numbers(said[1])) if said else set()) == nodes, asked
        mpirun = plan["start_command"][:3]
        assert (Path(mpirun[0]).name, mpirun[1:]) == (starter_of(kind), ["-n", str(asked.processes)])


def test_the_plan_for_scripts_says_what_the_table_says(launcher: Launcher, built: dict[str, Path]) -> None:
    if "openmp-gcc" not in built:
        pytest.skip("no compiler with OpenMP")
    options = ["--layout", "1x2", "--bind", "none", "--huge-pages", "on", "--dry-run"]
    program = [str(built["openmp-gcc"])]
    plan = json.loads(launcher.run(*options, "--json", program=program).stdout)
    assert plan["schema"] == "strata.placement/1"
    assert plan["program"]["openmp"].startswith("libgomp")
    assert plan["program"]["mpi"] == ""
    table = promised(launcher.run(*options, program=program).stdout)
    for process, said in enumerate(plan["processes"]):
        assert [numbers(thread["pus"]) for thread in said["threads"]] == table[process]
        assert "huge pages" in said["memory"]
    if "hybrid-mpich" in built:
        done = launcher.run("--dry-run", "--json", program=[str(built["hybrid-mpich"])])
        hybrid = json.loads(done.stdout)["program"]
        assert (hybrid["mpi"], hybrid["openmp"][:7]) == ("MPICH", "libgomp")


@pytest.mark.parametrize("how, said", [("on", "glibc.malloc.hugetlb=1"), ("off", "THP_enabled:\t0")])
def test_huge_pages_are_asked_for_or_forbidden(launcher: Launcher, how: str, said: str) -> None:
    script = "cat /proc/self/status; echo $GLIBC_TUNABLES"
    done = launcher.run("--huge-pages", how, program=["sh", "-c", script])
    assert done.returncode == 0, done.stderr
    if how == "off" and "THP_enabled" not in done.stdout:
        pytest.skip("this kernel does not show it")
    assert said in done.stdout


def starter_of(kind: str) -> str:
    return "mpirun.openmpi" if "open-mpi" in kind else "mpirun.mpich"


MPI_KINDS = ["open-mpi", "mpich", "hybrid-open-mpi", "hybrid-mpich"]


@needs_two_cores
@pytest.mark.parametrize("kind", MPI_KINDS)
def test_around_an_mpirun_with_its_users_options(
    launcher: Launcher, built: dict[str, Path], kind: str
) -> None:
    if kind not in built:
        pytest.skip("no such MPI here")
    mpirun = starter_of(kind)
    extra = ["-x", "HOME"] if "openmpi" in mpirun else ["-genv", "COLOUR", "blue"]
    done = launcher.run(
        "--layout",
        "2x1",
        program=[mpirun, *extra, "-n", "2", str(built[kind])],
        env={**os.environ, **ROOT_MAY},
    )
    assert done.returncode == 0, done.stderr
    seen = read_back(done.stdout)
    pus = sorted(os.sched_getaffinity(0))
    assert {rank: sets[0][0] for (rank, _), sets in seen.items()} == {0: {pus[0]}, 1: {pus[1]}}
    # Without a layout the processes are mpirun's.
    done = launcher.run(program=[mpirun, "-n", "2", str(built[kind])], env={**os.environ, **ROOT_MAY})
    assert len(read_back(done.stdout)) == 2, done.stderr


@needs_two_cores
@pytest.mark.parametrize("kind", MPI_KINDS)
def test_under_an_mpirun_that_binds_against_the_layout(
    launcher: Launcher, built: dict[str, Path], kind: str
) -> None:
    if kind not in built:
        pytest.skip("no such MPI here")
    mpirun = starter_of(kind)
    dash = "--" if "openmpi" in mpirun else "-"
    inner = launcher.command("--layout", "2x1", "--bind", "1,0", program=[str(built[kind])])
    environment = {**os.environ, **ROOT_MAY}

    def run(bind: str) -> subprocess.CompletedProcess[str]:
        command = [mpirun, f"{dash}bind-to", bind, "-n", "2", *inner]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=60
        )

    free, bound = run("none"), run("core")
    assert free.returncode == 0, free.stderr
    pus = sorted(os.sched_getaffinity(0))
    seen = {rank: sets[0][0] for (rank, _), sets in read_back(free.stdout).items()}
    assert seen == {0: {pus[1]}, 1: {pus[0]}}
    assert bound.returncode != 0
    assert "the binding inherited from the launcher around this one contradicts the layout" in bound.stderr
    assert f"{dash}bind-to none" in bound.stderr


def test_by_hand_the_same_placement(launcher: Launcher, built: dict[str, Path], tmp_path: Path) -> None:
    """The words for other launchers that --explain gives: tried with the launchers that are here."""
    if allowed_cores() < 2 or "open-mpi" not in built or "mpich" not in built:
        pytest.skip("needs two cores and both MPIs")
    text = launcher.run(
        "--layout", "2x1", "--bind", "1,0", "--dry-run", program=[str(built["open-mpi"])]
    ).stdout
    table = promised(text)
    ranks = "\n".join(line.strip() for line in text.splitlines() if line.strip().startswith("rank "))
    (tmp_path / "ranks").write_text(ranks + "\n")
    (open_mpi,) = re.findall(r"mpirun (-n 2 .*) --rankfile", text)
    (mpich,) = re.findall(r"mpiexec (-n 2 -bind-to \S+)", text)
    commands = {
        # A name alone: Open MPI 5 refuses a path with `-` in it.
        "open-mpi": ["mpirun.openmpi", *open_mpi.split(), "--rankfile", "ranks"],
        "mpich": ["mpirun.mpich", *mpich.split()],
    }
    for kind, command in commands.items():
        done = subprocess.run(
            [*command, str(built[kind])],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **ROOT_MAY},
            cwd=tmp_path,
            timeout=60,
        )
        seen = {rank: [may for may, _ in sets] for (rank, _), sets in read_back(done.stdout).items()}
        assert seen == table, (kind, done.stderr)


@pytest.mark.parametrize(
    "program, said",
    [
        (["mpirun", "--no-such-option", "2", "true"], "an option of"),
        (["mpirun", "-n", "2"], "is given no program"),
        (["mpirun", "-n", "1", "true", ":", "-n", "1", "true"], "several programs in one command"),
        (["mpirun", "--bind-to", "core", "-n", "1", "true"], "would bind against the layout"),
        (["mpirun", "-n", "2", "true"], "the layout and the MPI launcher that is started disagree"),
    ],
)
def test_an_mpirun_command_that_cannot_be_kept(launcher: Launcher, program: list[str], said: str) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    done = launcher.run("--layout", "3x1", "--bind", "none", program=program)
    assert done.returncode == 2
    assert done.stderr.count("strata: error:") == 1
    assert said in done.stderr


@pytest.mark.parametrize(
    "options, instead",
    [
        (["--cpu-bind=cores"], "--layout 2x1 --bind core -- {srun} -n 2 true a"),
        (["--cpu-bind", "v,sockets"], "--layout 2x1 --bind package -- {srun} -n 2 true a"),
        (["--cpu-bind=ldoms"], "--layout 2x1 --bind numa -- {srun} -n 2 true a"),
        (["--cpu-bind=quiet,map_cpu:1,0"], "--layout 2x1 --bind os:1,0 -- {srun} -n 2 true a"),
        (["--mem-bind=local"], "--layout 2x1 --memory local -- {srun} -n 2 true a"),
        (["--hint=nomultithread"], "--layout 2x1 -- {srun} -n 2 true a"),
        # It names no binding, and srun's own stays on.
        (["--cpu-bind=verbose"], "--layout 2x1 -- {srun} --cpu-bind=verbose,none -n 2 true a"),
    ],
)
def test_an_srun_that_would_bind_is_answered_with_what_to_type(
    launcher: Launcher, tmp_path: Path, options: list[str], instead: str
) -> None:
    srun = tmp_path / "srun"
    srun.write_text("#!/bin/sh\n")
    srun.chmod(0o755)
    done = launcher.run("--layout", "2x1", program=[str(srun), *options, "-n", "2", "true", "a"])
    assert done.returncode == 2
    assert done.stderr.count("strata: error: Slurm's srun would bind against the layout") == 1
    assert f"given: {' '.join(options).replace('=', ' ')}" in done.stderr
    assert f"try: strata launch {instead.format(srun=srun)}\n" in done.stderr
    for free in ("none", "v,none", "quiet,none"):
        done = launcher.run(
            "--layout", "1x1", "--dry-run", program=[str(srun), f"--cpu-bind={free}", "-n", "1", "true"]
        )
        assert done.returncode == 0, done.stderr


def test_an_unknown_mpi_is_named(launcher: Launcher, tmp_path: Path) -> None:
    """A library that only has the name of an MPI that nobody knows, and a program that needs it."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or ""
    library, program = tmp_path / "libmpi.so.77", tmp_path / "program"
    (tmp_path / "empty.cpp").write_text("int mpi_like() { return 0; }\n")
    (tmp_path / "main.cpp").write_text("int mpi_like();\nint main() { return mpi_like(); }\n")
    shared = ["-shared", "-fPIC", "-Wl,-soname,libmpi.so.77", "-o", str(library)]
    subprocess.run([compiler, str(tmp_path / "empty.cpp"), *shared], check=True)
    linked = [str(library), f"-Wl,-rpath,{tmp_path}", "-o", str(program)]
    subprocess.run([compiler, str(tmp_path / "main.cpp"), *linked], check=True)
    done = launcher.run("--layout", "1x1", program=[str(program)])
    assert done.returncode == 2
    assert "the program's MPI is not known" in done.stderr
    assert "libmpi.so.77" in done.stderr
    foreign = tmp_path / "jsrun"
    foreign.write_text("#!/bin/sh\n")
    foreign.chmod(0o755)
    done = launcher.run(program=[str(foreign), "-n", "2", "true"])
    assert done.returncode == 2
    assert "this MPI's launcher is not known" in done.stderr


@pytest.mark.skipif(shutil.which("numactl") is None, reason="no numactl")
def test_an_inherited_memory_policy_that_contradicts_is_refused(launcher: Launcher) -> None:
    command = launcher.command("--memory", "first-touch", program=["true"])
    done = subprocess.run(
        ["numactl", "--interleave=0", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "the memory policy inherited contradicts the one asked" in done.stderr
