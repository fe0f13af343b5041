"""Claims about job scripts: what they ask for and why, what is refused before Slurm sees it, what a site says
once.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from tested_build import strata

from strata import cli
from strata.characterize import command as characterize
from strata.errors import StrataError
from strata.site import site_file, slurm
from strata.site.slurm import Node
from strata.study import command as study
from strata.submit.batch import Directive, Script
from strata.submit.first_node import first_node

FRONT = """#!/bin/sh
[ "$1" = launch ] || exit 1
echo "why: threads: a core each of $4"
"""


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A login node of a cluster with two partitions; sbatch keeps the script that it was given."""
    programs = tmp_path / "slurm bin"
    programs.mkdir()
    lines = "batch*|40|2|32|2|2-00:00:00|1:00:00\\ndebug|2|2|16|1|30:00|n/a\\ndebug|1|2+|8|1|30:00|n/a"
    nodes = "a1|256000|(null)\\nb1|4096000|em\\nb2|4096000|em,ib"
    (programs / "sinfo").write_text(
        f'#!/bin/sh\ncase $* in *--Node*) printf "{nodes}\\n";; *) printf "{lines}\\n";; esac\n'
    )
    (programs / "sbatch").write_text(
        f'#!/bin/sh\n[ -e "{tmp_path}/full" ] && {{ echo "sbatch: error: QOSMaxSubmit" >&2; exit 1; }}\n'
        f'printf "%s\\n" "$@" > "{tmp_path}/asked"\necho "4711;cluster"\n'
    )
    front = tmp_path / "prefix" / "bin" / "strata"
    (tmp_path / "prefix" / "libexec" / "strata").mkdir(parents=True)
    front.parent.mkdir()
    front.write_text(FRONT)
    (tmp_path / "prefix" / "libexec" / "strata" / "strata-bench").write_text("")
    for path in (*programs.iterdir(), front):
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("STRATA_BIN", str(front))
    monkeypatch.setenv("STRATA_ROOT", str(tmp_path / "no checkout"))
    monkeypatch.setenv("STRATA_RESULTS", str(tmp_path / "results with space"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("SLURM_JOB_ID", "SLURM_CONF", "STRATA_SITE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The script of a dry run; bash must be able to read it."""
    assert cli.main(["submit", "--dry-run", *words]) == 0
    text = capsys.readouterr().out
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    return text


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["submit", "--dry-run", *words]) == 2
    return capsys.readouterr().err


def test_a_run_over_nodes_is_one_command_with_the_reasons_of_its_layout(login: Path, capsys) -> None:
    run = ["run", "case.toml", "--layout", "64x8", "--out", "my run"]
    text = script(capsys, "--nodes", "8", "--time", "90m", "--", *run)
    assert "#SBATCH --nodes=8\n" in text and "#SBATCH --time=1:30:00\n" in text
    assert "#SBATCH --partition=batch\n" in text and "#SBATCH --exclusive\n" in text
    assert "# Layout 64x8: 8 processes of 8 threads on each node, 64 of its 64 cores.\n" in text
    assert "#   threads: a core each of synthetic:pack:2 numa:1 core:32 pu:2\n" in text
    assert text.endswith(
        "exec prefix/bin/strata run case.toml --nodes 8 --layout 64x8 --out 'my run'\n".replace(
            "prefix", str(login / "prefix")
        )
    )
    assert f'#SBATCH --output="{login}/my run/slurm-%j.out"' in text


def test_a_program_is_launched_under_the_layout(login: Path, capsys) -> None:
    text = script(capsys, "--nodes", "2", "--layout", "8x4", "--time", "2h", "--", "./a.out", "a b", "$HOME")
    assert "strata launch --nodes 2 --layout 8x4 -- ./a.out 'a b' '$HOME'\n" in text


@pytest.mark.parametrize(
    ("nodes", "words", "line"),
    [
        ("2", ["run", "c.toml", "--out", "r"], "run c.toml --nodes 2 --layout 8x4 --out r"),
        ("2", ["launch", "--label", "--", "./a.out"], "launch --nodes 2 --layout 8x4 --label -- ./a.out"),
        (
            "2",
            ["launch", "--", "./a", "--layout", "1x1"],
            "launch --nodes 2 --layout 8x4 -- ./a --layout 1x1",
        ),
        ("1", ["bench", "npb", "bt", "--class", "A"], "bench npb bt --class A --layout 8x4"),
        (
            "1",
            ["study", "uncertainty", "c.toml", "--out", "r"],
            "study uncertainty c.toml --out r --layout 8x4",
        ),
    ],
)
def test_the_jobs_layout_is_that_of_a_command_which_takes_one(
    login: Path, capsys, nodes: str, words: list[str], line: str
) -> None:
    text = script(capsys, "--nodes", nodes, "--layout", "8x4", "--time", "1h", "--", *words)
    assert text.endswith(f"exec {login}/prefix/bin/strata {line}\n")
    assert "# Layout 8x4: " in text


def test_the_nodes_that_a_command_names_itself_are_said_once(login: Path, capsys) -> None:
    run = ["run", "c.toml", "--nodes", "2", "--layout", "2x1", "--out", "r"]
    text = script(capsys, "--nodes", "2", "--time", "1h", "--", *run)
    assert text.endswith(f"exec {login}/prefix/bin/strata run c.toml --nodes 2 --layout 2x1 --out r\n")


def test_a_study_is_given_the_time_of_its_plan(login: Path, capsys, monkeypatch) -> None:
    planned: list[str] = []

    def prepare(request: study.Request) -> SimpleNamespace:
        planned.append(request.study)
        task = SimpleNamespace(expected_s=100.0, launches=None)
        return SimpleNamespace(
            plan=SimpleNamespace(policy=SimpleNamespace(launches=5, budget_s=None), tasks=[task])
        )

    monkeypatch.setattr(study, "prepare", prepare)
    text = script(capsys, "--", "study", "run", "--seed", "3", "pages")
    assert planned == ["pages"] and "#SBATCH --time=0:20:00\n" in text


def test_a_run_that_goes_on_checkpoints_when_told_and_restarts_when_queued_again(login: Path) -> None:
    """The script itself runs, with commands that say what they are told."""
    front = login / "strata"
    front.write_text(
        '#!/bin/sh\necho "$@" >> said\n'
        'case $1 in run) [ "$4" ] || { touch started; while [ ! -e stop ]; do sleep 0.02; done; };;\n'
        "steer) [ $3 = checkpoint ] && mkdir -p out/checkpoint-7\n"
        "[ $3 = stop ] && touch stop\nexit 0;; esac\n"
    )
    (login / "slurm bin" / "scontrol").write_text('#!/bin/sh\necho scontrol "$@" >> said\n')
    for path in (front, login / "slurm bin" / "scontrol"):
        path.chmod(0o755)
    made = Script(
        "", (Directive("--nodes=1", "One."),), (), (), ("./strata", "run", "case"), "out", "./strata"
    )
    (login / "job.sh").write_text(made.text())
    environment = {**os.environ, "SLURM_JOB_ID": "5"}
    job = subprocess.Popen(["bash", "job.sh"], env=environment)
    while not (login / "started").exists():
        assert job.poll() is None
    job.send_signal(10)  # SIGUSR1
    assert job.wait(30) == 0
    said = (login / "said").read_text().splitlines()
    assert said == ["run case", "steer out checkpoint", "steer out stop", "scontrol requeue 5"]
    (login / "said").unlink()
    assert subprocess.run(["bash", "job.sh"], env=environment, timeout=30).returncode == 0
    assert (login / "said").read_text().splitlines() == ["run case --restart out"]


def test_time_that_may_be_less_and_all_other_options_are_slurms(login: Path, capsys) -> None:
    words = ["--time-min", "30m", "--goes-on", "--qos", "long", "--account", "a1", "--constraint", "ib"]
    words += ["--reservation", "mine", "--switches", "1@60:00", "--time", "26h"]
    text = script(capsys, *words, "--", "run", "case.toml", "--out", "r")
    for option in (
        "--time=1-02:00:00",
        "--time-min=0:30:00",
        "--signal=B:USR1@120",
        "--requeue",
        "--qos=long",
        "--account=a1",
        "--constraint=ib",
        "--reservation=mine",
        "--switches=1@60:00",
    ):
        assert f"#SBATCH {option}\n" in text
    # Slurm leaves the time that it shortened.
    again = (
        'scontrol requeue "$SLURM_JOB_ID" && exec scontrol update JobId="$SLURM_JOB_ID" TimeLimit=1-02:00:00'
    )
    assert f"    trap '' TERM\n    {again}\nfi\n" in text


NODES = [
    Node("a1", 256 << 30, frozenset({"ib", "rm"})),
    Node("a2", 256 << 30, frozenset({"rm"})),
    Node("b1", 4 << 40, frozenset({"ib", "em", "em4"})),
    Node("b2", 2 << 40, frozenset({"ib", "em"})),
]


def first(memory: int, constraint: str | None = None, known: list[Node] = NODES, nodes: int = 3) -> list[str]:
    """What Slurm is asked for."""
    said = first_node(memory, nodes, 8, known, constraint, "out")
    kept = [f"--constraint={said.constraint}"] if said.constraint else []
    return [*kept, *(each.text for each in said.directives)]


def test_a_first_node_with_more_memory_is_asked_for_by_the_feature_that_most_such_nodes_have() -> None:
    assert first(1 << 40) == ['--constraint="em*1"']
    assert first(3 << 40) == ['--constraint="em4*1"']
    assert first(1 << 40, "ib") == ['--constraint="[(ib&em)*1&ib*2]"']
    assert first(1 << 40, "ib", nodes=1) == ['--constraint="[(ib&em)*1]"']
    assert first(1 << 40, "ib&em") == ["--constraint=ib&em"]  # all nodes have it
    assert first(1 << 30) == []
    alone = [Node("a", 1 << 30, frozenset()), Node("b", 2 << 30, frozenset())]
    assert first(2 << 30, None, alone) == ["--nodelist=b"]


@pytest.mark.parametrize(
    ("memory", "constraint", "known", "said"),
    [
        (5 << 40, None, NODES, "allowed: up to 4096 GiB"),
        (1 << 40, "ib|rm", NODES, "allowed: FEATURE, or FEATURE&FEATURE"),
        (1 << 40, None, [Node(each.name, each.memory, frozenset()) for each in NODES], "NodeName=b1,b2"),
    ],
)
def test_a_first_node_that_slurm_cannot_be_asked_for_is_refused(memory, constraint, known, said) -> None:
    with pytest.raises(StrataError) as caught:
        first(memory, constraint, known)
    assert said in str(caught.value)


def test_the_file_of_the_ranks_begins_with_the_node_that_has_most_memory(login: Path) -> None:
    """The lines themselves run. Eight ranks share three nodes evenly."""
    (login / "slurm bin" / "sinfo").write_text('#!/bin/sh\nprintf "256 a1\\n256 a2\\n4096 b1\\n"\n')
    (login / "slurm bin" / "scontrol").write_text('#!/bin/sh\nprintf "a1\\na2\\nb1\\n"\n')
    (login / "slurm bin" / "scontrol").chmod(0o755)
    lines = first_node(1 << 40, 3, 8, NODES, None, "'.'").before
    environment = {**os.environ, "SLURM_JOB_ID": "5", "SLURM_JOB_NODELIST": "a[1-2],b1"}
    subprocess.run(["bash", "-c", "\n".join(lines)], env=environment, check=True)
    assert (login / "ranks-5").read_text().split() == ["b1"] * 3 + ["a1"] * 3 + ["a2"] * 2


def test_a_run_with_a_large_first_node_says_where_its_ranks_are(login: Path, capsys) -> None:
    words = ["--nodes", "2", "--first-node-memory", "2TiB", "--", "run", "c.toml", "--layout", "4x1"]
    text = script(capsys, *words, "--out", "my run")
    assert '#SBATCH --constraint="em*1"\n' in text
    assert f"export SLURM_HOSTFILE='{login}/my run'/ranks-$SLURM_JOB_ID\n" in text


@pytest.fixture
def front() -> str:
    """The one that is tested; named before `login`, which has one of its own."""
    return strata()


def test_the_time_of_a_command_that_measures_is_planned_for_the_node_that_a_site_describes(
    front: str, login: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setenv("STRATA_BIN", front)
    monkeypatch.setenv("STRATA_ROOT", str(Path(__file__).resolve().parents[3]))
    words, times = ["--site", "site.toml", "--", "characterize", "--full"], []
    for machine in ("synthetic:pack:1 numa:1 core:2 pu:1", "synthetic:pack:2 numa:4 core:16 pu:1"):
        (login / "site.toml").write_text(f'[machines]\nbatch = "{machine}"\n')
        text = script(capsys, *words)
        assert "# Its plan for a node as site.toml describes it" in text
        times.append(re.search("--time=(.*)", text)[1])
    assert times[0] != times[1]
    (login / "site.toml").write_text("")
    assert "# Its plan for this login node" in script(capsys, *words)


def test_the_time_of_a_part_of_a_plan_is_that_parts(login: Path, capsys, monkeypatch) -> None:
    asked: list[characterize.Request] = []

    def prepare(request: characterize.Request) -> SimpleNamespace:
        asked.append(request)
        policy = SimpleNamespace(launches=5, budget_s=None)
        return SimpleNamespace(plan=SimpleNamespace(policy=policy, tasks=[]))

    monkeypatch.setattr(characterize, "prepare", prepare)
    words = ["characterize", "--nodes", "2", "--only", "rings", "--only=latency", "--case", "own.toml"]
    script(capsys, "--nodes", "2", "--", *words)
    (one,) = asked
    assert (one.nodes, one.only, one.case) == (2, ("rings", "latency"), Path("own.toml"))


def test_a_job_array_gives_each_task_its_number(login: Path, capsys) -> None:
    text = script(capsys, "--array", "1-9", "--", "run", "case {task}.toml", "--out", "run-{task}")
    assert """run 'case '"$SLURM_ARRAY_TASK_ID".toml --out run-"$SLURM_ARRAY_TASK_ID"\n""" in text
    assert "#SBATCH --array=1-9\n" in text and "slurm-%A-%a.out" in text and "run-{task}/" not in text


def test_the_time_is_asked_planned_or_the_partitions(login: Path, capsys) -> None:
    assert "--time=0:20:00\n" in script(capsys, "--", "tune", "--", "./a.out")  # 10 min, half more, and 5
    assert "--time=0:08:00\n" in script(capsys, "--", "tune", "--budget", "2m", "--", "./a.out")
    assert "--time=1:00:00\n" in script(capsys, "--", "./a.out")
    assert "how long the job will take is not known" in refused(capsys, "-p", "debug", "--", "./a.out")


def test_the_output_folder_stands_before_the_program_of_tune(login: Path, capsys) -> None:
    text = script(capsys, "--", "tune", "--", "./a.out")
    assert f"tune --out '{login}/results with space/tune-" in text and text.endswith("' -- ./a.out\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "run", "c.toml", "--layout", "70x1", "--time", "1h"], "allowed: 64 cores on each node"),
        (["--nodes", "3", "--", "run", "c.toml", "--layout", "2x1"], "try: --layout 3x1"),
        (["--nodes", "41", "--", "run", "c.toml"], "allowed: 1 to 40 in partition batch"),
        (["--nodes", "2", "--", "characterize"], "try: --array 1-2"),
        (["--time", "3", "--", "run", "c.toml", "--layout", "twox1"], "allowed: PxT"),
        (["-p", "bach", "--", "run", "c.toml"], "allowed: batch, debug"),
        (["-p", "debug", "--time", "1h", "--", "run", "c.toml"], "try: --time 30m --goes-on"),
        (["--time", "soon", "--", "run", "c.toml"], "at: --time"),
        (["--time", "1h", "--time-min", "1h", "--", "run", "c.toml"], "less than the 1 h 0 min of --time"),
        (
            ["--nodes", "2", "--first-node-memory", "1TiB", "--", "characterize", "--nodes", "2"],
            "run, launch or",
        ),
        (["--first-node-memory", "much", "--", "run", "c.toml"], "at: --first-node-memory"),
        (["--layout", "2x1", "--", "run", "c.toml", "--layout", "4x1"], "2x1, and 4x1 of strata run"),
        (["--layout", "2x1", "--", "characterize"], "this command chooses layouts itself"),
        (["--layout", "2x1", "--", "study", "run", "pages"], "given: 2x1 with strata study run"),
        (["--layout", "2x1", "--", "tune", "--", "./a.out"], "try: leave out --layout"),
        (["--time", "1h", "--", "run", "c.toml", "--nodes", "4"], "try: strata submit --nodes 4 -- run"),
        (
            ["--nodes", "2", "--", "tune", "--nodes", "4", "--", "./a"],
            "given: 2 of the job, 4 of strata tune",
        ),
        (["--nodes", "2", "--", "tune", "--", "./a", "--nodes", "2"], "measures one node at a time"),
        ([], "nothing to submit"),
    ],
)
def test_what_cannot_be_is_refused_before_slurm_sees_it(login: Path, capsys, words, said) -> None:
    assert said in refused(capsys, *words)


def test_submitting_writes_the_script_and_says_where(login: Path, capsys) -> None:
    assert cli.main(["submit", "--", "tune", "--", "./a.out"]) == 0
    said = capsys.readouterr().out
    (folder,) = (login / "results with space").iterdir()
    assert "job 4711 to partition batch" in said and str(folder / "report" / "report.html") in said
    assert (login / "asked").read_text().splitlines() == ["--parsable", str(folder / "job.sh")]
    assert (folder / "job.sh").read_text().startswith("#!/bin/bash\n")


def test_a_refused_job_quotes_sbatch(login: Path, capsys) -> None:
    (login / "full").touch()
    assert cli.main(["submit", "--time", "5m", "--", "./a.out"]) == 1
    assert "QOSMaxSubmit" in capsys.readouterr().err


def test_messages_between_nodes_are_measured_in_a_job_of_them(login: Path, capsys, monkeypatch) -> None:
    assert cli.main(["characterize", "--nodes", "3"]) == 3
    assert "try: strata submit --nodes 3 -- characterize --nodes 3" in capsys.readouterr().err
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    assert cli.main(["characterize", "--nodes", "3"]) == 3
    assert "in a job of 2" in capsys.readouterr().err


def test_without_slurm_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert cli.main(["submit", "--", "characterize"]) == 2
    assert "no Slurm cluster was found: there is no sinfo on PATH" in capsys.readouterr().err


SITE = """\
partition = "debug"
account = "physics"
qos = "long"
constraint = "ib"
modules = ["gcc/12", "openmpi"]
before = ["ulimit -s unlimited", "export OMP_DISPLAY_ENV=true"]
options = ["--mail-type=END"]
scratch = "$WHERE/scratch"
starter = "ibrun"

[machines]
debug = "node.xml"
"""


def test_a_site_says_once_what_every_script_has(login: Path, capsys, monkeypatch) -> None:
    (login / "config" / "strata").mkdir(parents=True)
    (login / "config" / "strata" / "site.toml").write_text(SITE)
    monkeypatch.setenv("WHERE", str(login))
    text = script(capsys, "--time", "5m", "--layout", "4x2", "--nodes", "2", "--", "./a.out")
    for asked in ("partition=debug", "account=physics", "qos=long", "constraint=ib", "mail-type=END"):
        assert f"#SBATCH --{asked}\n" in text
    assert "module load gcc/12\nmodule load openmpi\n" in text
    assert text.index("ulimit -s unlimited\nexport OMP_DISPLAY_ENV=true\n") < text.index("exec ibrun")
    assert f"#   threads: a core each of {login}/config/strata/node.xml\n" in text
    assert f"--output={login}/scratch/" in text
    assert f"exec ibrun -n 4 {login}/prefix/bin/strata launch --layout 4x2 -- ./a.out\n" in text


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('acount = "a"', 1, "did you mean `account`?"),
        ('account = "a"\nmodules = "gcc"', 2, "a list of names"),
        ('starter = "yod"', 1, "srun, aprun, jsrun, ibrun"),
        ('[starters]\nyod = "yod -size {prozesse}"', 1, "{processes}"),
    ],
)
def test_a_wrong_site_file_is_one_error_with_its_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    path = tmp_path / "site.toml"
    path.write_text(text)
    with pytest.raises(StrataError) as caught:
        site_file.read(path)
    assert f"{path}:{line} " in str(caught.value) and said in str(caught.value)


def test_a_starter_of_the_sites_own(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text('starter = "yod"\n[starters]\nyod = "yod -size {processes} -x {per_node}"')
    assert site_file.read(path).starter() == "yod -size {processes} -x {per_node}"


def test_slurms_times_are_read_as_its_manual_has_them() -> None:
    said = {"5": 300, "5:30": 330, "1:00:00": 3600, "2-03": 183600, "1-02:03": 93780, "1-00:00:01": 86401}
    assert {text: slurm.seconds_of(text) for text in said} == said
    assert slurm.seconds_of("infinite") is None and slurm.seconds_of("n/a") is None
    assert [slurm.time_of(each) for each in (61, 3600, 93780)] == ["0:02:00", "1:00:00", "1-02:03:00"]


def test_of_nodes_of_several_kinds_the_smallest_count(login: Path) -> None:
    (_, debug) = slurm.partitions()
    assert (debug.nodes, debug.cores_of_node, debug.longest_s) == (3, 16, 1800)
