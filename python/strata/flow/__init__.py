"""Compressible flow from Python: cases, runs, and how certain their numbers are. See docs/flow.md."""
