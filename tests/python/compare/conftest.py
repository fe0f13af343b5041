"""Puts the made results, the engine's fakes and the synthetic machines on the import path."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "measure", HERE.parents[1] / "fixtures", HERE.parents[2] / "python"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
