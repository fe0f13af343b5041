// What the vector kernels begin with, their digests, and the scalar code that finds the same bits: this file
// is compiled without vectors of the compiler's own.
#include "benchmarks/integrity/lanes.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace strata::integrity {
namespace {

template <class Lanes>
void first(std::uint64_t seed, Lanes& lanes) {
    Random random(seed);
    for (int c = 0; c < kChains; ++c) {
        for (std::size_t i = 0; i < lanes.integers.x[0].size(); ++i) {
            lanes.integers.x[c][i] = random.next();
            lanes.integers.sum[c][i] = random.next();
            lanes.integers.factor[c][i] = random.next() | 5U;
            lanes.integers.addend[c][i] = random.next() | 1U;
        }
        const auto reals = [&]<class Real, class Bits, int N>(RealLanes<Real, Bits, N>& real) {
            for (int i = 0; i < N; ++i) {
                real.x[c][i] = static_cast<Real>(0.1 + 0.8 * random.unit());
                real.rate[c][i] = static_cast<Real>(3.9 + 0.09 * random.unit());  // chaos, within (0, 1)
                real.bits[c][i] = static_cast<Bits>(random.next());
            }
        };
        reals(lanes.doubles);
        reals(lanes.floats);
    }
}

template <int N>
std::uint64_t of_lane(const IntegerLanes<N>& lanes, int i) {
    std::uint64_t all = 0;
    for (int c = 0; c < kChains; ++c) all = mixed(mixed(all ^ lanes.x[c][i]) ^ lanes.sum[c][i]);
    return all;
}

template <class Real, class Bits, int N>
std::uint64_t of_lane(const RealLanes<Real, Bits, N>& lanes, int i) {
    std::uint64_t all = 0;
    for (int c = 0; c < kChains; ++c)
        all = mixed(mixed(all ^ std::bit_cast<Bits>(lanes.x[c][i])) ^ lanes.bits[c][i]);
    return all;
}

template <class Lanes>
void add(const Lanes& lanes, Trace& trace) {
    const auto each = [&]<class L>(const L& some, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) trace.add(of_lane(some, static_cast<int>(i)));
    };
    each(lanes.integers, lanes.integers.x[0].size());
    each(lanes.doubles, lanes.doubles.x[0].size());
    each(lanes.floats, lanes.floats.x[0].size());
    trace.did((kIntegerIterations * lanes.integers.x[0].size() +
               kRealIterations * (lanes.doubles.x[0].size() + lanes.floats.x[0].size())) *
              kChains);
}

template <int N>
void integers(IntegerLanes<N>& lanes, std::uint32_t iterations) {
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c) {
            for (int i = 0; i < N; ++i) {
                std::uint64_t x = lanes.x[c][i];
                x = x * lanes.factor[c][i] + lanes.addend[c][i];
                x ^= x >> 29U;
                lanes.x[c][i] = std::rotl(x, 17);
            }
            // Lane i adds what lane i + 1 has.
            for (int i = 0; i < N; ++i) lanes.sum[c][i] += lanes.x[c][(i + 1) % N];
        }
}

template <class Real, class Bits, int N>
void reals(RealLanes<Real, Bits, N>& lanes, std::uint32_t iterations) {
    for (std::uint32_t n = 0; n < iterations; ++n)
        for (int c = 0; c < kChains; ++c)
            for (int i = 0; i < N; ++i) {
                const Real x = lanes.x[c][i];
                lanes.x[c][i] = lanes.rate[c][i] * std::fma(-x, x, x);
                lanes.bits[c][i] +=
                    std::bit_cast<Bits>(std::sqrt(x)) ^ std::bit_cast<Bits>(lanes.rate[c][i] / x);
            }
}

template <class Lanes>
bool reference(const Round& round, Trace& trace) {
    auto& lanes = *reinterpret_cast<Lanes*>(round.scratch.data());
    first(round.seed, lanes);
    integers(lanes.integers, kIntegerIterations);
    reals(lanes.doubles, kRealIterations);
    reals(lanes.floats, kRealIterations);
    add(lanes, trace);
    return true;
}

std::string place(int step, int integers, int doubles) {
    if (step < integers) return fmt::format("integer lane {} of {} (64 bits)", step, integers);
    if (step < integers + doubles) return fmt::format("double lane {} of {}", step - integers, doubles);
    return fmt::format("float lane {} of {}", step - integers - doubles, 2 * doubles);
}

}  // namespace

void first_lanes(std::uint64_t seed, AllLanes256& lanes) { first(seed, lanes); }
void first_lanes(std::uint64_t seed, AllLanes512& lanes) { first(seed, lanes); }
void add_lanes(const AllLanes256& lanes, Trace& trace) { add(lanes, trace); }
void add_lanes(const AllLanes512& lanes, Trace& trace) { add(lanes, trace); }

bool avx2_reference(const Round& round, Trace& trace) { return reference<AllLanes256>(round, trace); }
std::string avx2_place(int step) { return place(step, 4, 4); }
bool avx512_reference(const Round& round, Trace& trace) { return reference<AllLanes512>(round, trace); }
std::string avx512_place(int step) { return place(step, 8, 8); }

}  // namespace strata::integrity
