"""Programs that are no runs of Strata's and go on: dumped by CRIU, queued again, restored, nothing lost."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from cluster_box import ROOT, Cluster, until
from test_user import another_user
from tested_build import strata

from strata.errors import StrataError
from strata.submit import criu

# Two threads, each on a CPU of its own, take turns to write 1, 2, ... to a file that only grows, until a
# file is there that ends them.
COUNT = """\
import os, sys, threading, time
log, stop, status, held = sys.argv[1], sys.argv[2], int(sys.argv[3]), bytearray(int(sys.argv[4]) << 20)
open(log, "w").close()
file, lock, count = open(log, "a"), threading.Lock(), 0
cpus = sorted(os.sched_getaffinity(0))
def work(mine):
    global count
    os.sched_setaffinity(0, {cpus[mine % len(cpus)]})
    while True:
        with lock:
            if os.path.exists(stop):
                return print("thread", mine, os.sched_getaffinity(0), flush=True)
            count += 1
            file.write(f"{count}\\n")
            file.flush()
        time.sleep(0.01)
threads = [threading.Thread(target=work, args=(mine,)) for mine in range(2)]
[each.start() for each in threads]
[each.join() for each in threads]
print("ended at", count, "on", os.uname().nodename, flush=True)
sys.exit(status)
"""


@pytest.fixture(autouse=True)
def _criu() -> None:
    try:
        criu.find()
    except StrataError as error:
        pytest.skip(f"{error.message}: {error.given}")


class Program:
    """The counting one, in a folder, which goes on until stop() says that it has counted enough."""

    def __init__(self, folder: Path, status: int = 0, held_mib: int = 0) -> None:
        self.folder, self.log, self.enough = folder / "job", folder / "log", folder / "enough"
        path = folder / "count.py"
        path.write_text(COUNT)
        self.words = [sys.executable, str(path), str(self.log), str(self.enough), str(status), str(held_mib)]
        self.said, self.path = "", os.environ["PATH"]
        self.python: list[str] = [sys.executable]

    def start(self, cpu: int | None = None) -> subprocess.Popen[str]:
        """Or go on, perhaps on one CPU."""
        bound = [] if cpu is None else ["taskset", "-c", str(cpu)]
        words = [*bound, *self.python, "-m", "strata", "go-on", str(self.folder), "--", *self.words]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        return subprocess.Popen(
            words,
            env=kept | {"PYTHONPATH": f"{ROOT}/python", "PATH": self.path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, going: subprocess.Popen[str]) -> int:
        self.said = going.communicate(timeout=60)[0]
        return going.returncode

    def goes_on(self) -> bool:
        """Waits until it has counted further."""
        before = self.counted()
        return until(lambda: self.counted() >= before + 20)

    def counted(self) -> int:
        return self.log.read_text().count("\n") if self.log.exists() else 0

    def is_whole(self) -> bool:
        """Each number is there once, in order, and so is what was printed at the end."""
        counted, printed = self.counted(), (self.folder / "program.out").read_text()
        in_order = self.log.read_text().split() == [str(n) for n in range(1, counted + 1)]
        return in_order and printed.count("ended at") == 1 and f"ended at {counted} on" in printed

    def left(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


def test_a_program_is_dumped_and_goes_on_bound_again_until_nothing_is_left(tmp_path: Path) -> None:
    """Twice: CRIU treats a program that it has restored in another way, since this has clocks of its own."""
    program, cpus = Program(tmp_path), sorted(os.sched_getaffinity(0))
    for start in range(2):
        going = program.start(cpus[0])
        assert program.goes_on()
        going.send_signal(signal.SIGUSR1)
        assert program.end(going) == os.EX_TEMPFAIL, program.said
        assert program.left() == [f"dump-{start + 1}", "program.out"], program.said
    going = program.start(cpus[-1])
    assert program.goes_on()
    program.enough.touch()
    assert program.end(going) == 0, program.said
    assert program.is_whole() and program.left() == ["program.out"]
    printed = (program.folder / "program.out").read_text()
    assert printed.count(f"{{{cpus[-1]}}}") == 2, printed


def test_threads_are_bound_each_to_its_own_cpu_again(tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two cores")
    program = Program(tmp_path)
    going = program.start()
    assert program.goes_on()
    going.send_signal(signal.SIGUSR1)
    assert program.end(going) == os.EX_TEMPFAIL, program.said
    going = program.start()
    assert program.goes_on()
    program.enough.touch()
    assert program.end(going) == 0, program.said
    printed = (program.folder / "program.out").read_text()
    assert all(f"thread {mine} {{{cpus[mine]}}}\n" in printed for mine in range(2)), printed


def test_a_start_that_is_lost_after_a_dump_has_its_lines_cut_off_and_written_again(tmp_path: Path) -> None:
    program = Program(tmp_path)
    going = program.start()
    assert program.goes_on()
    going.send_signal(signal.SIGUSR1)
    assert program.end(going) == os.EX_TEMPFAIL, program.said
    at_dump = program.counted()
    going = program.start()
    assert program.goes_on()
    going.kill()
    going.communicate()
    program.enough.touch()
    assert program.end(program.start()) == 0, program.said
    assert f"{program.log}: cut off the " in program.said and program.counted() < at_dump + 20
    assert program.is_whole() and program.left() == ["program.out"]


@pytest.mark.parametrize(
    ("program_of", "said"),
    [
        (
            "import socket as s; a = s.create_server(('', 0)); b = s.create_connection(a.getsockname());"
            "c = a.accept()",
            "Connected TCP socket",
        ),
        ("import os; os.system('sleep 9 & exit')", "have left their parents"),
    ],
    ids=["connection", "orphan"],
)
def test_what_cannot_be_dumped_goes_on_and_is_one_error(tmp_path: Path, program_of: str, said: str) -> None:
    program, output = Program(tmp_path), tmp_path / "job" / "program.out"
    ending = "import time; print('up', flush=True); time.sleep(1); print('end'); raise SystemExit(7)"
    program.words = [sys.executable, "-c", f"{program_of}; {ending}"]
    going = program.start()
    assert until(lambda: output.exists() and "up" in output.read_text())
    going.send_signal(signal.SIGUSR1)
    assert program.end(going) == 7, program.said
    assert program.said.count("strata: error: ") == 1 and said in program.said, program.said
    assert output.read_text() == "up\nend\n" and program.left() in (
        ["dump.new", "program.out"],
        ["program.out"],
    )


def test_a_submitted_program_goes_on_on_another_node_and_slurm_has_its_status(
    cluster: Cluster, tmp_path: Path
) -> None:
    program = Program(tmp_path, status=7)
    (tmp_path / "site.toml").write_text(f'options = ["--nodelist=n1"]\nscratch = "{tmp_path}/scratch"')
    front = strata()
    more = {"STRATA_BIN": front, "STRATA_ROOT": str(tmp_path / "no checkout"), "PATH": os.environ["PATH"]}
    environment = cluster.environment | more | {"STRATA_PYTHON": sys.executable}
    times = ["--time", "10m", "--time-min", "5m"]
    asked = ["submit", "--goes-on", *times, "--layout", "1x1", "--site", tmp_path / "site.toml"]
    done = cluster.run(front, *asked, "--", *program.words, env=environment)
    assert done.returncode == 0, done.stderr
    job = re.search(r"submitted job (\d+) ", done.stdout)[1]
    (program.folder,) = (tmp_path / "scratch").iterdir()

    def state() -> str:
        return cluster.run("scontrol", "show", "job", job).stdout

    def said() -> str:
        return "".join(path.read_text() for path in program.folder.glob("*.out")) + cluster.logs()

    assert until(program.goes_on), said()
    # As where Slurm has started it earlier so.
    assert cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=6:00").returncode == 0
    assert cluster.run("scancel", "--batch", "--signal=USR1", job).returncode == 0
    assert until(lambda: "JobState=PENDING" in state() and "TimeLimit=00:10:00" in state()), said()
    assert (program.folder / "dump-1").is_dir(), said()
    time.sleep(2)  # slurmd takes a job that comes at once for the one that was ended
    assert (
        cluster.run("scontrol", "update", f"JobId={job}", "ReqNodeList=n2", "StartTime=now").returncode == 0
    )
    assert program.goes_on(), said()
    program.enough.touch()
    assert until(lambda: "JobState=FAILED" in state(), 60), said()
    assert "ExitCode=7:0" in state()
    assert program.is_whole()
    assert " on n2\n" in (program.folder / "program.out").read_text()
    assert (program.folder / "dump-1").is_dir() and "would go on from its last dump" in said()


def test_a_user_who_is_not_root_needs_what_the_file_of_criu_may_do() -> None:
    if not shutil.which("setcap", path="/usr/sbin:/sbin"):
        pytest.skip("needs setcap")
    words = another_user()
    with tempfile.TemporaryDirectory(prefix="go-on-", dir="/tmp") as name:
        program = Program(Path(name))
        program.python, program.words[0] = words, words[-1]
        program.path = f"{name}:{os.environ['PATH']}"
        shutil.copy(criu.find().program, f"{name}/criu")
        for path in (name, f"{name}/criu", f"{name}/count.py"):
            os.chown(path, 65534, 65534)
        refused = program.start()
        assert (
            program.end(refused) == 2
            and f"setcap cap_checkpoint_restore,cap_setpcap+eip {name}/criu" in program.said
        )
        subprocess.run(
            ["/usr/sbin/setcap", "cap_checkpoint_restore,cap_setpcap+eip", f"{name}/criu"], check=True
        )
        going = program.start()
        assert program.goes_on()
        going.send_signal(signal.SIGUSR1)
        assert program.end(going) == os.EX_TEMPFAIL, program.said
        going = program.start()
        assert program.goes_on()
        program.enough.touch()
        assert program.end(going) == 0, program.said
        assert program.is_whole() and program.left() == ["program.out"]


@pytest.mark.soak
def test_whoever_is_killed_in_the_middle_of_a_dump_loses_that_dump_alone(tmp_path: Path) -> None:
    program, mixed, kills = Program(tmp_path, held_mib=300), random.Random(1), 0
    new = program.folder / "dump.new"

    def newest() -> int:
        return max((int(name[5:]) for name in program.left() if name.startswith("dump-")), default=0)

    for _ in range(15):
        going = program.start()
        assert program.goes_on()
        before = newest()
        going.send_signal(signal.SIGUSR1)
        if mixed.random() < 0.7:
            assert until(new.exists)
            time.sleep(mixed.random() * 0.3)
            going.kill()
            going.communicate()
            kills += new.exists()
            assert newest() >= before
        else:
            assert program.end(going) == os.EX_TEMPFAIL, program.said
    program.enough.touch()
    assert program.end(program.start()) == 0, program.said
    assert kills >= 5 and program.is_whole() and program.left() == ["program.out"]
