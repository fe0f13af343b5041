// Mersenne numbers by Lucas and Lehmer: M(p) = 2^p - 1 is prime exactly if s(p-2) = 0, where s(0) = 4 and
// s(i+1) = s(i)^2 - 2 mod M(p). A wrong bit anywhere changes all later residues, which is why the prime
// finder of Slowinski was run on idle Crays, and Prime95 is a test of machines.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

/// Limbs of 64 bits that a residue modulo 2^p - 1 takes.
[[nodiscard]] constexpr std::size_t mersenne_limbs(unsigned p) { return p / 64 + 1; }

/// Values that the sequence may begin with instead of 4, to the same end (OEIS A018844): those of
/// a(i+1) = 14 a(i) - a(i-1) from 4, then those of a(i+1) = 98 a(i) - a(i-1) from 10; all below 2^64.
inline constexpr unsigned kStartsOfFour = 16, kLucasLehmerStarts = 25;
[[nodiscard]] std::uint64_t lucas_lehmer_start(unsigned which);

/// s = s^2 - 2 mod 2^p - 1, fully reduced; `product` has twice the limbs of s. p is not a multiple of 64.
void lucas_lehmer_step(unsigned p, std::span<std::uint64_t> s, std::span<std::uint64_t> product);

/// The same by limbs of 32 bits, and by reducing bit by bit.
void lucas_lehmer_step_reference(unsigned p, std::span<std::uint32_t> s, std::span<std::uint32_t> product);

bool lucas_lehmer(const Round& round, Trace& trace);
bool lucas_lehmer_reference(const Round& round, Trace& trace);
std::string lucas_lehmer_place(int step);

}  // namespace strata::integrity
