"""Ranks, daemons, nodes and links that fail at random while a case runs over nodes. However a job ends, it
says why, the next one runs, and nothing is left. A run that lost a rank or a node goes on from its last
checkpoint, with the bits of one that nobody disturbed.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from checkpoints import changed, checksums
from cluster_box import Cluster
from tested_build import strata

CASE = Path(__file__).resolve().parents[2] / "cases" / "transport" / "heat.toml"
STEPS, EVERY = 200, 25
NODES = 4
KINDS = ("rank", "slurmd", "node", "link")
# A team that lost a node waits for TCP to say so; beside other work everything takes longer.
PATIENCE_S = 60.0


def words_of(going: subprocess.Popen[str], until: float) -> tuple[str, float | None]:
    """What a command says until its end, and when it first says of an error."""
    told: list[float] = []
    said: list[str] = []

    def listen() -> None:
        assert going.stdout is not None
        for line in going.stdout:
            said.append(line)
            if "strata: error" in line or "srun: error" in line:
                told.append(time.monotonic())

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        going.wait(until - time.monotonic())
    finally:
        if going.poll() is None:
            going.kill()
        listener.join()
    return "".join(said), told[0] if told else None


def spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.1f} s (at most {max(seconds):.1f})"


class Storm:
    """A cluster and a case; one disturbance at a time."""

    def __init__(self, cluster: Cluster, folder: Path, seed: int) -> None:
        self.cluster, self.folder, self.draw = cluster, folder, random.Random(seed)
        self.case = changed(CASE, folder / "case.toml", cells="[48, 48, 48]", patch="[12, 12, 12]", end="1.0")
        alone = subprocess.run(self.words(folder / "alone", nodes=1), capture_output=True, text=True)
        assert alone.returncode == 0, alone.stderr
        self.expected = checksums(folder / "alone" / f"checkpoint-{STEPS:06}")
        assert len(self.expected) > 8
        # Seconds from the disturbance to the first error on the terminal, and to the end.
        self.told: dict[str, list[float]] = {kind: [] for kind in KINDS}
        self.ended: dict[str, list[float]] = {kind: [] for kind in KINDS}

    def words(self, out: Path, nodes: int = NODES, restart: bool = False) -> list[str]:
        layout = ["--nodes", str(nodes), "--layout", f"{nodes}x1"] if nodes > 1 else []
        words = [strata(), "run", str(self.case), *layout, "--bind", "none", "--steps", str(STEPS), "--quiet"]
        words += ["--checkpoint", str(EVERY), "--out", str(out)]
        return [*words, *(["--restart", str(out)] if restart else [])]

    def hit(self, kind: str, node: str) -> None:
        """One disturbance."""
        if kind == "rank":
            self.cluster.on(node, "pkill", "-9", "-o", "-f", "strata-transport")
        elif kind == "slurmd":
            assert self.cluster.on(node, "pkill", "-9", "-x", "slurmd").returncode == 0
        elif kind == "node":
            assert self.cluster.do("kill", node).returncode == 0
        else:
            assert self.cluster.do("cut", node).returncode == 0

    def heal(self, kind: str, node: str) -> None:
        if kind == "node":
            assert self.cluster.do("start", node).returncode == 0
        if kind == "link":
            assert self.cluster.do("mend", node).returncode == 0

    def ready(self) -> None:
        """The next job runs on all nodes."""
        end = time.monotonic() + PATIENCE_S
        while True:
            done = self.cluster.run("srun", "-N", NODES, "--immediate=20", "hostname", timeout=90)
            if sorted(done.stdout.split()) == [f"n{i + 1}" for i in range(NODES)]:
                return
            assert time.monotonic() < end, done.stderr + self.cluster.run("sinfo", "-N", "-l").stdout
            time.sleep(0.2)

    def left(self) -> str:
        """What nodes have of runs that ended: processes of a team, files in shared memory."""
        look = "pgrep -a strata-transport; ls -A /dev/shm"
        return "".join(self.cluster.on(f"n{i + 1}", "sh", "-c", look).stdout for i in range(NODES))

    def round(self, number: int, kind: str) -> None:
        out, node = self.folder / f"run-{number}", f"n{self.draw.randint(1, NODES)}"
        with subprocess.Popen(
            self.cluster.command(*self.words(out)),
            env=self.cluster.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as going:
            # Not before the ranks are there, and not after the end.
            while not list(out.glob("checkpoint-*")) and going.poll() is None:
                time.sleep(0.02)
            time.sleep(self.draw.uniform(0, 0.2))
            running = going.poll() is None
            self.hit(kind, node)
            began = time.monotonic()
            said, told = words_of(going, until=began + PATIENCE_S)
            took = time.monotonic() - began
        self.heal(kind, node)
        what = f"round {number}: {kind} of {node}, status {going.returncode} after {took:.1f} s\n{said}"
        print(what.splitlines()[0], flush=True)
        self.ready()
        if going.returncode != 0:
            assert running and kind != "slurmd", what
            assert told is not None, what
            self.told[kind].append(told - began)
            self.ended[kind].append(took)
            again = self.cluster.run(*self.words(out, restart=True))
            assert again.returncode == 0, what + again.stderr
        assert checksums(out / f"checkpoint-{STEPS:06}") == self.expected, what
        assert (found := self.left()) == "", what + found


def storm(cluster: Cluster, folder: Path, kinds: Sequence[str], seed: int) -> Storm:
    made = Storm(cluster, folder, seed)
    for number, kind in enumerate(kinds):
        made.round(number, kind)
    return made


def test_a_sample_of_the_storm(cluster: Cluster, tmp_path: Path) -> None:
    storm(cluster, tmp_path, ("node", "rank"), seed=1)


@pytest.mark.soak
def test_a_hundred_failures(cluster: Cluster, tmp_path: Path) -> None:
    made = storm(cluster, tmp_path, KINDS * 25, seed=int(time.time()))
    for kind in KINDS:
        if made.told[kind]:
            print(f"{kind}: told after {spread(made.told[kind])}, ended after {spread(made.ended[kind])}")
