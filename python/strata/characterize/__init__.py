"""What to measure on a machine, and the command that measures it and writes the report."""
