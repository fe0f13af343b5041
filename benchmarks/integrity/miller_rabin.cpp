#include "benchmarks/integrity/miller_rabin.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace strata::integrity {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::array<std::uint64_t, 12> kBases = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
constexpr int kPieces = 32, kNumbersAPiece = 256;

/// Arithmetic modulo an odd n below 2^63 on numbers times 2^64 (Montgomery 1985).
class Montgomery {
  public:
    explicit Montgomery(std::uint64_t n) : n_(n) {
        std::uint64_t inverse = n;  // right to 3 bits; each step doubles them
        for (int i = 0; i < 5; ++i) inverse *= 2 - n * inverse;
        minus_inverse_ = -inverse;
        one_ = (~std::uint64_t{0}) % n + 1;
        square_ = static_cast<std::uint64_t>(static_cast<Wide>(one_) * one_ % n);
    }
    [[nodiscard]] std::uint64_t times(std::uint64_t a, std::uint64_t b) const {
        return reduce(static_cast<Wide>(a) * b);
    }
    [[nodiscard]] std::uint64_t from(std::uint64_t a) const { return times(a, square_); }
    [[nodiscard]] std::uint64_t back(std::uint64_t a) const { return reduce(a); }

  private:
    [[nodiscard]] std::uint64_t reduce(Wide t) const {
        const std::uint64_t m = static_cast<std::uint64_t>(t) * minus_inverse_;
        const auto r = static_cast<std::uint64_t>((t + static_cast<Wide>(m) * n_) >> 64U);
        return r >= n_ ? r - n_ : r;
    }
    std::uint64_t n_, minus_inverse_, one_, square_;
};

class Dividing {
  public:
    explicit Dividing(std::uint64_t n) : n_(n) {}
    [[nodiscard]] std::uint64_t times(std::uint64_t a, std::uint64_t b) const {
        return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % n_);
    }
    [[nodiscard]] std::uint64_t from(std::uint64_t a) const { return a; }
    [[nodiscard]] std::uint64_t back(std::uint64_t a) const { return a; }

  private:
    std::uint64_t n_;
};

template <class Arithmetic>
bool prime(std::uint64_t n, std::uint64_t& residues) {
    const Arithmetic modulo(n);
    const int twos = std::countr_zero(n - 1);
    const std::uint64_t odd = (n - 1) >> twos;
    const std::uint64_t one = modulo.from(1), minus_one = modulo.from(n - 1);
    for (const std::uint64_t base : kBases) {
        const std::uint64_t a = modulo.from(base);
        std::uint64_t x = one;
        for (int bit = 63 - std::countl_zero(odd); bit >= 0; --bit) {
            x = modulo.times(x, x);
            if ((odd >> bit & 1U) != 0) x = modulo.times(x, a);
        }
        residues = mixed(residues ^ modulo.back(x));
        bool passes = x == one || x == minus_one;
        for (int i = 1; i < twos && !passes; ++i) {
            x = modulo.times(x, x);
            passes = x == minus_one;
            residues = mixed(residues ^ modulo.back(x));
        }
        if (!passes) return false;
    }
    return true;
}

template <class Arithmetic>
bool numbers(const Round& round, Trace& trace) {
    std::uint64_t n = (Random(round.seed).next() >> 2U) | (std::uint64_t{1} << 61U) | 1U;
    for (int piece = 0; piece < kPieces; ++piece) {
        std::uint64_t residues = n, primes = 0;
        for (int i = 0; i < kNumbersAPiece; ++i, n += 2)
            primes += prime<Arithmetic>(n, residues) ? mixed(n) : 0;
        trace.add(mixed(residues ^ primes) + n);
        trace.did(kNumbersAPiece);
    }
    return true;
}

}  // namespace

bool is_prime(std::uint64_t n, std::uint64_t& residues) { return prime<Montgomery>(n, residues); }
bool is_prime_reference(std::uint64_t n, std::uint64_t& residues) { return prime<Dividing>(n, residues); }

bool miller_rabin(const Round& round, Trace& trace) { return numbers<Montgomery>(round, trace); }
bool miller_rabin_reference(const Round& round, Trace& trace) { return numbers<Dividing>(round, trace); }

std::string miller_rabin_place(int step) {
    return fmt::format("numbers {} to {}", step * kNumbersAPiece, (step + 1) * kNumbersAPiece - 1);
}

}  // namespace strata::integrity
