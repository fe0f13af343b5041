"""Plots as SVG text whose colours are variables, so that one drawing serves the light page, the dark page and
print.
"""
