// The threads of this process, which a fork would not copy.
#pragma once

#include <string>
#include <vector>

namespace strata::team::mlp {

/// Tells the loaded OpenMP runtime, if any, to end its idle threads; it starts new ones with the next
/// parallel region. False when it refused (e.g. inside a parallel region).
bool release_openmp_threads();

/// The names of the other threads of this process; waits up to a second for those that are ending.
[[nodiscard]] std::vector<std::string> other_threads();

/// Sets the number of threads of the next parallel regions; no effect where no OpenMP runtime is loaded.
void set_openmp_threads(int threads);

/// Whether the loaded OpenMP runtime, if any, binds threads by itself (OMP_PROC_BIND).
[[nodiscard]] bool openmp_binds();

}  // namespace strata::team::mlp
