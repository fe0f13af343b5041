#include "benchmarks/npb/common/openmp_group.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "benchmarks/common/benchmark.hpp"

namespace strata::npb {

OpenMpGroup::OpenMpGroup() : threads_(bench::thread_count()) {}

void OpenMpGroup::run(Task task, void* held) {
#ifdef _OPENMP
    if (threads_ > 1) {
        const int workers = threads_;
#pragma omp parallel num_threads(workers)
        {
            // The runtime may give fewer threads than were asked for; the parts stay the same.
            for (int w = omp_get_thread_num(); w < workers; w += omp_get_num_threads())
                task(held, w, workers);
        }
        return;
    }
#endif
    task(held, 0, 1);
}

void* OpenMpGroup::allocate(const std::string& name, std::size_t bytes) {
    (void)name;
    // Memory unmaps itself; a vector that grows moves it, which leaves its address as it is.
    memory_.emplace_back(bytes == 0 ? 1 : bytes, bench::Pages::huge);
    return memory_.back().data();
}

}  // namespace strata::npb
