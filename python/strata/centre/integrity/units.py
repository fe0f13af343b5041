"""Files that have a machine tested for as long as it lives: systemd, cron, and Slurm's health check."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from strata import own_folders, scripts
from strata.errors import StrataError
from strata.measure.files import storage_error, write_atomically

DRAIN = "drain"  # in the state folder: a line that says why no jobs should run here
INSTALL = "./strata setup --install /opt/strata/1.0 as root, and that one"  # a tree that is root's

_SERVICE = """\
# sudo cp strata-integrity.service strata-integrity.timer /etc/systemd/system
# sudo systemctl enable --now strata-integrity.timer
# Root runs the program of ExecStart: nobody else may be able to replace it.
[Unit]
Description=Tests processors that nobody uses

[Service]
Type=simple
ExecStart={command}
# Its end tells nobody that the machine is bad: the health check does.
SuccessExitStatus=1
KillMode=mixed
TimeoutStopSec=30
CPUSchedulingPolicy=idle
CPUWeight=idle
IOSchedulingClass=idle
MemoryMax={memory}
MemorySwapMax=0
OOMScoreAdjust=1000
"""

_TIMER = """\
[Unit]
Description=Tests processors that nobody uses, pass after pass

[Timer]
OnBootSec=10min
OnUnitInactiveSec=1min
RandomizedDelaySec=1min

[Install]
WantedBy=timers.target
"""

_CRON = """\
# Instead of the timer: sudo cp strata-integrity.cron /etc/cron.d/strata-integrity
# A pass that finds another one under way ends at once.
SHELL=/bin/sh
7 * * * * root {command} >/dev/null 2>&1
"""

_HOOK = """\
#!/bin/sh
# Slurm's health check: drains this node when its processors or its memory were found wrong.
#   slurm.conf:  HealthCheckProgram={path}
#                HealthCheckInterval=300
#                HealthCheckNodeState=ANY
# After the repair:  {strata} centre integrity --clear --state {state}
#                    scontrol update NodeName=... State=RESUME
why={state}/{drain}
# Only what root has written speaks against a node.
[ -s "$why" ] && [ -O "$why" ] && [ ! -L "$why" ] || exit 0
node=${{SLURMD_NODENAME:-$(hostname -s)}}
# A node that somebody drained keeps the reason that it has.
scontrol show node "$node" --oneliner | grep -q ' State=[^ ]*DRAIN' && exit 0
exec scontrol update NodeName="$node" State=DRAIN Reason="integrity: $(head -c 200 "$why" | head -n 1)"
"""


def write(folder: Path, strata: str, state: Path, options: list[str], memory: str) -> list[Path]:
    """The files, which say themselves where they go. `options`: of the passes that they start."""
    command = [strata, "centre", "integrity", "--state", str(state), *options]
    hook = folder / "strata-integrity-health.sh"
    if folder.exists() and not folder.is_dir():
        raise StrataError("not a folder", at="--units", given=str(folder), allowed="a folder, also a new one")
    texts = {
        folder / "strata-integrity.service": _SERVICE.format(command=scripts.systemd(command), memory=memory),
        folder / "strata-integrity.timer": _TIMER,
        folder / "strata-integrity.cron": _CRON.format(command=scripts.cron(command)),
        hook: _HOOK.format(
            path=scripts.visible(str(hook)),
            strata=scripts.visible(strata),
            state=shlex.quote(scripts.one_line(str(state), "--state")),
            drain=DRAIN,
        ),
    }
    if os.geteuid() == 0:
        for program in (Path(strata), Path(sys.executable), Path(sys.base_prefix)):
            own_folders.need(program, "programs that root runs", INSTALL)
        own_folders.need(folder, "files for root's services", "--units names a folder of root's")
        own_folders.need(state, "findings", "--state FOLDER names a folder of root's")
    try:
        own_folders.close_umask()
        own_folders.make(folder)
    except OSError as error:
        raise storage_error(error, folder) from error
    for path, text in texts.items():  # slurmd may run the hook meanwhile: it is the old one or the new one
        write_atomically(path, text, mode=0o755 if path == hook else None)
    return list(texts)
