"""Runs of solvers, while they go on and afterwards; new solvers."""
