// Eight doubles at once, by the vector extension of GCC and Clang: one AVX-512 register, or two or four
// smaller ones where the processor has no such units.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace strata::npb {

inline constexpr int kLanes = 8;
using Vec = double __attribute__((vector_size(64)));
using Bits = std::uint64_t __attribute__((vector_size(64)));
using Mask = std::int64_t __attribute__((vector_size(64)));

[[nodiscard]] inline Vec load(const double* p) {
    Vec v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store(double* p, Vec v) { std::memcpy(p, &v, sizeof v); }

[[nodiscard]] inline Vec broadcast(double value) { return Vec{} + value; }

[[nodiscard]] inline Vec sqrt(Vec v) {
    Vec root;
    for (int i = 0; i < kLanes; ++i) root[i] = __builtin_sqrt(v[i]);
    return root;
}

[[nodiscard]] inline double sum(Vec v) {
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

[[nodiscard]] inline bool any(Mask mask) {
    std::int64_t found = 0;
    for (int i = 0; i < kLanes; ++i) found |= mask[i];
    return found != 0;
}

}  // namespace strata::npb
