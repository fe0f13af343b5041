"""Stand-ins for what the engine drives: runners that answer from a script, and a front that behaves as
`strata launch` is specified to.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strata.measure.plan import Plan, Policy, Task
from strata.measure.progress import Step
from strata.measure.runner import Launched
from strata.measure.store import Sample


def record(**changes: Any) -> dict[str, Any]:
    """A record of a launch on a quiet machine."""
    base: dict[str, Any] = {
        "schema": "strata.record/1",
        "wall_s": 1.0,
        "exit_code": 0,
        "signal": None,
        "timed_out": False,
        "cpu": {"own_s": 0.98, "others_s": 0.01, "others_share": 0.01, "steal_s": 0.0, "steal_share": 0.0},
        "switches": {"voluntary": 5, "involuntary": 3},
        "pressure": {"cpu_some_us": 1000, "memory_some_us": 0, "io_some_us": 0},
        "clock": {"before_ghz": 3.0, "after_ghz": 3.0, "method": "dependent-add loop"},
        "load": [0.1, 0.1, 0.1],
        "agrees": True,
        "disagreement": None,
        "libraries": ["/usr/lib/libopenblas.so.0"],
    }
    return {**base, **changes}


def busy_record() -> dict[str, Any]:
    """The same launch beside a busy neighbour."""
    return record(
        cpu={"own_s": 0.5, "others_s": 0.5, "others_share": 0.5, "steal_s": 0.0, "steal_share": 0.0},
        switches={"voluntary": 5, "involuntary": 200},
        pressure={"cpu_some_us": 900000, "memory_some_us": 0, "io_some_us": 0},
    )


def result(value: float, benchmark: str = "stream") -> dict[str, Any]:
    return {
        "schema": "strata.result/1",
        "benchmark": benchmark,
        "parameters": {"n": 1000},
        "verified": True,
        "verification": {"what": "error", "value": 0.0, "limit": 1e-13, "source": "definition"},
        "figures": [{"name": "triad", "value": value, "unit": "GB/s", "better": "higher"}],
        "curves": [
            {
                "name": "rate",
                "x": {"name": "size", "unit": "B"},
                "y": {"name": "rate", "unit": "GB/s"},
                "points": [[1024, value], [2048, 2 * value]],
            }
        ],
        "matrices": [
            {
                "name": "pairs",
                "unit": "ns",
                "rows": [0, 1],
                "columns": [0, 1],
                "values": [[None, value], [value, None]],
            }
        ],
        "provenance": {"compiler": "GNU 12.2.0", "flags": "-O3", "isa": "avx2", "blas": None, "mpi": None},
    }


def task(name: str, **changes: Any) -> Task:
    values: dict[str, Any] = {
        "id": f"{name}/1x1/core/s1",
        "benchmark": name,
        "command": ("{strata-bench}", name, "--json", "{result}"),
        "layout": "1x1",
        "figures": ("triad",),
    }
    return Task(**{**values, **changes})


def plan(names: list[str], **policy: Any) -> Plan:
    tasks = tuple(task(n) for n in names)
    return Plan("characterize", "test", tasks, Policy(**{"seed": 7, **policy}), {"digest": "m"}, "b")


Answer = Callable[[Task, int], Launched]


class ScriptedRunner:
    """Answers by a function of the task and how often it was launched before; remembers the order and that
    launches never overlap.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.order: list[str] = []
        self.now = 0.0  # seconds that all launches have taken
        self._running = False

    def run(self, what: Task, tick: Callable[[], None]) -> Launched:
        assert not self._running, "two programs measured at once"
        self._running = True
        tick()
        before = self.order.count(what.id)
        self.order.append(what.id)
        self._running = False
        launched = self.answer(what, before)
        self.now += (launched.record or {}).get("wall_s") or 0.0
        return launched


def good(value: float = 10.0) -> Launched:
    return Launched(record(), result(value), None)


def disturbed(value: float = 5.0) -> Launched:
    return Launched(busy_record(), result(value), None)


class Listener:
    """A watcher that keeps what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.steps: list[Step] = []
        self.remaining: list[float] = []
        self.samples: list[Sample] = []

    def begin(self, what: Task, step: Step) -> None:
        self.steps.append(step)
        self.remaining.append(step.remaining_s)

    def tick(self) -> None:
        pass

    def ended(self, what: Task, sample: Sample) -> None:
        self.samples.append(sample)

    def say(self, text: str) -> None:
        self.said.append(text)

    def wait(self, text: str) -> None:
        self.said.append(text)


FRONT = """
import json, os, select, subprocess, sys, time
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
words = sys.argv[1:]
if words[0] == "machine":
    print(open(os.path.join(ROOT, "machine.json")).read())
    sys.exit(0)
options, command = words[1:words.index("--")], words[words.index("--") + 1:]
value = lambda name: options[options.index(name) + 1]
with open(os.path.join(ROOT, "launches"), "a") as log:
    log.write("start %d %.6f %s\\n" % (os.getpid(), time.time(), value("--layout")))
lifeline = int(os.environ["STRATA_LIFELINE_FD"])
started = time.time()
child = subprocess.Popen(command, start_new_session=True)
timed_out = False
poll = select.poll()
poll.register(lifeline, select.POLLHUP)
pid = select.poll()
pid.register(os.pidfd_open(child.pid), select.POLLIN)
while not pid.poll(20):
    if any(event & select.POLLHUP for _, event in poll.poll(0)):
        child.kill()
        child.wait()
        sys.exit(143)
    if time.time() - started > float(value("--timeout")):
        timed_out = True
        child.kill()
child.wait()
disturbed = os.path.exists(os.path.join(ROOT, "disturb"))
record = json.load(open(os.path.join(ROOT, "busy.json" if disturbed else "quiet.json")))
record.update(wall_s=time.time() - started, timed_out=timed_out, exit_code=max(0, child.returncode),
              signal=-child.returncode if child.returncode < 0 else None)
with open(value("--record") + ".tmp", "w") as out:
    json.dump(record, out)
os.rename(value("--record") + ".tmp", value("--record"))
with open(os.path.join(ROOT, "launches"), "a") as log:
    log.write("end %d %.6f %s\\n" % (os.getpid(), time.time(), value("--layout")))
sys.exit(child.returncode if child.returncode >= 0 else 128 - child.returncode)
"""

BENCH = """
import json, os, sys, time
name = sys.argv[1]
if name == "fails":
    print("no such benchmark", file=sys.stderr)
    sys.exit(3)
if name == "says":
    print("rate 3.5 GB/s\\nrate 12.5 GB/s")
if name == "sleeps":
    time.sleep(float(sys.argv[2]))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
out = json.load(open(os.path.join(ROOT, "result.json")))
out["benchmark"] = name
if name == "wrong":
    out.update(verified=False, figures=[])
path = sys.argv[sys.argv.index("--json") + 1]
with open(path + ".tmp", "w") as stream:
    json.dump(out, stream)
os.rename(path + ".tmp", path)
sys.exit(1 if name == "wrong" else 0)
"""


def machine(cores: int = 2, domains: int = 1) -> dict[str, Any]:
    """Facts of a small machine, labelled as invented."""
    per = cores // domains
    return {
        "schema": "strata.machine/1",
        "source": "synthetic:test",
        "hostname": "fixture",
        "kernel": "6.1",
        "arch": "x86_64",
        "cpu_model": "Synthetic Fixture",
        "domains": [
            {"index": d, "cores": list(range(d * per, (d + 1) * per)), "memories": [d]}
            for d in range(domains)
        ],
        "memories": [
            {"index": d, "os_index": d, "kind": "DRAM", "domain": d, "free_bytes": 1 << 30}
            for d in range(domains)
        ],
        "cores": [{"index": c, "domain": c // per, "pus": [c], "governor": None} for c in range(cores)],
        "allowed": {"pus": f"0-{cores - 1}", "memories": "0", "cpus_effective": float(cores)},
    }


def install(root: Path) -> Path:
    """A prefix with a front and a strata-bench that are scripts; returns the front."""
    import json

    front, bench = root / "bin" / "strata", root / "libexec" / "strata" / "strata-bench"
    for path, text in ((front, FRONT), (bench, BENCH)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable} -IS\n{textwrap.dedent(text)}")
        path.chmod(0o755)
    (bench.parent / "strata-bench-mpi").write_bytes(bench.read_bytes())
    (bench.parent / "strata-bench-mpi").chmod(0o755)
    for name, value in (
        ("machine", machine()),
        ("quiet", record()),
        ("busy", busy_record()),
        ("result", result(10.0)),
    ):
        (root / f"{name}.json").write_text(json.dumps(value))
    return front
