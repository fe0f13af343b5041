"""What other tools write comes in, what Strata finds goes out in their forms (docs/interop.md)."""
