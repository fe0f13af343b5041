// STREAM's four kernels (McCalpin 1995) on one thread's part of the arrays.
#pragma once

#include <cstddef>

namespace strata::bench::hpcc {

/// How results go to memory: through the caches, or past them. Past them a store need not first read the line
/// it overwrites, a quarter to a third of the traffic; through them wins where the arrays or a share of them
/// stay cached.
enum class Stores { cached, streaming };

/// Elements of a part must start on multiples of this, so that streaming stores fill whole cache lines.
inline constexpr std::size_t kLineDoubles = 8;

/// c = a; b = q c; c = a + b; a = b + q c. Parts do not overlap; pointers are aligned to 64 bytes.
void copy(double* c, const double* a, std::size_t n, Stores stores) noexcept;
void scale(double* b, const double* c, double q, std::size_t n, Stores stores) noexcept;
void add(double* c, const double* a, const double* b, std::size_t n, Stores stores) noexcept;
void triad(double* a, const double* b, const double* c, double q, std::size_t n, Stores stores) noexcept;

/// Whether this processor has stores that go past the caches.
[[nodiscard]] bool has_streaming_stores() noexcept;

}  // namespace strata::bench::hpcc
