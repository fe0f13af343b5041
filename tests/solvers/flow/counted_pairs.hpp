// What operations on lanes tell core/lanes/registers.hpp is added up, for each thread.
#pragma once

#include <array>
#include <cstddef>

namespace strata {

inline thread_local std::array<long long, kOperations> counted_operations{};
inline void count_operations(Operation kind, int doubles) {
    counted_operations[static_cast<std::size_t>(kind)] += doubles;
}

}  // namespace strata
