"""Strata's people-facing half: measuring, characterizing, reporting. It drives the native programs and knows
nothing of kernels.
"""

__version__ = "0.1.0"
