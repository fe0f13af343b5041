"""`strata doctor --security`: what of Strata's listens now, and what other users of this machine could do."""
