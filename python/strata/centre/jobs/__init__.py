"""Logs of jobs: their forms, and how messy ones are read."""
