"""Which node of a fleet is slow: quick runs of all nodes, and their robust outliers."""
