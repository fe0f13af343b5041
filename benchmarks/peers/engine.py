#!/usr/bin/env python3
"""What the measuring engine costs, and how well a study repeats, each beside its limit.

    STRATA_BIN=build/.../bin/strata PYTHON benchmarks/peers/engine.py            # launches and samples
    benchmarks/peers/engine.py launches --launches 300
    benchmarks/peers/engine.py reproduce                                        # three studies, 8 minutes

PYTHON is the interpreter of the build (it has pandas and pyarrow). Ends with status 1 when a limit is missed.
Nothing else should run meanwhile.

launches   a study of programs that do nothing, interleaved with the same launches by a bare loop: what the
           engine adds to each; then programs of a second: what is not the programs' own time
samples    100 000 samples as results folders: loaded, drawn and exported
reproduce  the same study twice, and beside a neighbour (benchmarks/peers/reproduce.py)
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from strata.measure import index, journal, stats, store
from strata.measure.campaign import Campaign
from strata.measure.plan import Pattern, Plan, Policy, Task
from strata.measure.progress import Progress
from strata.measure.runner import LaunchRunner
from strata.measure.store import Sample, Store
from strata.measure.taint import Limits

CELLS = 20
SAMPLES = 100_000
# A program that does nothing lives for less than a tick of the counters by which disturbance is judged.
NO_LIMITS = Limits(*(1e9 for _ in Limits.__dataclass_fields__))
Row = tuple[str, float, float | None, str]  # what, the value, its limit, the unit


def make_store(folder: Path, tasks: tuple[Task, ...], launches: int) -> Store:
    """A results folder for these tasks, of a machine that nobody asks about."""
    policy = Policy(launches=launches, repeats=0, limits=NO_LIMITS, seed=1, patience_s=0)
    plan = Plan("study", "engine", tasks, policy, {"digest": "any"}, "any")
    return store.create(folder, plan, {"schema": "strata.machine/1"}, {"schema": "strata.provenance/1"})


# -- launches ----------------------------------------------------------------------------------------------


def spawn(command: list[str], null: int) -> float:
    """Seconds from the start of a command to its end."""
    quiet = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status = os.waitpid(pid, 0)
    elapsed = time.perf_counter() - begin
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    return elapsed


@dataclass
class Between(Progress):
    """A watcher that, after each launch of the study, starts the same in a bare loop. What the study takes is
    all of the time from there to the next launch's end: choosing it, running it, judging it, storing it.
    """

    commands: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)
    null: int = -1
    since: float | None = None

    rng: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        super().__init__(io.StringIO())

    def ended(self, task: Task, sample: Sample) -> None:
        super().ended(task, sample)
        if sample.failed:
            raise RuntimeError(sample.failed)
        if self.since is not None:
            self.times.setdefault("study", []).append(time.perf_counter() - self.since)
        for name in self.rng.sample(list(self.commands), len(self.commands)):
            self.times.setdefault(name, []).append(spawn(self.commands[name], self.null))
        self.since = time.perf_counter()


def launches(front: str, scratch: Path, count: int) -> Iterator[Row]:
    """What a launch of a study costs beside the same launch in a bare loop, milliseconds."""
    program = shutil.which("true") or "/bin/true"
    tasks = tuple(
        Task(f"true-{n}/pinned/1x1", "true", (program,), "1x1", expected_s=0.01) for n in range(CELLS)
    )
    results = make_store(scratch / "launches", tasks, max(stats.LEAST, count // CELLS))
    runner = LaunchRunner([front], {}, results.path)
    placed = [front, "launch", "--layout", "1x1", "--stride", "1", "--bind", "core", "--own-share"]
    record = ["--record", str(scratch / "record.json"), "--timeout", "60"]
    with Path(os.devnull).open("r+b") as null:
        commands = {"bare": [*placed, "--", program], "recorded": [*placed, *record, "--", program]}
        watcher = Between(commands=commands, null=null.fileno())
        Campaign(results, runner, watcher).run()
    results.close()
    middle = {name: 1e3 * statistics.median(times) for name, times in watcher.times.items()}
    yield "`strata launch --own-share -- true` in a bare loop", middle["bare"], None, "ms"
    yield "the same with --record", middle["recorded"], None, "ms"
    yield "a launch of a study", middle["study"], None, "ms"
    yield "the record adds (clock before and after, books)", middle["recorded"] - middle["bare"], None, "ms"
    yield "the engine adds", middle["study"] - middle["recorded"], 2.0, "ms"
    yield "both together", middle["study"] - middle["bare"], None, "ms"


def seconds(front: str, scratch: Path) -> Iterator[Row]:
    """A study of programs of a second with 256 MiB each: what is not the programs' own time."""
    words = "import time; held = b'x' * (256 << 20); time.sleep(1)"
    task = Task("second/pinned/1x1", "second", (sys.executable, "-IS", "-c", words), "1x1")
    results = make_store(scratch / "seconds", (task,), 8)
    started = time.perf_counter()
    Campaign(results, LaunchRunner([front], {}, results.path), Progress(io.StringIO())).run()
    elapsed = time.perf_counter() - started
    results.close()
    records = [sample.record or {} for sample in results.samples]
    own = sum(record["wall_s"] for record in records)
    watching = statistics.median(record["cpu"]["supervisor_s"] for record in records)
    yield "launches of a second: not the programs' own time", 100 * (1 - own / elapsed), 1.0, "%"
    if any(record["pages"]["by_memory"] for record in records):
        yield "CPU of the supervisor beside each, pages of 256 MiB read", 1e3 * watching, None, "ms"


# -- samples -----------------------------------------------------------------------------------------------


def make_samples(folder: Path, record: dict[str, Any], count: int, figures: int) -> None:
    """A results folder as `count` launches with so many figures each would have left it."""
    found = tuple(Pattern(f"figure {n}", r"(\d+)", "GB/s") for n in range(figures))
    tasks = tuple(
        Task(f"program-{n}/pinned/1x1", "program", ("true",), "1x1", figures=("figure 0",), patterns=found,
             labels={"program": "program", "n": str(n), "setting": "pinned"})
        for n in range(CELLS)
    )  # fmt: skip
    results = make_store(folder, tasks, count // CELLS)
    rng = random.Random(1)
    head = {"schema": journal.HEADER, "plan": results.plan.hash, "host": "any", "pid": 1, "started": "any"}
    reason = {"code": "others-share", "value": 0.1, "limit": 0.02, "text": "others used 10 % of its CPUs"}
    with (folder / "journal" / "any-1.jsonl").open("wb") as out:
        out.write(journal.encode(head))
        for n in range(count):
            wall = 1 + 0.01 * rng.random()
            values = [{"name": p.name, "value": wall * (k + 1), "unit": p.unit, "better": p.better}
                      for k, p in enumerate(found)]  # fmt: skip
            at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(n)) + f".{n % 1000:03d}Z"
            sample = Sample(
                task=tasks[n % CELLS].id,
                block=n // CELLS,
                attempt=0,
                time=at,
                record={**record, "wall_s": wall},
                result={"figures": values},
                tainted=(reason,) if rng.random() < 0.1 else (),
                failed=None,
                system={"others_s": 0.01, "cpus": 2, "wall_s": wall + 0.01},
            )
            out.write(journal.encode(sample.to_dict()))


def draw(table: Any) -> str:
    """Every undisturbed launch of every cell, as the report draws it."""
    from strata.advice.samples import Interval
    from strata.report.figures import studies

    chosen = table[table["good"] & (table["block"] > 0) & (table["figure"] == "figure 0")]
    rows = []
    for name, cell in chosen.groupby("task"):
        known = stats.estimate(cell["value"].tolist())
        rows.append(
            studies.Row(str(name), Interval(str(name), "GB/s", "higher", known.n, known.median, known.low,
                                            known.high, samples=known.samples))
        )  # fmt: skip
    return studies.launches("engine", rows, "GB/s", "figure 0")


@contextmanager
def timed(into: dict[str, float], name: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    into[name] = time.perf_counter() - begin


def samples(front: str, scratch: Path, figures: int) -> Iterator[Row]:
    """How long 100 000 samples take: from the journals, then with the index there; seconds."""
    import matplotlib.backends.backend_svg  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    from strata.study import data

    count, folder = SAMPLES // figures, scratch / f"samples-{figures}"
    spawn_record = scratch / "record.json"
    subprocess.run(
        [front, "launch", "--own-share", "--record", str(spawn_record), "--", "sleep", "0.3"], check=True
    )
    make_samples(folder, json.loads(spawn_record.read_text()), count, figures)
    took: dict[str, float] = {}
    with timed(took, "the index made from the journals, once"):
        index.open_index(folder).close()
    with timed(took, "loaded as a DataFrame"):
        frame = data.frame(folder)
    with timed(took, "drawn"):
        draw(frame)
    for form in data.FORMATS:
        with timed(took, f"loaded, drawn and exported as {form}"):
            table = data.columns(folder)
            draw(data.frame(table))
            data.write(table, form, scratch / f"one.{form}")
    assert len(frame) == SAMPLES, len(frame)
    size = sum(path.stat().st_size for path in (folder / "journal").iterdir()) / 1e6
    what = f"{count} launches x {figures} figure{'s' if figures > 1 else ''} ({size:.0f} MB)"
    for name, each in took.items():
        yield f"{what}: {name}", each, None if "journals" in name else 2.0, "s"
    shutil.rmtree(folder)


# -- all of it ---------------------------------------------------------------------------------------------


def report(rows: Iterator[Row]) -> int:
    """Prints the table as it grows; the number of limits that were missed."""
    missed = 0
    print("| what | measured | limit | |\n| --- | --- | --- | --- |")
    for what, value, limit, unit in rows:
        held = "" if limit is None else "held" if value < limit else "MISSED"
        missed += held == "MISSED"
        print(
            f"| {what} | {value:.3g} {unit} | {'' if limit is None else f'< {limit:g} {unit}'} | {held} |",
            flush=True,
        )
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "parts", nargs="*", metavar="launches|samples|reproduce", help="the first two if left out"
    )
    parser.add_argument("--launches", type=int, default=400, help="of programs that do nothing (400)")
    parser.add_argument("--scratch", type=Path, help="where results folders are made for the while (TMPDIR)")
    given = parser.parse_args()
    named = os.environ.get("STRATA_BIN") or shutil.which("strata")
    if not named:
        sys.exit("no strata on PATH: activate a build, or set STRATA_BIN to the front")
    front = str(Path(named).resolve())
    wanted = given.parts or ["launches", "samples"]
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        scratch = Path(folder)
        missed = 0
        for part in wanted:
            if part == "launches":
                missed += report(
                    row
                    for rows in (launches(front, scratch, given.launches), seconds(front, scratch))
                    for row in rows
                )
            elif part == "samples":
                missed += report(row for figures in (1, 10) for row in samples(front, scratch, figures))
            elif part == "reproduce":
                import reproduce

                missed += report(reproduce.rows(front, scratch))
            else:
                parser.error(f"no such part: {part}; allowed: launches, samples, reproduce")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
