"""The options of each command of the Python side. What a command does is in the package of its name."""
