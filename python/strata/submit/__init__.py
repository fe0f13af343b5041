"""`strata submit`: a command as a job of the cluster, with a script that says why."""
