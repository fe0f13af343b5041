// Vector units: every lane computes its own chain of integers and of floating-point numbers, all from other
// values. Integer chains are multiplications, additions, shifts, rotations and permutations. Floating-point
// chains are the logistic map x -> r (x - x^2) by fused multiply-add, where an error of the last bit grows at
// every step, with a root and a division of each x added up as integers. All these operations are exact or
// rounded as IEEE 754 says, so scalar code finds the same bits.
#pragma once

#include <array>
#include <cstdint>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

/// Independent registers of state, so that the units are kept busy.
inline constexpr int kChains = 4;

/// The state of N lanes of 64 bits.
template <int N>
struct IntegerLanes {
    alignas(64) std::array<std::array<std::uint64_t, N>, kChains> x, sum;
    std::array<std::array<std::uint64_t, N>, kChains> factor, addend;
};

/// The state of N lanes of Real; `bits` adds up what was computed, as integers.
template <class Real, class Bits, int N>
struct RealLanes {
    alignas(64) std::array<std::array<Real, N>, kChains> x;
    alignas(64) std::array<std::array<Bits, N>, kChains> bits;
    alignas(64) std::array<std::array<Real, N>, kChains> rate;
};

struct AllLanes256 {
    IntegerLanes<4> integers;
    RealLanes<double, std::uint64_t, 4> doubles;
    RealLanes<float, std::uint32_t, 8> floats;
};
struct AllLanes512 {
    IntegerLanes<8> integers;
    RealLanes<double, std::uint64_t, 8> doubles;
    RealLanes<float, std::uint32_t, 16> floats;
};

/// Iterations of a round, of the integer chains and of the floating-point chains.
inline constexpr std::uint32_t kIntegerIterations = 400'000, kRealIterations = 100'000;

void first_lanes(std::uint64_t seed, AllLanes256& lanes);
void first_lanes(std::uint64_t seed, AllLanes512& lanes);
/// The digests of all lanes: a step a lane.
void add_lanes(const AllLanes256& lanes, Trace& trace);
void add_lanes(const AllLanes512& lanes, Trace& trace);

std::string avx2_missing();
bool avx2(const Round& round, Trace& trace);
bool avx2_reference(const Round& round, Trace& trace);
std::string avx2_place(int step);
std::string avx512_missing();
bool avx512(const Round& round, Trace& trace);
bool avx512_reference(const Round& round, Trace& trace);
std::string avx512_place(int step);

}  // namespace strata::integrity
