"""Set-up: what it does with what is missing, changed, broken, interrupted or done by two at once."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sample


def pieces_of(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Whether the build that answered has each piece that may be missing: STRATA_HDF5 is ON, ..."""
    cache = (build_of(done) / "cmake" / "CMakeCache.txt").read_text()
    names = "MPI|FFTW|HDF5|FORTRAN|PAPI|VALGRIND|SOLVERS|PYTHON_GRAPH"
    found = dict(re.findall(rf"(?m)^(STRATA_(?:{names})):BOOL=(\w+)$", cache))
    assert len(found) == 8
    return found


def test_changed_sources_are_rebuilt_and_the_tree_in_use_stays(ready: sample.Checkout) -> None:
    old = sample.facts(ready.run())["exe"]
    ready.say("second")
    try:
        found = sample.facts(ready.run())
        assert found["word"] == "second"
        assert found["exe"] != old
        assert Path(old).exists(), "a measurement that runs from the old tree must find it whole"
    finally:
        ready.say("first")


def test_sources_that_do_not_compile_are_one_error_with_the_compilers_words(ready: sample.Checkout) -> None:
    source = ready.root / "cli" / "main.cpp"
    source.write_text("int main() { return undeclared_word; }\n")
    try:
        done = ready.run()
        assert done.returncode == 1
        assert done.stdout == ""
        assert "the native build failed" in done.stderr
        assert "undeclared_word" in done.stderr
        assert "build/setup-" in done.stderr
        assert (
            "strata: error: the native build failed" in done.stderr.splitlines()[-2]
        )  # last, and what to try
    finally:
        ready.say("first")
    assert sample.facts(ready.run())["word"] == "first"


def test_a_changed_source_of_any_part_is_rebuilt(ready: sample.Checkout) -> None:
    old = sample.facts(ready.run())["exe"]
    for part in ("core", "methods", "solvers"):
        source = ready.root / part / "later.hpp"
        source.parent.mkdir(exist_ok=True)
        source.write_text("#pragma once\n")
        done = ready.run()
        assert "rebuilding" in done.stderr, part
        assert sample.facts(done)["word"] == "first"
        source.unlink()
    assert sample.facts(ready.run())["exe"] != old


def test_a_piece_that_became_known_later_is_offered_once_to_a_build_that_exists(
    ready: sample.Checkout,
) -> None:
    ready.run()
    assert ready.run().stderr == ""
    pieces = ready.root / "python" / "strata" / "pieces.csv"
    before = pieces.read_text()
    try:
        pieces.write_text(
            before + "novelty,optional,first,libnovelty-dev,novelty-devel,novelty,,no novelties\n"
        )
        done = ready.run()
        assert "without novelty: no novelties" in done.stderr
        assert "sudo apt-get install libnovelty-dev" in done.stderr
        assert done.stderr.count("without ") == 1, "what it was offered before is not offered again"
        assert ready.run().stderr == ""
        ready.say("second")
        assert "novelty" not in ready.run().stderr
    finally:
        pieces.write_text(before)
        ready.say("first")
        ready.run()


def test_a_missing_optional_piece_costs_only_what_needs_it(ready: sample.Checkout) -> None:
    done = ready.run("setup", "--all", STRATA_WITHOUT="mpi python-headers")
    without = ready.run(STRATA_WITHOUT="mpi python-headers")
    assert sample.facts(without)["word"] == "first"
    assert "without mpi" in done.stderr
    assert "without python-headers: no task graphs from Python" in done.stderr
    for command in (
        "sudo apt-get install libopenmpi-dev",
        "sudo dnf install openmpi",
        "spack install openmpi",
        "sudo apt-get install python3-dev",
    ):
        assert command in done.stderr
    # Beside a build that lacks another one: all else that this machine has is there.
    ready.run("setup", "--all", STRATA_WITHOUT="valgrind")
    expected = pieces_of(ready.run(STRATA_WITHOUT="valgrind"))
    expected |= {"STRATA_MPI": "OFF", "STRATA_PYTHON_GRAPH": "OFF"}
    found = pieces_of(without)
    del expected["STRATA_VALGRIND"], found["STRATA_VALGRIND"]
    assert found == expected


@pytest.mark.parametrize("piece", ["compiler", "python", "hwloc"])
def test_a_missing_needed_piece_is_one_error_with_the_commands(ready: sample.Checkout, piece: str) -> None:
    done = ready.run(STRATA_WITHOUT=piece)
    assert done.returncode == 1
    assert f"missing and needed: {piece}\n" in done.stderr
    for command in ("sudo apt-get install", "sudo dnf install", "spack install"):
        assert command in done.stderr


def test_a_module_that_has_a_piece_is_loaded_and_remembered(ready: sample.Checkout, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ninja").symlink_to(shutil.which("ninja") or "/usr/bin/ninja")
    path = ":".join(
        hide(place, {"ninja", "ninja-build"}, tmp_path) for place in os.environ["PATH"].split(":")
    )
    module = '() { [ "$1 $2" = "load ninja" ] && export PATH="' + str(tools) + ':$PATH"; }'

    first = ready.run(PATH=path, **{"BASH_FUNC_module%%": module}, CXXFLAGS="-DWITH_MODULES")
    assert "module ninja gives ninja" in first.stderr
    later = ready.run(PATH=path, CXXFLAGS="-DWITH_MODULES")
    assert later.stderr == ""
    assert sample.facts(later)["path"] == f"{tools}:{path}"

    # What a program that Strata started starts is not another machine.
    within = {"PATH": f"/own:{tools}:{path}", "STRATA_OUTER_PATH": path}
    builds = ready.builds()
    nested = ready.run(CXXFLAGS="-DWITH_MODULES", STRATA_ENVIRONMENT=str(build_of(later)), **within)
    assert sample.facts(nested)["path"] == within["PATH"]
    assert ready.builds() == builds


def test_apt_is_asked_once_for_everything_and_only_where_it_may(
    ready: sample.Checkout, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    places = os.environ["PATH"].split(":")
    path = ":".join([str(tools), *(hide(place, {"ninja", "ninja-build"}, tmp_path) for place in places)])
    # An apt whose lists are empty at first, and a sudo that asks nothing.
    script = f"""#!/bin/sh
echo "$DEBIAN_FRONTEND $*" >>{tmp_path}/calls
case "$*" in
*update) touch {tmp_path}/lists ;;
*install*) test -f {tmp_path}/lists && ln -s {shutil.which("ninja")} {tools}/ninja ;;
esac
"""
    (tools / "apt-get").write_text(script)
    (tools / "sudo").write_text('#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n')
    for program in ("apt-get", "sudo"):
        (tools / program).chmod(0o755)

    del ready.environment["STRATA_NO_APT"]
    try:
        assert sample.facts(ready.run(PATH=path, CXXFLAGS="-DWITH_APT"))["word"] == "first"
        again = ready.run(PATH=path, CXXFLAGS="-DWITH_APT")
    finally:
        ready.environment["STRATA_NO_APT"] = "1"
    calls = (tmp_path / "calls").read_text().splitlines()
    # With what else this machine may lack.
    asked = ["ninja-build" if "ninja-build" in call.split() else call.split()[-1] for call in calls]
    assert asked == ["ninja-build", "update", "ninja-build"]
    assert all(call.startswith("noninteractive ") for call in calls)
    assert again.stderr == "", "what apt brought is part of the key that the next start finds"


def test_the_first_start_goes_on_to_its_command_when_setup_brings_mpi(
    checkout: sample.Checkout, tmp_path: Path
) -> None:
    """A compiler is there and no MPI: mpicxx, which apt then brings, is a piece of the build's key."""
    tools = tmp_path / "tools"
    tools.mkdir()
    places = os.environ["PATH"].split(":")
    path = ":".join([str(tools), *(hide(place, {"mpicxx", "sudo"}, tmp_path) for place in places)])
    wrapper = f"""printf '#!/bin/sh\\nexec c++ "$@"\\n' >{tools}/mpicxx && chmod +x {tools}/mpicxx"""
    (tools / "apt-get").write_text(f'#!/bin/sh\ncase "$*" in *libopenmpi-dev*) {wrapper} ;; esac\n')
    (tools / "sudo").write_text('#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n')
    for program in ("apt-get", "sudo"):
        (tools / program).chmod(0o755)

    del checkout.environment["STRATA_NO_APT"]
    first = checkout.run("a word", PATH=path)
    assert (tools / "mpicxx").exists(), "set-up asked apt for MPI"
    found = sample.facts(first)
    assert found["argument"] == "a word", "the first start ran its command"
    later = checkout.run(PATH=path)
    assert later.stderr == "", "and the next start has nothing to set up"
    assert sample.facts(later)["exe"] == found["exe"]


def python_without_ensurepip(folder: Path) -> Path:
    """A Python as Debian's python3 is without python3-venv: it has venv, and neither ensurepip nor pip."""
    for module in ("ensurepip", "pip"):
        (folder / "absent" / module).mkdir(parents=True)
        (folder / "absent" / module / "__init__.py").write_text("raise ImportError\n")
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}/absent" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


def test_a_python_that_cannot_make_an_environment_is_told_with_its_package(
    checkout: sample.Checkout, tmp_path: Path
) -> None:
    python = python_without_ensurepip(tmp_path)
    done = checkout.run(STRATA_BASE_PYTHON=str(python))
    assert done.returncode == 1
    assert "missing and needed: python\n" in done.stderr
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"{python} is there and cannot make an environment" in done.stderr
    assert f"the package python{version}-venv is missing" in done.stderr


def test_apt_brings_what_a_python_lacks_to_make_an_environment(
    checkout: sample.Checkout, tmp_path: Path
) -> None:
    python = python_without_ensurepip(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    script = f'#!/bin/sh\ncase "$*" in *python3-venv*) rm -rf {tmp_path}/absent ;; esac\n'
    (tools / "apt-get").write_text(script)
    (tools / "sudo").write_text('#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n')
    for program in ("apt-get", "sudo"):
        (tools / program).chmod(0o755)
    del checkout.environment["STRATA_NO_APT"]
    done = checkout.run(STRATA_BASE_PYTHON=str(python), PATH=f"{tools}:{os.environ['PATH']}")
    assert sample.facts(done)["word"] == "first"


def build_of(done: subprocess.CompletedProcess[str]) -> Path:
    """The build folder whose front this was."""
    return Path(sample.facts(done)["exe"]).parents[2]


def hide(place: str, names: set[str], scratch: Path) -> str:
    """This folder of PATH, or one of links to all in it but some programs."""
    if not any((Path(place) / name).exists() for name in names):
        return place
    copy = scratch / ("without" + place.replace("/", "-"))
    copy.mkdir()
    for program in Path(place).iterdir():
        if program.name not in names:
            (copy / program.name).symlink_to(program)
    return str(copy)


def test_three_first_uses_at_once_make_one_build(checkout: sample.Checkout) -> None:
    started = [checkout.start() for _ in range(3)]
    ended = [(process.communicate(timeout=300), process.returncode) for process in started]
    assert [code for _, code in ended] == [0, 0, 0], ended
    assert len(checkout.trees()) == 1
    assert sum("another process is building, waiting" in err for (_, err), _ in ended) == 2
    assert {out.splitlines()[0] for (out, _), _ in ended} == {f"exe={checkout.trees()[0]}/bin/strata"}


def kill_during_setup(checkout: sample.Checkout, moment: float, whole_group: bool) -> None:
    """Starts the entry and kills it after a while: alone, or with everything it started."""
    process = checkout.start()
    time.sleep(moment)
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
    process.wait()
    # What survived holds the lock until it is done; nothing here waits for it but the next set-up.


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_a_killed_setup_is_made_good_by_the_next(checkout: sample.Checkout, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        kill_during_setup(checkout, chance.uniform(0.05, 4.0), whole_group=chance.random() < 0.7)
    assert sample.facts(checkout.run())["word"] == "first"
    assert sample.facts(checkout.run())["word"] == "first"


@pytest.mark.soak
def test_setup_killed_at_many_points_is_made_good_by_the_next(checkout: sample.Checkout) -> None:
    chance = random.Random(7)
    for round_number in range(12):
        for _ in range(chance.randint(1, 3)):
            kill_during_setup(checkout, chance.uniform(0.02, 8.0), whole_group=chance.random() < 0.7)
        checkout.say(f"round-{round_number}")
        if chance.random() < 0.5:
            kill_during_setup(checkout, chance.uniform(0.02, 2.0), whole_group=True)
        assert sample.facts(checkout.run())["word"] == f"round-{round_number}"
        if chance.random() < 0.3:
            shutil.rmtree(checkout.root / "build")


@pytest.mark.usefixtures("package_index")
def test_sets_up_and_installs_for_others_without_root_and_without_apt(somebody: sample.Somebody) -> None:
    checkout = sample.make(somebody.folder / "a checkout")
    somebody.owns_all()
    private = {"HOME": str(somebody.home), "STRATA_IGNORE_SYSTEM": "cmake ninja hwloc fmt"}
    done = checkout.run(prefix=somebody.prefix, **private)
    found = sample.facts(done)
    libraries = subprocess.run(["ldd", found["exe"]], capture_output=True, text=True, check=True).stdout
    for library in ("libhwloc", "libfmt"):
        line = next(line for line in libraries.splitlines() if library in line)
        assert str(checkout.root) in line, "comes from the private prefix"
    assert not any(somebody.home.glob(".local")), "nothing is installed for the user at large"

    prefix = somebody.folder / "opt" / "1.0"
    done = checkout.run("setup", "--install", str(prefix), prefix=somebody.prefix, **private)
    assert done.returncode == 0, done.stderr
    checkout.root.rename(somebody.folder / "moved away")
    found = sample.facts(subprocess.run([prefix / "bin" / "strata"], capture_output=True, text=True))
    libraries = subprocess.run(["ldd", found["exe"]], capture_output=True, text=True, check=True).stdout
    assert "not found" not in libraries
    for library in ("libhwloc", "libfmt"):
        assert f"{prefix.parent}/.trees" in next(line for line in libraries.splitlines() if library in line)
    ninja = subprocess.run([prefix / "private" / "tools" / "ninja", "--version"], capture_output=True)
    assert ninja.returncode == 0, "its script names the prefix"
