"""The same study three times: twice on a quiet machine, once beside a neighbour that comes and goes.

Started by engine.py. Each study is started as a user starts it, in a folder of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strata.advice.samples import Interval, headline

BUSY_S, PAUSE_S = 4.0, 10.0  # the neighbour's
PATIENCE_S = 120
STUDY = f"""
schema = "strata.study/1"
name = "reproduce"
launches = 8
repeats = 8
patience_s = {PATIENCE_S}

[[program]]
name = "stream"
command = "{{strata-bench}} stream --array {{array}} --trials 10 --json {{result}}"
values = {{ array = ["8MiB", "64MiB"] }}
figures = ["triad"]
expected_s = 0.5

[[program]]
name = "dgemm"
command = "{{strata-bench}} dgemm --n {{n}} --repeats 6 --own-choice --json {{result}}"
values = {{ n = [600, 1000] }}
figures = ["dgemm"]
expected_s = 0.4

[[program]]
name = "peak"
command = "{{strata-bench}} peak --quick --json {{result}}"
figures = ["peak"]
expected_s = 0.4

[[layout]]
name = "pinned"
layouts = ["1x1", "1xN"]

[[layout]]
name = "not pinned"
layouts = ["1x1", "1xN"]
bind = "none"
"""
Row = tuple[str, float, float | None, str]


def study(front: str, scratch: Path, name: str) -> dict[str, Any]:
    """The summary of one run of the study."""
    case, out = scratch / "reproduce.toml", scratch / name
    case.write_text(STUDY)
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "STRATA_BIN": front, "PYTHONPATH": str(root / "python")}
    words = ["study", "run", str(case), "--out", str(out), "--here"]
    done = subprocess.run(
        [sys.executable, "-m", "strata", *words], env=environment, stdout=subprocess.DEVNULL
    )
    if not (out / "summary.json").exists():
        raise RuntimeError(f"the study {name} ended with {done.returncode} and left no summary")
    return dict(json.loads((out / "summary.json").read_text()))


# Ends with the one who started it, however that ends: its input closes then.
BUSY = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()
while True:
    pass
"""


@contextmanager
def neighbour() -> Iterator[None]:
    """A process that computes for a while, again and again."""
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            busy = subprocess.Popen([sys.executable, "-IS", "-c", BUSY], stdin=subprocess.PIPE)
            over.wait(BUSY_S)
            busy.communicate()
            over.wait(PAUSE_S)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def cells(summary: dict[str, Any]) -> dict[str, Interval]:
    """Each setting's headline, where it has an interval."""
    found = {task["id"]: headline(task) for task in summary["tasks"]}
    return {name: figure for name, figure in found.items() if figure is not None and figure.known}


def apart(a: dict[str, Interval], b: dict[str, Interval]) -> list[str]:
    """Cells known on both sides whose intervals do not overlap."""

    def separate(x: Interval, y: Interval) -> bool:
        assert x.low is not None and x.high is not None and y.low is not None and y.high is not None
        return x.low > y.high or y.low > x.high

    return [name for name in a if name in b and separate(a[name], b[name])]


def compared(what: str, first: dict[str, Any], second: dict[str, Any]) -> Row:
    """How many cells of the second do not agree with the first, those without an interval among them; one of
    twenty may.
    """
    a, b = cells(first), cells(second)
    names = [task["id"] for task in first["tasks"]]
    unknown, far = [name for name in names if name not in a or name not in b], apart(a, b)
    said = [f"{word}: {', '.join(some)}" for word, some in (("apart", far), ("no interval", unknown)) if some]
    named = f" ({'; '.join(said)})" if said else ""
    text = f"{what}: cells of {len(names)} whose intervals do not overlap{named}"
    return text, len(far) + len(unknown), len(names) // 20 + 1, ""


def share(what: str, summary: dict[str, Any]) -> Row:
    counts = summary["counts"]
    return (
        f"{what}: disturbed of {counts['launches']} launches",
        100 * counts["tainted"] / counts["launches"],
        None,
        "%",
    )


def rows(front: str, scratch: Path) -> Iterator[Row]:
    """Runs the three studies, two to four minutes each."""
    first = study(front, scratch, "first")
    yield share("first", first)
    second = study(front, scratch, "second")
    yield share("second", second)
    yield compared("the same again", first, second)
    with neighbour():
        beside = study(front, scratch, "beside")
    yield share("beside a neighbour", beside)
    yield compared("beside a neighbour", first, beside)
