"""What the tests beside this file share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MACHINES = ROOT / "tests" / "fixtures" / "machines"

Run = Callable[..., "subprocess.CompletedProcess[str]"]
