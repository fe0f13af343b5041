"""What the facts and the samples of a machine mean for the person who uses it: findings, and layouts to start
from.

Pure functions of the machine document and the summary; nothing here reads the system, so all of it is tested
on machines that nobody owns.
"""
