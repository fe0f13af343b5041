// Primes below 2^63 by Miller (1976) and Rabin (1980). With the first twelve primes as bases the test is
// exact for all numbers of 64 bits (Sorenson and Webster 2015).
#pragma once

#include <cstdint>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

/// Whether an odd n, 37 < n < 2^63, is prime, by Montgomery multiplication. `residues` gets what each base
/// left: its power to the odd part of n - 1 goes in, so that not only the verdict is compared.
[[nodiscard]] bool is_prime(std::uint64_t n, std::uint64_t& residues);
/// The same by division.
[[nodiscard]] bool is_prime_reference(std::uint64_t n, std::uint64_t& residues);

bool miller_rabin(const Round& round, Trace& trace);
bool miller_rabin_reference(const Round& round, Trace& trace);
std::string miller_rabin_place(int step);

}  // namespace strata::integrity
