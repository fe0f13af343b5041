"""`python -m strata ...`: what the native front starts for every command that needs Python."""

import signal
import sys

from strata.cli import main

if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        # The command is over: an interrupt of the interpreter's end would be a traceback.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
