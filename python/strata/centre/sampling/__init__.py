"""Samples of what nodes and jobs do: a light sampler, and what its files say."""
