"""Logs of outages: their form, what they may say, and how messy ones are read."""
