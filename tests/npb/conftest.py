"""Puts the helpers of the benchmarks' tests on the import path."""

import sys
from pathlib import Path

HELPERS = str(Path(__file__).resolve().parents[1] / "benchmarks")
if HELPERS not in sys.path:
    sys.path.insert(0, HELPERS)
