"""A site's cluster: its partitions and habits (site.toml), and job scripts for it."""
