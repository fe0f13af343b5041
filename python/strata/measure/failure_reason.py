"""What a failed program said of why it failed, told apart from what its launcher adds.

MPI launchers follow a program's last words with paragraphs about themselves, some of which speak of errors
and aborts. The program's own line is what its user can act on.
"""

from __future__ import annotations

import re

_ERROR = re.compile(r"\b(error|fatal|abort|aborted|failed|failure|terminate)\b", re.IGNORECASE)
_DEMAND = re.compile(r"\b(must|needs?|requires?|only|cannot|can't|invalid|unsupported)\b", re.IGNORECASE)
_RULE = re.compile(r"^[-=*_\s]{20,}$")

# Paragraphs between two ruled lines that Open MPI and PRRTE print of themselves.
_PARAGRAPH = re.compile(
    r"MPI_ABORT was invoked|"
    r"\b(mpirun|mpiexec|prterun|orterun)(\.\w+)? (detected|noticed|has exited|was unable)|"
    r"Primary job +terminated|BAD TERMINATION OF ONE OF YOUR|CLEANING UP REMAINING"
)
# Lines of launchers and MPI libraries: Open MPI, MPICH's Hydra, Intel MPI, Slurm.
_LINE = re.compile(
    r"^\[[^\]]*:\d+\]|^\[(mpiexec|proxy|unset|cli_)|^=\s|^=+$|application called MPI_Abort|"
    r"^Abort\(\d+\) on node|^(srun|slurmstepd|mpirun|mpiexec|prterun|PMI2?):|^internal ABORT|"
    r"^YOUR APPLICATION TERMINATED|^This typically refers to a problem with your|"
    r"^Please see the FAQ page|^MPI_ABORT was invoked|^with errorcode \d|"
    r"^NOTE: invoking MPI_ABORT|^You may or may not see output|^exactly when Open MPI kills"
)


def own_lines(said: str) -> list[str]:
    """The lines of an output that hold a word and are no launcher's."""
    kept: list[str] = []
    lines = [line.strip() for line in said.splitlines()]
    i = 0
    while i < len(lines):
        if _RULE.match(lines[i]):
            end = next((j for j in range(i + 1, len(lines)) if _RULE.match(lines[j])), len(lines))
            if _PARAGRAPH.search("\n".join(lines[i:end])):
                i = end + 1
                continue
        kept.append(lines[i])
        i += 1
    return [line for line in kept if any(c.isalnum() for c in line) and not _LINE.search(line)]


def reason_line(said: str) -> str:
    """The line that says most of why a program failed: its own last one that speaks of an error, else of what
    it needs, else its last; the launcher's where the program said nothing.
    """
    every = [line.strip() for line in said.splitlines() if any(c.isalnum() for c in line)]
    for lines in (own_lines(said), every):
        errors = [line for line in lines if _ERROR.search(line)]
        demands = [line for line in lines if _DEMAND.search(line)]
        if lines:
            return (errors or demands or lines)[-1]
    return "it printed nothing"
