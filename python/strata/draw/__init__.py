"""The drawing of a machine: packages, domains, shared caches, cores, PUs, memories and devices as one SVG."""

from strata.draw.machine import machine_svg

__all__ = ["machine_svg"]
