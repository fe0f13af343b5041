"""A virtual machine with several memories: QEMU without acceleration, driven through a serial line.

It proves where threads and pages are put. It has no NUMA latency, so nothing here measures time.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOMAINS, CPUS_PER_DOMAIN, MIB_PER_DOMAIN = 4, 2, 384
CPUS = DOMAINS * CPUS_PER_DOMAIN


def distance(a: int, b: int) -> int:
    """Routers in a row: 10 for a domain itself, 5 more for each hop."""
    return 10 + 5 * abs(a - b)


@dataclass
class Done:
    """What a command inside left: its exit status, output and errors."""

    status: int
    out: str
    err: str

    def reports(self) -> list[dict[str, Any]]:
        """What `pages` said, a report for each process, in the order of ranks."""
        assert self.status == 0, f"status {self.status}\n{self.out}\n{self.err}"
        found = [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]
        assert found, f"no report\n{self.out}\n{self.err}"
        return sorted(found, key=lambda report: report["rank"] or 0)

    def report(self) -> dict[str, Any]:
        """The report of a single process."""
        (one,) = self.reports()
        return one


def qemu_command(
    kernel: Path, image: Path, console: Path, line: str, words: str, mib_per_domain: int = MIB_PER_DOMAIN
) -> list[str]:
    """`line` is what the second serial port is for QEMU; `words` go to the kernel and to init."""
    qemu = shutil.which("qemu-system-x86_64") or "qemu-system-x86_64"
    # Without fast strings (erms) the kernel clears and copies pages by words, not by bytes: each store into a
    # page that once held translated code takes QEMU up to 0.2 ms, so that tests stood still for 100 s.
    command = [qemu, "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max,-erms"]
    command += ["-no-reboot", "-nodefaults"]
    command += ["-display", "none", "-m", f"{DOMAINS * mib_per_domain}M"]
    command += ["-smp", f"{CPUS},sockets={DOMAINS},cores={CPUS_PER_DOMAIN},threads=1"]
    for d in range(DOMAINS):
        cpus = f"{d * CPUS_PER_DOMAIN}-{(d + 1) * CPUS_PER_DOMAIN - 1}"
        command += ["-object", f"memory-backend-ram,id=m{d},size={mib_per_domain}M"]
        command += ["-numa", f"node,nodeid={d},memdev=m{d},cpus={cpus}"]
    for a in range(DOMAINS):
        for b in range(a + 1, DOMAINS):
            command += ["-numa", f"dist,src={a},dst={b},val={distance(a, b)}"]
    command += ["-kernel", str(kernel), "-initrd", str(image), "-serial", f"file:{console}", "-serial", line]
    # Its tests of ciphers take an emulated processor long, and sometimes all of the time there is.
    # Every process at the same addresses: QEMU keeps what it translated by virtual address. At random ones it
    # translates all programs again, and a store into a page that held a program takes it the longer the more
    # often it did: where memory ran full and programs' pages moved, tests stood still for a minute.
    quiet = "console=ttyS0 quiet panic=-1 nokaslr mitigations=off random.trust_cpu=on numa_balancing=disable"
    quiet += " cryptomgr.notests norandmaps"
    # On a busy host an emulated timer comes too late for the check of it, at which the kernel would panic.
    quiet += " no_timer_check"
    return [*command, "-append", f"{quiet} {words}"]


def die_with_parent() -> None:
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


class Machine:
    """A running virtual machine. Ends with close(), and with the process that started it."""

    def __init__(
        self, kernel: Path, image: Path, folder: Path, cgroup: int = 2, mib_per_domain: int = MIB_PER_DOMAIN
    ) -> None:
        self.console = folder / f"console-{cgroup}.log"
        self.process = subprocess.Popen(
            qemu_command(kernel, image, self.console, "stdio", f"strata.cgroup={cgroup}", mib_per_domain),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            preexec_fn=die_with_parent,
        )
        self._pending = b""
        self._wait_for("READY", 120)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def messages(self) -> str:
        """What the kernel said last."""
        return self.console.read_text(errors="replace")[-4000:] if self.console.exists() else ""

    def _line(self, end: float) -> str:
        assert self.process.stdout is not None
        while b"\n" not in self._pending:
            left = end - time.monotonic()
            ready = left > 0 and select.select([self.process.stdout], [], [], left)[0]
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                why = "did not answer in time" if not ready else "has ended"
                # What it still does would answer the next question: the next one finds it ended.
                self.process.kill()
                raise AssertionError(f"the virtual machine {why}; its kernel said:\n{self.messages()}")
            self._pending += more
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode(errors="replace").strip("\r")

    def _wait_for(self, word: str, seconds: float) -> str:
        end = time.monotonic() + seconds
        while not (line := self._line(end)).startswith(word):
            pass
        return line

    def run(self, script: str, timeout: float = 120) -> Done:
        """Runs a shell script inside, one at a time."""
        assert self.process.stdin is not None
        encoded = base64.b64encode(script.encode()).decode()
        lines = [encoded[i : i + 512] for i in range(0, len(encoded), 512)]
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("".join(line + "\n" for line in [*lines, "."]).encode())
        status = int(self._wait_for("STATUS", timeout).split()[1])
        end = time.monotonic() + timeout
        out, err = (base64.b64decode(self._line(end)).decode(errors="replace") for _ in range(2))
        return Done(status, out, err)

    def put(self, path: str, text: str) -> None:
        """Writes a small file inside."""
        encoded = base64.b64encode(text.encode()).decode()
        assert self.run(f"printf %s '{encoded}' | base64 -d > '{path}'").status == 0
