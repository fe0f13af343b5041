// Says where each of its threads may run and runs, one line a process:
//   rank 0 child 0: 0@0 1@1        (allowed PUs @ PU, of each thread in order)
// Built plain, with OpenMP, and with MPI (-DUSE_MPI); `placed forks N` starts N children that say the same.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef USE_MPI
#include <mpi.h>
#endif

static std::string here() {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return text + "@" + std::to_string(sched_getcpu());
}

static void say(int rank, int child) {
    std::vector<std::string> threads(1, here());
#ifdef _OPENMP
    threads.assign(static_cast<size_t>(omp_get_max_threads()), "");
#pragma omp parallel
    threads[static_cast<size_t>(omp_get_thread_num())] = here();
#endif
    std::string text = "rank " + std::to_string(rank) + " child " + std::to_string(child) + ":";
    for (const std::string& thread : threads) text += " " + thread;
    text += "\n";
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) std::exit(1);
}

int main(int argc, char** argv) {
    const char* said = std::getenv("STRATA_RANK");
    int rank = said == nullptr ? -1 : std::atoi(said);
#ifdef USE_MPI
    MPI_Init(&argc, &argv);
    int of_mpi = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &of_mpi);
    if (of_mpi != rank) std::fprintf(stderr, "STRATA_RANK is %d in MPI's rank %d\n", rank, of_mpi);
    rank = of_mpi;
#endif
    const int children = argc > 2 && std::strcmp(argv[1], "forks") == 0 ? std::atoi(argv[2]) : 0;
    for (int child = 1; child <= children; ++child)
        if (fork() == 0) {
            say(rank, child);
            std::_Exit(0);
        }
    while (wait(nullptr) > 0) {
    }
    say(rank, 0);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    return 0;
}
