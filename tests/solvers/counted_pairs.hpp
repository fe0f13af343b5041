// What operations on lanes tell core/base/registers.hpp is added up, for each thread.
#pragma once

namespace strata {

inline thread_local long long counted_operations = 0;
inline void count_operations(int doubles) { counted_operations += doubles; }

}  // namespace strata
