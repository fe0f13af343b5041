"""Reliability of machines from logs of their outages."""
