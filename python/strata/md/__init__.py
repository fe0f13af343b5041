"""Molecular dynamics from Python: cases, runs, and what they say. See docs/md.md."""

from strata.md.atoms import Atoms, lattice
from strata.md.cases import Run, run
from strata.run.case import Case, load

__all__ = ["Atoms", "Case", "Run", "lattice", "load", "run"]
