"""`strata tune`: the best layout for a program, with an interval."""
