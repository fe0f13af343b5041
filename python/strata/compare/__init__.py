"""`strata report compare`: two sets of results side by side, and what may be said of their difference."""
