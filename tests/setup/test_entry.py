"""The entry: from anywhere, with any arguments, for the machine it is on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import sample


def test_works_from_another_directory_in_a_path_with_spaces(ready: sample.Checkout, tmp_path: Path) -> None:
    found = sample.facts(ready.run(cwd=tmp_path))
    assert Path(found["exe"]).is_relative_to(ready.root)
    assert Path(found["python"]).is_file()


def test_works_through_a_symbolic_link_and_by_a_relative_path(ready: sample.Checkout, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "strata").symlink_to(ready.entry)
    assert sample.facts(ready.run(entry="bin/strata", cwd=tmp_path))["word"] == "first"
    assert sample.facts(ready.run(entry="./strata", cwd=ready.root))["word"] == "first"


def test_arguments_arrive_as_they_were_given(ready: sample.Checkout) -> None:
    given = ["launch", "--", "a b", "", "*", '$HOME "x"']
    lines = ready.run(*given).stdout.splitlines()
    assert [line.removeprefix("argument=") for line in lines if line.startswith("argument=")] == given


def test_a_later_start_needs_no_network_and_builds_nothing(ready: sample.Checkout) -> None:
    before = ready.trees()
    blocked = "http://127.0.0.1:9"
    done = ready.run(PIP_NO_INDEX="1", HTTPS_PROXY=blocked, HTTP_PROXY=blocked, ALL_PROXY=blocked)
    assert sample.facts(done)["word"] == "first"
    assert done.stderr == ""
    if os.geteuid() == 0 and shutil.which("unshare"):
        sample.facts(ready.run(prefix=("unshare", "-n")))
    assert ready.trees() == before


def test_an_unlike_machine_gets_a_build_of_its_own(ready: sample.Checkout, tmp_path: Path) -> None:
    here = sample.facts(ready.run())["exe"]
    cpuinfo = tmp_path / "cpuinfo"
    lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    name = "flags" if any(line.startswith("flags") for line in lines) else "Features"
    fewer = [line.rsplit(" ", 1)[0] if line.startswith(name) else line for line in lines]
    cpuinfo.write_text("\n".join([*fewer, "", ""]))

    there = sample.facts(ready.run(STRATA_CPUINFO=str(cpuinfo)))["exe"]
    assert Path(there).parents[2] != Path(here).parents[2]
    assert sample.facts(ready.run())["exe"] == here
    assert sample.facts(ready.run(STRATA_CPUINFO=str(cpuinfo)))["exe"] == there


def recording(folder: Path, name: str) -> str:
    """A PATH on which one program writes down that it was started, and then does what it does."""
    folder.mkdir()
    program = shutil.which(name)
    (folder / name).write_text(f'#!/bin/sh\necho "$@" >>"{folder}/calls"\nexec {program} "$@"\n')
    (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_a_start_that_finds_what_the_last_one_found_takes_its_word(
    ready: sample.Checkout, tmp_path: Path
) -> None:
    path = recording(tmp_path / "bin", "getconf")
    calls = tmp_path / "bin" / "calls"
    first = sample.facts(ready.run(PATH=path))
    calls.unlink(missing_ok=True)
    assert sample.facts(ready.run("word", PATH=path))["exe"] == first["exe"]
    assert not calls.exists(), "the key was not put together again"

    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(Path("/proc/cpuinfo").read_text().split("\n\n")[0] + "\n\n")
    ready.run(PATH=path, STRATA_CPUINFO=str(cpuinfo))
    assert not calls.exists(), "the same processor, whatever file says so"
    sample.facts(ready.run(PATH=path, CXXFLAGS=" "))
    assert calls.exists(), "another option is another key"
    ready.run(PATH=path)  # what is remembered is now without that option
    calls.unlink()
    os.utime(ready.root / "cli" / "main.cpp")
    assert "rebuilding" in ready.run(PATH=path).stderr
    assert calls.exists(), "a source is newer"


def test_a_launch_looks_at_the_launchers_sources_alone(ready: sample.Checkout) -> None:
    ready.run()
    for folder, noticed in (("solvers", False), ("core/launch", True)):
        source = ready.root / folder / "later.hpp"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("#pragma once\n")
        assert ("rebuilding" in ready.run("launch", "--", "true").stderr) == noticed, folder
        source.unlink()
        ready.run()


def test_a_node_without_compiler_uses_a_build_only_of_its_own_kind(
    ready: sample.Checkout, tmp_path: Path
) -> None:
    here = sample.facts(ready.run())["exe"]
    path = sample.without_compiler(tmp_path / "bin")
    assert sample.facts(ready.run(PATH=path))["exe"] == here

    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("vendor_id\t: Other\nflags\t\t: none\n\n")
    done = ready.run(PATH=path, STRATA_CPUINFO=str(cpuinfo))
    assert done.returncode == 1
    assert "missing and needed: compiler" in done.stderr
    assert "exe=" not in done.stdout


def test_an_unknown_preset_is_refused_with_those_that_exist(ready: sample.Checkout) -> None:
    done = ready.run(STRATA_PRESET="fast")
    assert done.returncode == 1
    assert "STRATA_PRESET=fast" in done.stderr
    assert "native, portable" in done.stderr


def test_help_of_the_checkouts_own_commands_sets_nothing_up(checkout: sample.Checkout) -> None:
    for command in ("setup", "test", "docs", "clean"):
        done = checkout.run(command, "--help")
        assert done.returncode == 0
        assert done.stdout.startswith(f"usage: strata {command}")
    assert not (checkout.root / "build").exists()


@pytest.mark.parametrize("json", [False, True])
def test_the_doctor_answers_where_nothing_was_set_up(checkout: sample.Checkout, json: bool) -> None:
    done = checkout.run("doctor", *["--json"] * json)
    assert done.returncode == 1, "the native front is missing, and the doctor's exit code says so"
    assert "native front" in done.stdout
    assert "./strata setup" in done.stdout
    assert not (checkout.root / "build").exists()


def test_no_module_comes_from_the_folder_in_which_a_command_is_typed(
    checkout: sample.Checkout, tmp_path: Path
) -> None:
    """Where PYTHONPATH ends with a colon, that folder is part of it."""
    for name in ("json", "argparse", "pathlib"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    for said in ("/nowhere:", "."):
        done = checkout.run("doctor", cwd=tmp_path, PYTHONPATH=said)
        assert "native front" in done.stdout, done.stderr
    assert not (tmp_path / "mark").exists()


def test_folders_of_modules_are_kept_as_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    key = Path(__file__).parents[2] / "setup" / "key.sh"
    script = '. "$0"; strata_modules_elsewhere; printf "%s|%s" "$PYTHONPATH" "$-"'
    said = f"{tmp_path}/*::lib:{tmp_path}/b c"
    words = ["bash", "-uc", script, str(key)]
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": said}
    )
    kept, _, options = done.stdout.partition("|")
    assert kept == f"{tmp_path}/*:{tmp_path}/b c" and "f" not in options


@pytest.mark.parametrize("before", [None, 0o666])
def test_nobody_else_can_hold_the_lock_of_builds(tmp_path: Path, before: int | None) -> None:
    """Whoever may open a file, to read it as well, can lock it for as long as he likes."""
    lock = tmp_path / "lock"
    if before is not None:
        lock.touch()
        lock.chmod(before)
    script = 'umask 0; . "$0"; strata_own_lock'
    key = Path(__file__).parents[2] / "setup" / "key.sh"
    subprocess.run(
        ["bash", "-uc", script, key], check=True, env={**os.environ, "STRATA_BUILDS": str(tmp_path)}
    )
    assert lock.stat().st_mode & 0o007 == 0
