// Several doubles at once.
#pragma once

namespace strata {

/// GCC's and Clang's vectors: one register of 512 bits, two of 256 or four of 128. Arithmetic on them is that
/// of doubles, lane by lane, so the bits are the same on every machine.
inline constexpr int kLanes = 8;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

}  // namespace strata
