"""How a machine was used: what a log of jobs says."""
