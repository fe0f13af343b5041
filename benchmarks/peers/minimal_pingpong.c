// The least that a ping-pong can be: MPI_Send and MPI_Recv in a loop, nothing checked. The best of many batches. The message starts
// on a page, as ours does: where the MPI copies from process to process page by page, one that does not pays for a page more.
//   mpicc -O2 minimal_pingpong.c -o minimal_pingpong
//   mpirun -n 2 --bind-to core ./minimal_pingpong BYTES ITERATIONS BATCHES   -> one-way microseconds
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const int bytes = atoi(argv[1]), iterations = atoi(argv[2]), batches = atoi(argv[3]);
    void* buffer = NULL;
    if (posix_memalign(&buffer, (size_t)sysconf(_SC_PAGESIZE), (size_t)bytes + 1) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(buffer, 0, (size_t)bytes + 1);
    double best = 1e300;
    for (int batch = 0; batch < batches && rank < 2; ++batch) {
        const double start = MPI_Wtime();
        for (int i = 0; i < iterations; ++i) {
            if (rank == 0) {
                MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
                MPI_Recv(buffer, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buffer, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            }
        }
        const double time = (MPI_Wtime() - start) / iterations / 2;
        if (time < best) best = time;
    }
    if (rank == 0) printf("%.6g\n", best * 1e6);
    free(buffer);
    MPI_Finalize();
    return 0;
}
