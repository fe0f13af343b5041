"""Processors that nobody uses, tested: what was done, what was found, and what follows from it."""
