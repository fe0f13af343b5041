"""How sure an interval is, and the fewest samples that have one."""

LEVEL = 0.95
# The smallest n for which stats.rank_for(n) exists at LEVEL; asserted by a test against the exact binomial.
LEAST = 6
