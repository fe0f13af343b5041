"""Puts the made results and the engine's fakes on the import path."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "measure"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
