"""In which order tasks run: interleaved, shuffled anew in every block, and the same again for the same seed.

Running all repeats of one task together would let a slow drift of the machine (heat, a nightly job) look like
a difference between tasks. In a block every task runs once, so drift falls on all of them alike; the shuffle
removes the effect of a fixed predecessor (G. E. P. Box, J. S. Hunter, W. G. Hunter, Statistics for
Experimenters, 2nd ed., 2005, chapter 4: randomised blocks).
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence


def fresh_seed() -> int:
    """A seed for a new plan; it is stored with the plan so that the order can be told afterwards."""
    return secrets.randbits(32)


def block_order(tasks: Sequence[str], seed: int, block: int, attempt: int = 0) -> list[str]:
    """The order of one block. It depends on (seed, block, attempt) only, so a resumed plan goes on in the
    same order.
    """
    order = sorted(tasks)
    random.Random(f"{seed}/{block}/{attempt}").shuffle(order)
    return order
