"""The measuring engine: how often, in which order, and what counts as an undisturbed measurement. README.md
maps the folder.
"""
