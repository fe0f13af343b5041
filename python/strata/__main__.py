"""`python -m strata ...`: what the native front starts for every command that needs Python."""

import sys

from strata.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
