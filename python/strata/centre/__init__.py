"""Reports for the people who keep machines in service."""
