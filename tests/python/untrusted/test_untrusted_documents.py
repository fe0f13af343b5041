# ruff: noqa: E501 (rows of files are as long as they are)
"""Documents and records that nobody trusts: machines, plans, journals, summaries, graphs, nodes, cases, samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import fuzzing
import pytest
from fuzzing import Target
from synthetic_machines import MACHINES
from synthetic_summaries import SUMMARIES

from strata import casefile, documents, front, toml_files
from strata.centre.fleet import reading
from strata.centre.integrity import history
from strata.characterize import case as characterize_case
from strata.characterize import facts
from strata.compare import command, sides
from strata.draw import show
from strata.errors import StrataError
from strata.measure import files, journal, store
from strata.report.figures import balance
from strata.site import site_file, slurm
from strata.study import case as study_case
from strata.submit import dumps

ROOT = Path(__file__).resolve().parents[3]


def text(value: Any) -> str:
    return json.dumps(value)


def first(of: Mapping[str, Any]) -> Any:
    made = of["two-cores"] if "two-cores" in of else next(iter(of.values()))
    return made() if callable(made) else made


def silent(read: Callable[[Path], Any]) -> Callable[[Path], None]:
    def reading(path: Path) -> None:
        with redirect_stdout(StringIO()):
            read(path)

    return reading


def in_its_name(read: Callable[[Path], Any]) -> Callable[[Path], None]:
    """Where a place is missing only the caller knows it."""

    def reading(path: Path) -> None:
        try:
            read(path)
        except StrataError as error:
            error.at = error.at or str(path)
            raise

    return reading


def read_machine(path: Path) -> None:
    facts.print_findings(str(path), None)
    facts.draw(str(path), "-")


def compared(path: Path) -> None:
    command.compare(command.Request(path, path, everything=True))


def read_journal(path: Path) -> None:
    for line in journal.read_journal(path):
        if line.number > 1:
            store.sample_from(line)


def read_history(path: Path) -> None:
    found = history.State(path.parent).load()
    runs = found.of("run")
    if runs:
        history.folded(runs)


def refused_by_the_front(path: Path) -> None:
    raise front._refusal("machine", 2, path.read_text(errors="replace"))


def read_partitions(path: Path) -> None:
    lines = path.read_text(errors="replace").splitlines()
    for line in lines:
        slurm._node(line) if line.count("|") == 2 else slurm._partition(line)


SAMPLE = {
    **{"schema": store.SAMPLE, "task": "a", "block": 0, "attempt": 0, "time": "2026-01-01T00:00:00.000Z"},
    **{
        "record": None,
        "result": None,
        "tainted": [{"code": "busy", "text": "b"}],
        "failed": None,
        "system": {"wall_s": 1.0},
    },
}
JOURNAL = journal.encode({"schema": journal.HEADER, "plan": "p"}) + journal.encode(SAMPLE)
NODE = {
    **{
        "schema": "strata.node/1",
        "node": "n10",
        "time": "2026-11-03T14:05:00Z",
        "booted": 1.5,
        "campaign": "c",
    },
    "hardware": {"cpu_model": "X", "cores": 2},
    "figures": {
        "dgemm": {"unit": "GF/s", "better": "higher", "values": [100.0]},
        "core": {"unit": "1/s", "better": "higher", "values": [1.0, 2.0], "part": "core", "parts": [3, 1]},
    },
    "counters": {"link symbol_error": 4},
    **{"failed": {"dgemm": "why"}, "absent": {"links": "none"}, "integrity": {"findings": [{"core": 1}]}},
}
EVENTS = [
    {"event": "run", "began": "2026-01-01", "ended": "2026-01-02", "passes": 2, "yielded": [{"core": 1, "s": 2}],
     "sums": [{"core": 0, "kernel": "a", "unit": "b", "rounds": 3, "seconds": 1.5}]},
    {"event": "finding", "core": 1},
    {"event": "run", "sums": [{"core": 0, "kernel": "a", "unit": "b", "rounds": 4}]},
]  # fmt: skip
PLAN = {
    **{
        "schema": "strata.balance/1",
        "bound": 1.0,
        "processes": 2,
        "cpus": 4,
        "curve": "linear",
        "efficiency": 0.9,
    },
    **{"generated": False, "plan": [{"time": 1.0, "threads": 2}, {"time": 0.5, "threads": 2}]},
}
ERROR = {
    "schema": front.SCHEMA,
    "message": "m",
    "at": "a",
    "given": "g",
    "allowed": "b",
    "try": "t",
    "code": 2,
}
SITE = (
    'partition = "batch"\nmodules = ["gcc"]\nstarter = "mine"\nscratch = "/scratch/$USER"\n[starters]\n'
    'mine = "run -n {processes}"\n[machines]\nbatch = "synthetic:pack:2"\n'
)
PARTITIONS = "batch*|10|2|16|2|1-00:00:00|30:00\nlong|4+|2|8|1|infinite|n/a\nn1|1000+|a,b\n"
DUMP = {"root": 7, "files": {"a.txt": 12}, "threads": {"7": [0, 1]}, "cpus": [0, 1]}


def seeds(folder: str, count: int = 2) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "cases" / folder).glob("*.toml"))[:count]]


WORDS = (
    *(
        'view = "panels"',
        'x = "nowhere"',
        'programs = ["nowhere"]',
        'toolchains = ["nowhere"]',
        'crowded = "nowhere"',
    ),
    *(
        '[[plot]]\nx = "nowhere"',
        '[[layout]]\nname = "a"',
        '[[toolchain]]\nname = "a"',
        '[[program]]\nname = "a"',
    ),
    *('[[program.figure]]\nname = "f"\npattern = "("', '[[program.figure]]\nname = "f"\npattern = "(a)(b)"'),
    *(
        'options = ["--layout"]',
        'pairs = "one domain"',
        "distances = true",
        'drop = "x"',
        "launches = 0",
        "[limits]\nx = 1",
    ),
)


def studies() -> list[bytes]:
    """Those that come with Strata, and some with a word too many: few damages would make one."""
    every = seeds("studies", 50)
    words = [word.encode() for word in WORDS]
    return [
        *every,
        *(word + b"\n" + every[0] for word in words),
        *(every[1] + b"\n" + word for word in words),
    ]


TOML = (
    'a.b = 1\n"c d" = [\n  {e = 0x1F, f = [+1_0.5e3, inf]}, # ]\n]\n[g."h]"]\ni = """\n[x]\ny = "z",\n"""\n'
    "[[j]]\nk = 1979-05-27T07:32:00Z\nl = true\n[[j.m]]\nn = '''o'''\n[[j]]\np = 07:32:00.5\n"
)


def placed(path: Path) -> None:
    """Each key has a line, and each value is what its own text says."""
    said = toml_files.text_of(path, "the file")
    places = toml_files.Places(said)
    for key, value in toml_files.table_of(said, path).items():
        assert 1 <= places.line(key, ()) <= said.count("\n") + 1
        again = documents.from_toml(f"{toml_files.key_of(key)} = {toml_files.as_toml(value)}")
        assert repr(again) == repr({key: value})


def read_site(path: Path) -> None:
    found = site_file.read(path)
    found.starter(), found.scratch, found.machine("batch")


TARGETS = [
    Target("machine", silent(read_machine), "machine.json", [text(first(MACHINES))], [facts], ("block", "draw")),
    Target("summary", compared, "summary.json", [text(first(SUMMARIES))], [sides.load, files.read_json]),
    Target("journal", read_journal, "a.jsonl", [JOURNAL], [journal.read_journal, journal.decode, store.sample_from]),
    Target("node", lambda path: reading.read([path]), "n.json", [text(NODE)], [reading], ("_files",)),
    Target("nodes", lambda path: reading.read([path]), "n.jsonl", [f"{text(NODE)}\n" * 2], [reading], ("_files",)),
    Target(
        "history", read_history, "history.jsonl", ["".join(text(e) + "\n" for e in EVENTS)],
        [history.State.load, history.folded, history.added_by],
    ),
    Target("balance", silent(lambda path: balance.draw(str(path), "-")), "plan.json", [text(PLAN)], [balance]),
    Target(
        "graph", silent(lambda path: show.run(show.Request(path, svg=path.with_suffix(".svg"), force=True))), "graph.json",
        [(ROOT / "tests/fixtures/graph/sample.json").read_bytes()], [show._checked, show.listing],
    ),
    Target("the front's error", in_its_name(refused_by_the_front), "error.json", [text(ERROR)], [front._refusal], opens=False),
    Target("dump", lambda path: dumps.read(path.parent), dumps._RECORD, [text(DUMP)], [dumps.read]),
    Target("toml", placed, "a.toml", [TOML, SITE], [toml_files]),
    Target("site", in_its_name(read_site), "site.toml", [SITE], [site_file.read, casefile.CaseFile.__init__]),
    Target("study", in_its_name(study_case.read), "study.toml", studies(), [study_case, casefile.CaseFile], but=("name", "program")),
    Target(
        "characterize", in_its_name(characterize_case.read), "case.toml", seeds("characterize"), [characterize_case],
    ),
    Target("partitions", in_its_name(read_partitions), "sinfo.txt", [PARTITIONS], [slurm._partition, slurm._node, slurm.seconds_of], opens=False),
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_strangers_document_is_read_or_refused(target: Target, tmp_path: Path) -> None:
    fuzzing.some(target, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_many_strangers_documents(target: Target, tmp_path: Path) -> None:
    fuzzing.many(target, tmp_path)
