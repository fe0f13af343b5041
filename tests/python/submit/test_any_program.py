"""Claims about programs that go on by CRIU: what the script says, what is refused, dumps whole or absent.

CRIU is a stand-in here, which says what a test wants; tests/cluster/test_go_on.py has the real one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_submit import login, refused, script

from strata.errors import StrataError
from strata.submit import criu, dumps, keeper, processes
from strata.submit.dumps import Dumps, Record

__all__ = ["login"]

ROOT = Path(__file__).resolve().parents[3]
RECORD = Record(1001, {}, {"1001": [0]}, [0, 1])


def stand_in(folder: Path, text: str) -> str:
    """A program criu; a PATH on which it comes first."""
    folder.mkdir(exist_ok=True)
    (folder / "criu").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "criu").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture
def here(login: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A login node with a CRIU."""
    monkeypatch.setenv("PATH", stand_in(login / "criu bin", "exit 0"))
    return login


def test_the_script_is_one_line_that_slurm_tells_and_that_says_why(here: Path, capsys) -> None:
    text = script(capsys, "--goes-on", "--time", "1h", "--layout", "1x4", "--", "./a.out", "a b")
    front = here / "prefix" / "bin" / "strata"
    (line,) = (each for each in text.splitlines() if each.startswith("exec "))
    begin = f"exec {front} go-on '{here}/results with space/a.out-"
    assert line.startswith(begin) and line.endswith(f"' -- {front} launch --layout 1x4 -- ./a.out 'a b'")
    assert "#SBATCH --signal=B:USR1@120\n" in text and "#SBATCH --requeue\n" in text
    assert "# Slurm sends SIGUSR1 120 s before" in text and "#   threads: a core each" in text


def test_a_job_that_may_get_less_time_asks_for_all_of_it_again(here: Path, capsys) -> None:
    text = script(capsys, "--goes-on", "--time", "1h", "--time-min", "10m", "--", "./a.out")
    assert "#SBATCH --time-min=" in text and " go-on --time 1:00:00 " in text


def test_each_job_of_an_array_has_dumps_of_its_own(here: Path, capsys) -> None:
    text = script(capsys, "--goes-on", "--time", "1h", "--array", "1-9", "--", "./a.out", "{task}")
    assert """/'"$SLURM_ARRAY_TASK_ID" -- """ in text and text.endswith(' ./a.out "$SLURM_ARRAY_TASK_ID"\n')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes", "2", "--", "./a.out"], "given: --nodes 2"),
        (["--layout", "4x2", "--", "./a.out"], "try: --layout 1x2"),
        (["--", "mpirun", "-n", "4", "./a.out"], "given: mpirun"),
        (["--", "/usr/bin/srun", "./a.out"], "given: /usr/bin/srun"),
        (["--", "launch", "--layout", "1x4", "--", "./a.out"], "try: --layout PxT is submit's"),
        (["--", "characterize"], "only a run and a program go on"),
    ],
)
def test_what_cannot_be_dumped_is_refused_before_slurm_sees_it(here: Path, capsys, words, said) -> None:
    assert said in refused(capsys, "--goes-on", "--time", "1h", *words)


@pytest.mark.parametrize("option", ["--time", "--time-min"])
def test_a_time_in_which_nothing_would_be_done_is_refused(here: Path, capsys, option: str) -> None:
    for words in (["./a.out"], ["run", "c.toml", "--out", "r"]):
        said = refused(capsys, "--goes-on", "--time", "1h", option, "2m", "--", *words)
        assert f"at: {option}\n" in said and "allowed: 3 min 0 s or more" in said
    assert script(capsys, "--goes-on", "--time", "1h", option, "3m", "--", "./a.out")


def test_a_site_with_a_starter_of_its_own_is_refused(here: Path, capsys) -> None:
    (here / "site.toml").write_text('starter = "ibrun"')
    words = ["--goes-on", "--time", "1h", "--site", "site.toml", "--", "./a.out"]
    assert "given: this site starts programs by: ibrun" in refused(capsys, *words)


def test_a_missing_criu_is_one_error_and_a_run_needs_none(login: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(criu, "_BESIDE", ())
    path = [folder for folder in os.environ["PATH"].split(":") if not Path(folder, "criu").exists()]
    monkeypatch.setenv("PATH", ":".join(path))
    said = refused(capsys, "--goes-on", "--time", "1h", "--", "./a.out")
    assert "CRIU, which is not here" in said and "try: sudo apt-get install criu" in said
    assert "go-on" not in script(capsys, "--goes-on", "--time", "1h", "--", "run", "c.toml", "--out", "r")


def test_a_criu_that_the_kernel_refuses_is_quoted_with_its_version(login: Path, capsys, monkeypatch) -> None:
    says = (
        'echo "Error (criu/util.c:1): exited, status=1" >&2; echo "Error (criu/vdso.c:3): vdso: bounds" >&2'
    )
    text = f'[ $1 = check ] || {{ echo "Version: 3.17"; exit 0; }}\n{says}; exit 1'
    monkeypatch.setenv("PATH", stand_in(login / "bin", text))
    said = refused(capsys, "--goes-on", "--time", "1h", "--", "./a.out")
    assert f"at: {login}/bin/criu check" in said
    assert "given: Version: 3.17, Linux " in said and said.split("given: ")[1].count("vdso: bounds\n") == 1


def test_who_is_not_root_is_told_what_the_file_lacks(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", stand_in(tmp_path / "bin", '[ "$2" = --unprivileged ] && exit 0; exit 1'))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not criu.find().is_root
    monkeypatch.setenv("PATH", stand_in(tmp_path / "bin", "echo needs CAP; exit 1"))
    with pytest.raises(StrataError, match="setcap cap_checkpoint_restore,cap_setpcap") as caught:
        criu.find()
    assert "needs CAP" in str(caught.value)


# -- dumps


def filled(folder: Path) -> Record:
    (folder / "pages.img").write_text("x")
    (folder / "dump.log").write_text("as it went")
    return RECORD


def failed(folder: Path) -> Record:
    filled(folder)
    raise StrataError("no")


def test_a_new_dump_replaces_the_one_before_and_is_read_as_it_was(tmp_path: Path) -> None:
    kept = Dumps(tmp_path)
    assert kept.newest() is None
    for number in range(1, 12):
        assert kept.add(filled) == kept.newest() == tmp_path / f"dump-{number}"
    assert [path.name for path in tmp_path.iterdir()] == ["dump-11"]
    assert dumps.read(tmp_path / "dump-11") == RECORD
    kept.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_dump_that_fails_leaves_the_one_before_and_its_log_alone(tmp_path: Path) -> None:
    kept = Dumps(tmp_path)
    kept.add(filled)
    with pytest.raises(StrataError):
        kept.add(failed)
    assert kept.newest() == tmp_path / "dump-1" and dumps.read(tmp_path / "dump-1") == RECORD
    assert [path.name for path in (tmp_path / "dump.new").iterdir()] == ["dump.log"]
    assert kept.add(filled) == tmp_path / "dump-2" and not (tmp_path / "dump.new").exists()


def test_of_two_whole_dumps_the_newer_counts_and_half_of_one_does_not(tmp_path: Path) -> None:
    """As a kill between their renaming and removing leaves them, or one in the middle of a dump."""
    for name in ("dump-9", "dump-10", "dump.new"):
        (tmp_path / name).mkdir()
    assert Dumps(tmp_path).newest() == tmp_path / "dump-10"
    with pytest.raises(StrataError, match="cannot be read"):
        dumps.read(tmp_path / "dump-10")


def test_files_are_cut_only_after_a_start_that_was_lost(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("123456")
    files = {str(tmp_path / "log"): 4, str(tmp_path / "gone"): 4}
    assert dumps.as_it_was(tmp_path, files) == [] and (tmp_path / "log").read_text() == "123456"
    dumps.mark(tmp_path, True)
    (said,) = dumps.as_it_was(tmp_path, files)
    assert (tmp_path / "log").read_text() == "1234" and "log: cut off the 2 bytes" in said
    dumps.mark(tmp_path, False)
    (tmp_path / "log").write_text("123456")
    assert dumps.as_it_was(tmp_path, files) == []


# -- processes


def test_a_tree_its_files_and_its_threads_are_seen(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = f"exec 3>>{log} 4<{log} 5</dev/null; echo abc >&3; sleep 9 & sleep 9"
    with subprocess.Popen(["sh", "-c", command], start_new_session=True) as shell:
        try:
            while len(processes.below(shell.pid)) < 3:
                time.sleep(0.01)
            tree = processes.below(shell.pid)
            assert processes.written(tree) == {str(log): 4}
            bound = processes.threads(tree)
            assert sorted(map(int, bound)) == sorted(tree)
            assert "(" in processes.name(shell.pid)
            one = sorted(os.sched_getaffinity(0))[-1]
            processes.bind({key: [70] for key in bound}, [60, 70], [one])  # another node, with fewer cores
            assert {tuple(os.sched_getaffinity(pid)) for pid in tree} == {(one,)}
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
    assert processes.children(shell.pid) == []


# -- the job's half


@pytest.fixture
def going_on(tmp_path: Path):
    """Starts the job's half with a CRIU that is a shell script; in namespaces where this is root."""
    if os.geteuid() == 0 and subprocess.run(["unshare", "-p", "-m", "--fork", "true"]).returncode != 0:
        pytest.skip("root may make no namespaces here")

    def started(text: str, *words: str) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        more = {"PATH": stand_in(tmp_path / "bin", text), "PYTHONPATH": f"{ROOT}/python"}
        command = [sys.executable, "-m", "strata", "go-on", str(tmp_path / "job"), "--", *words]
        return subprocess.Popen(
            command, env=environment | more, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    return started


FAILS = """\
case $1 in dump|restore) verb=$1;; esac
while [ $# -gt 1 ]; do [ "$1" = -D ] && folder=$2; shift; done
[ "$verb" ] || exit 0
touch $folder/pages.img
echo "(00.001) Error (criu/x.c:1): the cause" > $folder/$verb.log
exit 1"""


def test_a_program_that_was_not_dumped_goes_on_and_its_status_is_the_jobs(going_on, tmp_path: Path) -> None:
    output, enough = tmp_path / "job" / "program.out", tmp_path / "enough"
    waits = f"until [ -e '{enough}' ]; do sleep 0.05; done"
    going = going_on(FAILS, "sh", "-c", f"echo up; {waits}; echo end; exit 5")
    while not (output.exists() and output.read_text()):
        assert going.poll() is None
        time.sleep(0.01)
    going.send_signal(signal.SIGUSR1)
    assert going.stdout is not None
    said = ""
    while "given: the cause\n" not in said and (line := going.stdout.readline()):
        said += line
    enough.touch()
    said += going.communicate(timeout=60)[0]
    assert (going.returncode, output.read_text()) == (5, "up\nend\n"), said
    assert "given: the cause\n" in said and Dumps(tmp_path / "job").newest() is None


def test_a_signal_reaches_the_program_and_is_its_end(going_on, tmp_path: Path) -> None:
    going = going_on(
        FAILS, "sh", "-c", "trap 'echo told; exit 3' TERM; echo up; while :; do sleep 0.05; done"
    )
    while not ((output := tmp_path / "job" / "program.out").exists() and output.read_text()):
        assert going.poll() is None
        time.sleep(0.01)
    going.terminate()
    assert going.wait(30) == 3 and output.read_text() == "up\ntold\n"
    shutil.rmtree(tmp_path / "job")
    assert going_on(FAILS, "sh", "-c", "kill -9 $$").wait(30) == 128 + 9


def test_a_dump_that_cannot_be_restored_stays_and_is_one_error(going_on, tmp_path: Path) -> None:
    whole = Dumps(tmp_path / "job").add(filled)
    going = going_on(FAILS, "true")
    said = going.communicate(timeout=30)[0]
    assert going.returncode == 1 and said.count("strata: error: ") == 1 and "given: the cause\n" in said
    assert Dumps(tmp_path / "job").newest() == whole and not (whole / dumps.USED).exists()


def test_a_program_that_is_not_there_is_one_error(going_on) -> None:
    going = going_on("exit 0", "./no-such-program")
    said = going.communicate(timeout=30)[0]
    assert (
        going.returncode == 1
        and "at: ./no-such-program\n  given: there is no such file" in said
        and "Traceback" not in said
    )


@pytest.mark.parametrize("way", ["others may write in it", "it belongs to user 65534", "it is no folder"])
def test_a_dump_that_another_user_can_have_written_is_not_gone_on_from(tmp_path: Path, way: str) -> None:
    """It is a program's memory, and it names files that are cut off."""
    dump = tmp_path / "dump-7"
    if way == "it is no folder":
        (tmp_path / "elsewhere").mkdir()
        dump.symlink_to(tmp_path / "elsewhere")
    else:
        dump.mkdir()
    if way == "others may write in it":
        dump.chmod(0o777)
    elif way != "it is no folder":
        if os.getuid() != 0:
            pytest.skip("only root gives a folder away")
        os.chown(dump, 65534, 65534)
    with pytest.raises(StrataError, match="this dump can be another user's") as refused:
        Dumps(tmp_path).newest()
    assert way in str(refused.value.given)
    assert Dumps(tmp_path / "none").newest() is None


def test_where_no_dump_can_be_made_the_reason_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StrataError, match="cannot write: a file stands where a folder is named"):
        Dumps(tmp_path / "file" / "dumps").add(lambda new: Record(1, {}, {}, []))


def test_where_the_system_gives_no_namespace_its_own_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file has an owner who could be asked."""

    def refused(kind: int) -> None:
        raise PermissionError(1, os.strerror(1))

    monkeypatch.setattr(keeper.criu, "find", lambda: criu.Criu("criu", is_root=True))
    monkeypatch.setattr(keeper.system, "unshare", refused)
    monkeypatch.setattr(keeper.signal, "pthread_sigmask", lambda how, which: set())
    with pytest.raises(StrataError, match="may not make a PID namespace") as error:
        keeper.run(tmp_path, ["./a.out"])
    assert error.value.given == os.strerror(1)


def test_a_descriptor_that_is_closed_while_they_are_looked_at_is_left_out(tmp_path: Path) -> None:
    """That by which this process lists its own is closed before it is looked at."""
    with (tmp_path / "log").open("w") as log:
        log.write("abc")
        log.flush()
        assert processes.written([os.getpid()])[str(tmp_path / "log")] == 3


def test_a_signal_reaches_all_below_a_child_and_no_number_that_is_anothers() -> None:
    """Parents first: what descends from them is this process's by the time of its own signal."""
    code = """
import os, signal, subprocess
from strata.cluster import system
from strata.submit import processes

system.adopt_orphans()
other = subprocess.Popen(["sleep", "1000"])
shell = subprocess.Popen(["sh", "-c", "sleep 1000 & wait"])
while len(tree := processes.below(shell.pid)) < 2:
    pass
processes.below = lambda root: [*tree, os.getppid()]
processes.signal_below(shell.pid, signal.SIGKILL)
print(shell.wait(), os.waitstatus_to_exitcode(os.waitpid(tree[1], 0)[1]), other.poll())
other.kill()
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "-9 -9 None\n", done.stderr
