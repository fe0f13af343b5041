"""A solver of one's own: `strata new` writes it, `strata run` builds and runs it."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from solver_cases import solver_program

ROOT = Path(__file__).resolve().parents[3]
ELSEWHERE = "/proc"  # where nobody can write
UNHELD = ("--layout", "2x1", "--bind", "none", "--quiet")
QUICKLY = {"CMAKE_BUILD_TYPE": "Debug"}  # built without optimisation


def call(*words: object, cwd: Path | str = ELSEWHERE, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in words]
    env = os.environ | {"PYTHONPATH": str(ROOT / "python")} | environment
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=env, check=False)


def good(*words: object, **more: str) -> subprocess.CompletedProcess[str]:
    done = call(*words, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def one_error(done: subprocess.CompletedProcess[str], code: int) -> str:
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr.count("strata: error: ") == 1, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def strata(front: str) -> str:
    """A front that is installed with the libraries of solvers."""
    found = call(front, "--cmake-prefix")
    if found.returncode != 0:
        pytest.skip(f"no installed tree with the part solver: {found.stderr}")
    return front


@pytest.fixture(scope="module")
def wave(strata: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new solver in C++, as yet not built."""
    folder = tmp_path_factory.mktemp("a  home") / "wave"
    said = good(strata, "new", folder).stdout
    assert f"python3 '{folder}/test_wave.py'" in said
    return folder


def test_a_new_solver_is_built_once_and_passes_its_test_from_anywhere(
    strata: str, wave: Path, tmp_path: Path
):
    case = wave / "case.toml"
    first = good(strata, "run", case, *UNHELD, "--out", tmp_path / "out")
    assert re.search(r"^strata: building wave, .*\nstrata: wave was built in .* s$", first.stderr, re.M)
    assert "verified: root-mean-square error against the exact solution" in first.stdout
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["processes"] == 2
    assert "-ffp-contract=off" in result["provenance"]["flags"]
    again = good(strata, "run", case, *UNHELD)
    assert "built" not in again.stderr, "nothing changed"
    tested = good(sys.executable, wave / "test_wave.py", STRATA=strata)
    assert tested.stdout.count("passed: ") == 2, tested.stdout
    shown = good(strata, "run", case, "--help").stdout
    assert shown.startswith("usage: strata run [options] CASE\n")
    assert f"strata run --layout 2x1 {case}" in shown or f"strata run {case} --out run --layout 2x1" in shown
    assert '  solver = "wave"\n' in shown
    assert sorted(path.name for path in wave.iterdir() if path.name != "build") == sorted(
        [".gitignore", "CMakeLists.txt", "README.md", "case.toml", "test_wave.py", "wave.cpp"]
    )


def test_steps_of_a_run_of_a_new_solver_are_computed_again(strata: str, wave: Path, tmp_path: Path):
    out = tmp_path / "out"
    good(strata, "run", wave / "case.toml", *UNHELD, "--out", out, "--checkpoint", 10, "--keep", 0)
    words = ("--steps", "12:20", "--layout", "3x1", "--bind", "none", "--quiet")
    said = good(strata, "replay", out, *words)
    assert "from checkpoint-000010: 10 steps" in said.stderr
    assert "bit for bit alike with the run: 1 checkpoint" in said.stdout


def test_a_source_that_changed_is_built_again_and_the_written_test_can_fail(strata: str, wave: Path):
    source = wave / "wave.cpp"
    text = source.read_text()
    source.write_text(text.replace("r = 0.25;", "r = 0.24;"))  # waves that are 2 % slower
    try:
        done = call(strata, "run", wave / "case.toml", *UNHELD)
        assert done.returncode == 1
        assert "strata: building wave" in done.stderr
        assert "NOT VERIFIED: root-mean-square error" in done.stdout
        tested = call(sys.executable, wave / "test_wave.py", STRATA=strata)
        assert tested.returncode != 0
        source.write_text(text.replace("equal_steps(graph, dt)", "equal_steps(graph, dtt)"))
        broken = call(strata, "run", wave / "case.toml", *UNHELD)
        said = one_error(broken, 1)
        line = 1 + next(i for i, text in enumerate(source.read_text().splitlines()) if "dtt" in text)
        assert len(re.findall(rf"{re.escape(str(source))}:{line}:\d+: error: ", said)) == 1, said
        assert re.search(r"\nstrata: error: the solver does not compile\n  at: ", said)
        for talk in ("ninja:", "FAILED", "-std=", "[1/"):
            assert talk not in said
        assert broken.stdout == "", "an old program does not run"
    finally:
        source.write_text(text)
    assert "verified: " in good(strata, "run", wave / "case.toml", *UNHELD).stdout


def test_a_wrong_key_gives_one_error_with_file_line_and_key(strata: str, wave: Path, tmp_path: Path):
    case = tmp_path / "case.toml"  # elsewhere, so it says where the solver is
    case.write_text(f'solver = "{wave}/wave"\ncells = 32\nend = 0.1\nspeet = 2.0\n')
    said = one_error(call(strata, "run", case, *UNHELD), 2)
    assert f"{case}:4 speet" in said
    assert "try: speed?" in said
    case.write_text(f'solver = "{wave}/wave"\ncells = 32\nend = -1.0\n')
    said = one_error(call(strata, "run", case, *UNHELD), 2)
    assert f"{case}:3 end" in said
    assert f"try: strata run {case} --help" in said
    case.write_text('# a case\nsolver = "wave"\ncells = 32\n')
    said = one_error(call(strata, "run", case), 2)
    assert "there is no such solver" in said
    assert f"{case}:2 solver" in said
    assert "PATH/NAME" in said


def test_a_folder_that_moved_or_cannot_be_written_is_built_elsewhere_by_one_of_two_at_once(
    strata: str, wave: Path, tmp_path: Path
):
    moved, cache = tmp_path / "moved", tmp_path / "cache"
    moved.mkdir()
    for path in wave.iterdir():
        if path.is_file():
            shutil.copy2(path, moved)
    (moved / "build").write_text("in the way: no folder can be made")
    command = [strata, "run", "case.toml", "--bind", "none", "--quiet"]
    env = os.environ | {"XDG_CACHE_HOME": str(cache)} | QUICKLY
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, cwd=moved, env=env, **pipes) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert all("verified: " in out for out, _ in said)
    assert sum("was built in" in err for _, err in said) == 1
    assert len(list((cache / "strata" / "solvers").glob("wave-*/wave"))) == 1


def linked(file: str, to: str) -> None:
    try:
        os.link(file, to)
    except OSError:  # another file system
        shutil.copy2(file, to)


def test_another_tree_of_strata_makes_the_build_anew_in_the_same_folder(
    strata: str, wave: Path, tmp_path: Path
):
    """As set-up leaves them: trees beside each other, and a link to the newest."""
    tree = Path(call(strata, "--cmake-prefix").stdout.strip()).resolve()
    if Path(strata).resolve().parents[1] != tree:
        pytest.skip("not the tree of a set-up: the package lies elsewhere")
    folder = tmp_path / "wave"
    shutil.copytree(wave, folder, ignore=shutil.ignore_patterns("build"))
    current = tmp_path / "current"
    for name in ("install-1", "install-2"):
        shutil.copytree(tree, tmp_path / name, copy_function=linked)
        named = tmp_path / name / "share" / "strata" / "prefix"
        named.unlink(missing_ok=True)
        named.write_text(f"{current}\n")
        current.unlink(missing_ok=True)
        current.symlink_to(name)
        front = current / "bin" / "strata"
        assert good(front, "--cmake-prefix").stdout == f"{current}\n"
        words = (front, "run", folder / "case.toml", *UNHELD)
        assert "wave was built in" in good(*words, **QUICKLY).stderr, name
        assert "built" not in good(*words, "--out", tmp_path / f"out of {name}", **QUICKLY).stderr
        result = json.loads((tmp_path / f"out of {name}" / "result.json").read_text())
        assert "-O" not in result["provenance"]["flags"]
    assert len(list((folder / "build").iterdir())) == 1


def test_a_folder_that_builds_something_else_is_refused(strata: str, tmp_path: Path):
    (tmp_path / "case.toml").write_text('solver = "wave"\n')
    (tmp_path / "CMakeLists.txt").write_text("project(other)\n")
    assert "there is no such solver" in one_error(call(strata, "run", tmp_path / "case.toml"), 2)
    start = "cmake_minimum_required(VERSION 3.21)\nproject(other LANGUAGES CXX)\n"
    (tmp_path / "CMakeLists.txt").write_text(start + "find_package(strata REQUIRED)\nstrata_solvr(wave)\n")
    said = one_error(call(strata, "run", tmp_path / "case.toml"), 1)
    assert 'Unknown CMake command "strata_solvr"' in said
    assert "CMake does not understand the solver's folder" in said
    (tmp_path / "CMakeLists.txt").write_text(start + "find_package(strata REQUIRED)\n")
    said = one_error(call(strata, "run", tmp_path / "case.toml"), 1)
    assert "builds no program of its name" in said


def test_a_new_solver_in_python_runs_and_passes_its_test(strata: str, tmp_path: Path):
    if solver_program(strata, next(iter(_module_names(strata)), "none")) is None:
        pytest.skip("task graphs from Python are not built")
    folder = tmp_path / "wavepy"
    good(strata, "new", folder, "--python")
    case = folder / "case.toml"
    native = good(strata, "run", case, *UNHELD, "--out", tmp_path / "out").stdout
    assert "verified: root-mean-square error against the exact solution" in native
    tested = good(sys.executable, folder / "test_wavepy.py", STRATA=strata)
    assert tested.stdout.count("passed: ") == 2
    assert good(strata, "run", case, "--help").stdout.startswith("usage: strata run [options] CASE\n")
    case.write_text(case.read_text() + "cels = 3\n")
    assert f"{case}:5 cels" in one_error(call(strata, "run", case, *UNHELD), 2)
    case.write_text(case.read_text().replace("cels = 3\n", ""))
    program = folder / "wavepy.py"
    program.write_text(program.read_text().replace("* (around", "* (arround"))
    said = one_error(call(strata, "run", case, *UNHELD), 1)
    assert "arround" in said


@pytest.mark.parametrize("kind", ["C++", "Python"])
def test_code_that_somebody_else_can_have_written_is_refused(strata: str, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "given"
    good(strata, "new", folder, *(["--python"] if kind == "Python" else []))
    case, code = folder / "case.toml", folder / ("CMakeLists.txt" if kind == "C++" else "given.py")
    what = "code that somebody else can have written"
    for path, mode in ((code, 0o646), (folder, 0o757)):
        before = path.stat().st_mode
        path.chmod(mode)
        said = one_error(call(strata, "run", case, *UNHELD), 2)
        assert what in said and f"try: read it, then chmod o-w {path}" in said
        if kind == "Python":
            said = one_error(call(strata, "run", code, case, *UNHELD), 2)
            assert what in said and f"chmod o-w {path}" in said
        path.chmod(before)
    before = tmp_path.stat().st_mode
    tmp_path.chmod(0o777)  # in which anybody can put another folder in this one's place
    said = one_error(call(strata, "run", case, *UNHELD), 2)
    assert what in said and f"everybody may write {tmp_path}" in said
    tmp_path.chmod(before)
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(tmp_path, 65534, 65534)
    said = one_error(call(strata, "run", case, *UNHELD), 2)
    assert what in said and f"{tmp_path} belongs to user nobody" in said
    os.chown(tmp_path, 0, 0)
    for path in (code, folder):
        os.chown(path, 65534, 65534)
        said = one_error(call(strata, "run", case, *UNHELD), 2)
        assert what in said and "belongs to user nobody" in said and "STRATA_TRUST=nobody" in said
        assert what in one_error(call(strata, "run", case, *UNHELD, STRATA_TRUST="games,65533"), 2)
        os.chown(path, 0, 0)
    assert not (folder / "build").exists()
    if kind == "Python" and solver_program(strata, next(iter(_module_names(strata)), "none")) is not None:
        os.chown(folder, 65534, 65534)
        trusted = {"STRATA_TRUST": "games,nobody"}
        assert (
            "verified: "
            in good(strata, "run", case, *UNHELD[:-1], "--out", tmp_path / "out", **trusted).stdout
        )
        os.chown(folder, 0, 0)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("made", ["nothing", "build", "a link to a folder of this user's"])
def test_a_solver_is_not_built_in_what_another_user_has_made(strata: str, tmp_path: Path, made: str) -> None:
    """A case in a folder of a group; CMake is a script that makes a program which says where it is."""
    with tempfile.TemporaryDirectory(prefix="strata-test-") as open_to_all:
        place, mine = Path(open_to_all), tmp_path / "mine"
        os.chown(place, -1, 65534)
        place.chmod(0o775)
        mine.mkdir()
        (place / "case.toml").write_text('solver = "wave"\n')
        (place / "CMakeLists.txt").write_text("find_package(strata REQUIRED)\n")
        cmake = mine / "cmake"
        cmake.write_text(
            '#!/bin/sh\n[ "$1" = --build ] || exit 0\n'
            'printf \'#!/bin/sh\\necho here: %s\\n\' "$2" >"$2/wave"; chmod +x "$2/wave"\n'
        )
        cmake.chmod(0o755)
        do = {"nothing": ["true"], "build": ["mkdir", "-m", "777", place / "build"]}
        words = do.get(made, ["ln", "-s", mine, place / "build"])
        subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *words], check=True)
        environment = {"PATH": f"{mine}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache")}
        said = good(strata, "run", place / "case.toml", *UNHELD, **environment).stdout
        place_of_it = place / "build" if made == "nothing" else tmp_path / "cache"
        assert said.startswith(f"here: {place_of_it}/"), said


# A CMake that says when a build begins, then waits for a word; what it makes is a program that says nothing.
SLOW = """#!/bin/sh
[ "$1" = --build ] || exit 0
echo begun $$ >{said}
read word <{told}
printf '#!/bin/sh\\n' >"$2/wave"
chmod +x "$2/wave"
echo done >{said}
"""
WAITS = "strata: another process builds this solver, waiting\n"


class SlowBuild:
    """A solver whose builds wait for the test."""

    def __init__(self, strata: str, folder: Path) -> None:
        self.folder = folder
        self.command = [strata, "run", folder / "case.toml", *UNHELD]
        (folder / "case.toml").write_text('solver = "wave"\n')
        (folder / "CMakeLists.txt").write_text("find_package(strata REQUIRED)\n")
        self.said, self.told = folder / "said", folder / "told"
        for fifo in (self.said, self.told):
            os.mkfifo(fifo)
        self.lines, self.unread = os.open(self.said, os.O_RDWR), b""  # kept open: no line is lost
        self.words = os.open(self.told, os.O_RDWR)
        cmake = folder / "tools" / "cmake"
        cmake.parent.mkdir()
        cmake.write_text(SLOW.format(said=self.said, told=self.told))
        cmake.chmod(0o755)
        self.environment = os.environ | {"PATH": f"{cmake.parent}:{os.environ['PATH']}"}

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command, env=self.environment, stderr=subprocess.PIPE, text=True)

    def next(self) -> str:
        while b"\n" not in self.unread:
            ready = select.select([self.lines], [], [], 120)[0]
            assert ready, "no build says anything"
            self.unread += os.read(self.lines, 4096)
        line, _, self.unread = self.unread.partition(b"\n")
        return line.split()[0].decode()

    def go_on(self) -> None:
        os.write(self.words, b"on\n")

    def close(self) -> None:
        os.close(self.lines)
        os.close(self.words)


@pytest.fixture
def slow(strata: str) -> Iterator[SlowBuild]:
    """In a folder that others may look into."""
    with tempfile.TemporaryDirectory(prefix="strata-test-") as folder:
        Path(folder).chmod(0o755)
        made = SlowBuild(strata, Path(folder))
        yield made
        made.close()


def read_to(process: subprocess.Popen[str], line: str) -> None:
    assert process.stderr is not None
    assert line in iter(process.stderr.readline, ""), "it ended without that line"


def test_the_second_of_two_builds_begins_when_the_first_has_ended(slow: SlowBuild) -> None:
    first = slow.start()
    assert slow.next() == "begun"
    second = slow.start()
    read_to(second, WAITS)
    slow.go_on()
    assert [slow.next(), slow.next()] == ["done", "begun"]
    slow.go_on()
    assert slow.next() == "done"
    for each in (first, second):
        each.communicate(timeout=60)
        assert each.returncode == 0


def test_what_a_killed_front_has_started_keeps_its_lock_and_no_longer(slow: SlowBuild) -> None:
    """Two compilers in one folder would spoil each other's objects."""
    first = slow.start()
    assert slow.next() == "begun"
    first.kill()
    first.communicate()
    second = slow.start()
    read_to(second, WAITS)
    slow.go_on()
    assert [slow.next(), slow.next()] == ["done", "begun"]
    slow.go_on()
    assert slow.next() == "done"
    second.communicate(timeout=60)
    assert second.returncode == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("put", ["a file whose lock is held", "a link", "a FIFO"])
def test_what_another_user_has_put_where_the_lock_goes_is_refused(slow: SlowBuild, put: str) -> None:
    """In a folder of a group, whose members could hold up a build for ever, or change a file's mode."""
    first = slow.start()
    assert slow.next() == "begun"
    slow.go_on()
    assert slow.next() == "done"
    first.communicate(timeout=60)
    (lock,) = slow.folder.glob("build/*/lock")
    lock.unlink()
    os.chown(lock.parent, -1, 65534)
    lock.parent.chmod(0o775)
    mine = slow.folder / "mine"
    mine.touch(0o644)
    do = {"a file whose lock is held": f"exec 9>'{lock}'; flock 9; echo put; exec sleep 1000"}
    do |= {"a link": f"ln -s '{mine}' '{lock}'; echo put", "a FIFO": f"mkfifo '{lock}'; echo put"}
    nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "sh", "-c", do[put]]
    with subprocess.Popen(nobody, stdout=subprocess.PIPE, text=True) as stranger:
        assert stranger.stdout is not None and stranger.stdout.readline() == "put\n"
        try:
            done = slow.start()
            said = done.communicate(timeout=60)[1]
        finally:
            done.kill()
            stranger.kill()
    assert done.returncode == 1 and said.count("strata: error: the solver cannot be built") == 1, said
    assert str(lock) in said and (put == "a link" or "a file of user 65534" in said)
    assert mine.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("kind", ["C++", "Python"])
def test_no_code_is_run_in_a_folder_where_everybody_can_put_a_part_of_it(
    strata: str, wave: Path, tmp_path: Path, kind: str
) -> None:
    """As in /tmp: the code is this user's, or a link to such code, and takes what lies beside it."""
    name = "CMakeLists.txt" if kind == "C++" else "wave.py"
    (tmp_path / "case.toml").write_text('solver = "wave"\n')
    (tmp_path / "wave.cpp").write_text("int main() {}\n")
    (wave.parent / "wave.py").write_text("import strata.graph.program\n")
    real = (wave if kind == "C++" else wave.parent) / name
    tmp_path.chmod(0o1777)
    for put in (shutil.copy, lambda path, link: link.symlink_to(path)):
        put(real, tmp_path / name)
        said = one_error(call(strata, "run", tmp_path / "case.toml", *UNHELD), 2)
        assert "code that somebody else can have written" in said and "into a folder of its own" in said
        (tmp_path / name).unlink()
    assert not (tmp_path / "build").exists()


def test_no_code_is_run_by_a_link_into_a_folder_where_everybody_can_put_a_part_of_it(
    strata: str, tmp_path: Path
) -> None:
    place, mine = tmp_path / "open", tmp_path / "mine"
    place.mkdir()
    mine.mkdir()
    (place / "wave.py").write_text("import strata.graph.program\n")
    place.chmod(0o1777)
    (mine / "wave.py").symlink_to(place / "wave.py")
    (mine / "case.toml").write_text('solver = "wave"\n')
    for words in ([mine / "case.toml"], [mine / "wave.py", mine / "case.toml"]):
        said = one_error(call(strata, "run", *words, *UNHELD), 2)
        assert "code that somebody else can have written" in said and f"everybody may write {place}" in said


def test_nothing_is_imported_from_the_current_folder(strata: str, tmp_path: Path) -> None:
    for name in ("strata", "argparse", "numpy"):
        (tmp_path / f"{name}.py").write_text("print('imported')\n")
    said = good(strata, "report", "--help", cwd=tmp_path, STRATA_PYTHON=sys.executable).stdout
    assert said.startswith("usage: strata report")


def _module_names(front: str) -> list[str]:
    return [path.name for path in Path(front).resolve().parent.glob("../libexec/strata/strata_graph*.so")]


def test_the_graph_of_a_solver_of_ones_own_is_shown(strata: str, wave: Path):
    said = good(strata, "graph", "show", wave / "case.toml").stdout
    assert said.startswith("wave: ")
    assert "  leap\n" in said
