"""A cluster in a box: real Slurm on nodes that are namespaces of this machine."""
