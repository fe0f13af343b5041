"""Puts the synthetic machines and summaries on the import path."""

import sys
from pathlib import Path

FIXTURES = str(Path(__file__).resolve().parents[2] / "fixtures")
if FIXTURES not in sys.path:
    sys.path.insert(0, FIXTURES)
