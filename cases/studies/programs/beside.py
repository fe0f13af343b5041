"""beside.py nothing|integrity PROGRAM WORDS: runs a Strata benchmark, with or without strata-integrity on all cores meanwhile.

The background starts a second before, on all CPUs of this machine and not on those of the benchmark alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    beside, *words = sys.argv[1:]
    if beside == "nothing":
        time.sleep(1)
        return subprocess.run(words).returncode
    program = next(
        (p for p in (Path(words[0]).with_name("strata-integrity"),) if p.is_file()), Path("strata-integrity")
    )
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))  # those that do not exist are left out by the kernel
    # Without a rank's number: it is no part of the program whose placement is read back.
    environment = {name: value for name, value in os.environ.items() if name != "STRATA_RANK"}
    background = subprocess.Popen(
        [str(program), "--memory", "256MiB"], stdout=subprocess.DEVNULL, env=environment
    )
    os.sched_setaffinity(0, mine)
    try:
        time.sleep(1)
        if background.poll() is not None:
            return 1
        return subprocess.run(words).returncode
    finally:
        background.terminate()
        background.wait()


if __name__ == "__main__":
    sys.exit(main())
