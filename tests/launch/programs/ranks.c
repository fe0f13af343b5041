/* An MPI program: each rank says where it may run; then computes for SECONDS; rank FAILS, if given, ends with
 * status 3. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    char list[256] = "";
    for (int cpu = 0, n = 0; cpu < CPU_SETSIZE && n < 240; ++cpu)
        if (CPU_ISSET(cpu, &set)) n += snprintf(list + n, sizeof list - (size_t)n, "%s%d", n ? "," : "", cpu);
    printf("rank %d of %d on %s STRATA_RANK=%s sum %d\n", rank, size, list, getenv("STRATA_RANK"), sum);
    fflush(stdout);
    const double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 0);
    volatile double x = 1;
    while (MPI_Wtime() < end)
        for (int i = 0; i < 10000; ++i) x = x * 1.0000001 + 1e-9;
    if (argc > 2 && atoi(argv[2]) == rank) exit(3);
    MPI_Finalize();
    return 0;
}
