"""Studies: programs x values x layouts from one file, measured by the engine, shown in a report."""
