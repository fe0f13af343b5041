"""What a task is, in words for people: 'memory bandwidth, 2 threads' and not `stream/1x2/core/s1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata.advice.samples import processes_threads
from strata.advice.studies import group_of, setting_of
from strata.advice.words import count
from strata.measure.plan import Task

# By the name that a case file gives a task, or else by its benchmark.
WHAT = {
    "peak": "peak arithmetic",
    "latency": "memory latency",
    "cache-bandwidth": "bandwidth of the caches",
    "lines": "cache lines from core to core",
    "domains": "latency and bandwidth between memory domains",
    "noise": "time lost to other work",
    "clock": "sustained clock",
    "stream": "memory bandwidth",
    "stream-full": "memory bandwidth by the full rules of STREAM",
    "stream-hpcc": "memory bandwidth with arrays of most of the memory",
    "dgemm": "matrix multiplication",
    "dgemm-system": "matrix multiplication by the system's library",
    "hpl": "a large linear system (HPL)",
    "pingpong": "messages between two processes",
    "rings": "messages around rings of processes",
    "ptrans": "transposing a matrix across processes",
    "mpifft": "a Fourier transform across processes",
    "allreduce": "a sum over all processes",
    "alltoall": "messages from every process to every other",
    "message-rate": "short messages a second",
}


def of_task(task: Task) -> str:
    """What is measured, with how many threads and processes, and what is unusual about it."""
    return of_summary(vars(task))


def of_summary(task: Mapping[str, Any]) -> str:
    """The same of a task of a summary. A study's is its program with its values, and its setting."""
    if task.get("labels"):
        layout = placed(task["layout"], task["stride"])  # its setting says how it is held
        setting = setting_of({**task, "hidden": {*(task.get("hidden") or ()), "layout", "stride"}})
        return f"{group_of(task)}: {', '.join(part for part in (setting, layout) if part)}"
    return f"{what(task['id'], task['benchmark'])}, {placed(task['layout'], task['stride'], task['bind'])}"


def what(task_id: str, benchmark: str) -> str:
    """What is measured; a name that a case file of one's own gives a benchmark is said too."""
    name = task_id.split("/")[0]
    if name in WHAT:
        return WHAT[name]
    return f"{WHAT[benchmark]} ({name})" if benchmark in WHAT else name


def placed(layout: str, stride: int = 1, bind: str = "core") -> str:
    """'2 processes x 4 threads, on every 2nd core', '2 threads, not bound to cores'."""
    processes, threads = processes_threads(layout)
    if processes == 1:
        words = [count(threads, "thread")]
    elif threads == 1:
        words = [f"{processes} processes"]
    else:
        words = [f"{processes} processes x {threads} threads"]
    if stride != 1:
        words.append(f"on every {_ordinal(stride)} core")
    if bind == "none":
        words.append("not bound to cores")
    return ", ".join(words)


def _ordinal(n: int) -> str:
    ending = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
