// Says what the launcher gave it: affinity, variables and, built with OpenMP, where each thread may run; one
// line each.
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

static std::string affinity() {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return text;
}

int main() {
    std::string text = "process " + affinity() + "\n";
    for (const char* name : {"STRATA_RANK", "STRATA_SIZE", "STRATA_LAYOUT", "STRATA_STRIDE", "STRATA_BIND",
                             "STRATA_CPUS", "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND",
                             "OPENBLAS_NUM_THREADS", "GOMP_CPU_AFFINITY", "STRATA_LIFELINE_FD"}) {
        const char* value = std::getenv(name);
        text += std::string(name) + " " + (value == nullptr ? "unset" : value) + "\n";
    }
#ifdef _OPENMP
    std::vector<std::string> threads(static_cast<size_t>(omp_get_max_threads()));
#pragma omp parallel
    threads[static_cast<size_t>(omp_get_thread_num())] = affinity();
    for (const std::string& thread : threads) text += "thread " + thread + "\n";
#endif
    // One write, so that the lines of several processes do not mix.
    return write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
}
