#!/usr/bin/env python3
"""Boots the virtual machine of four memories: a shell in it, or one command.

python tests/numa/boot.py                                           # a shell; Ctrl-A X or `exit` ends it
python tests/numa/boot.py strata machine                            # one command, and its exit status
python tests/numa/boot.py --add ./a.out -- strata launch --layout 4x2 --memory local -- a.out
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from building import Missing, build_image, find_kernel
from machine import Machine, die_with_parent, qemu_command


def shell(image: Path, cgroup: int) -> int:
    """A shell on this terminal; QEMU hands the terminal back as it was."""
    columns, rows = shutil.get_terminal_size()
    words = f"strata.cgroup={cgroup} strata.shell={rows}x{columns}"
    command = qemu_command(find_kernel(), image, image.parent / "console.log", "mon:stdio", words)
    return subprocess.run(command, check=False, preexec_fn=die_with_parent).returncode


def one_command(image: Path, cgroup: int, command: list[str], timeout: float) -> int:
    machine = Machine(find_kernel(), image, image.parent, cgroup)
    try:
        done = machine.run(command[0] if len(command) == 1 else shlex.join(command), timeout)
    finally:
        machine.close()
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    return done.status


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--cgroup", type=int, choices=(1, 2), default=2, help="version of control groups")
    parser.add_argument("--add", type=Path, action="append", default=[], help="a program to have in /bin")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that a command may take")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="with its arguments; none: a shell")
    asked = parser.parse_args()
    command = asked.command[1:] if asked.command[:1] == ["--"] else asked.command
    if not command and not sys.stdin.isatty():
        parser.error("a shell needs a terminal: give a command")
    # Asked to end, it still removes what it made.
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="strata-numa-") as folder:
        try:
            image = build_image(Path(folder), asked.add)
        except (Missing, OSError) as why:
            print(f"boot.py: {why}", file=sys.stderr)
            return 1
        if command:
            return one_command(image, asked.cgroup, command, asked.timeout)
        return shell(image, asked.cgroup)


if __name__ == "__main__":
    sys.exit(main())
