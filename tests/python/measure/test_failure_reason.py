"""What a failed program said, told apart from its launcher's paragraphs. The outputs are real ones."""

from __future__ import annotations

import pytest

from strata.measure.failure_reason import own_lines, reason_line

OWN = "This solver runs on an odd number of ranks, not 2"
RULE = "-" * 74
RETURNED = f"""{OWN}
{RULE}
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
{RULE}
{RULE}
mpirun.openmpi detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[441,1],1]
  Exit code:    3
{RULE}
"""
ABORTED = f"""{OWN}
{RULE}
MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
with errorcode 3.

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
You may or may not see output from other processes, depending on
exactly when Open MPI kills them.
{RULE}
[vm:27990] 1 more process has sent help message help-mpi-api.txt / mpi-abort
[vm:27990] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
"""
MPICH = f"""{OWN}
Abort(3) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3) - process 0
Abort(3) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3) - process 1
"""
HYDRA = f"""{OWN}

===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 4711 RUNNING AT vm
=   EXIT CODE: 3
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
"""
SLURM = f"{OWN}\nsrun: error: n1: task 0: Exited with exit code 3\nslurmstepd: error: *** STEP 1.0 ***\n"


@pytest.mark.parametrize("said", [RETURNED, ABORTED, MPICH, HYDRA, SLURM])
def test_the_programs_own_line_is_found_before_its_launchers_paragraphs(said: str) -> None:
    assert own_lines(said) == [OWN]
    assert reason_line(said) == OWN


def test_a_ruled_box_of_the_program_itself_is_its_own() -> None:
    boxed = f"{RULE}\nERROR: 6 processes cannot form a square\n{RULE}\n" + ABORTED.split("\n", 1)[1]
    assert reason_line(boxed) == "ERROR: 6 processes cannot form a square"


@pytest.mark.parametrize(
    "lines, last",
    [
        (("step 1", "error: no such case", "bye"), "error: no such case"),
        (("8 ranks", "number of ranks must be a cube", "bye"), "number of ranks must be a cube"),
        (("one", "two"), "two"),
        (("", "---"), "it printed nothing"),
    ],
)
def test_an_error_goes_before_a_demand_and_that_before_the_last_line(
    lines: tuple[str, ...], last: str
) -> None:
    assert reason_line("\n".join(lines)) == last


def test_where_the_program_said_nothing_the_launchers_words_are_better_than_none() -> None:
    assert reason_line("srun: error: n1: task 0: Exited with exit code 3\n").startswith("srun: error")
