#include "benchmarks/integrity/bigint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace strata::integrity {
namespace {

__extension__ using Wide = unsigned __int128;
using Limbs = std::span<const std::uint64_t>;
using Room = std::span<std::uint64_t>;

constexpr std::size_t kShort = 32;
constexpr int kProducts = 16;

/// a += b from its lowest limb on; the carry runs on in a.
void add(Room a, Limbs b) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < a.size() && (i < b.size() || carry != 0); ++i) {
        const Wide sum = static_cast<Wide>(a[i]) + (i < b.size() ? b[i] : 0) + carry;
        a[i] = static_cast<std::uint64_t>(sum);
        carry = static_cast<std::uint64_t>(sum >> 64U);
    }
}

void subtract(Room a, Limbs b) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < a.size() && (i < b.size() || borrow != 0); ++i) {
        const Wide difference = static_cast<Wide>(a[i]) - (i < b.size() ? b[i] : 0) - borrow;
        a[i] = static_cast<std::uint64_t>(difference);
        borrow = static_cast<std::uint64_t>(difference >> 64U) & 1U;
    }
}

/// to = |a - b|; true where b is the larger.
bool distance(Limbs a, Limbs b, Room to) {
    const bool less = std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
    const Limbs larger = less ? b : a, smaller = less ? a : b;
    std::copy(larger.begin(), larger.end(), to.begin());
    subtract(to, smaller);
    return less;
}

void short_product(Limbs a, Limbs b, Room product) {
    std::fill(product.begin(), product.end(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        Wide carry = 0;
        for (std::size_t j = 0; j < b.size(); ++j) {
            carry += static_cast<Wide>(a[i]) * b[j] + product[i + j];
            product[i + j] = static_cast<std::uint64_t>(carry);
            carry >>= 64U;
        }
        product[i + b.size()] = static_cast<std::uint64_t>(carry);
    }
}

/// Products of a chain: each next pair of factors is the halves of the product before.
template <class Limb, class Multiply>
void chain(const Round& round, Trace& trace, const Multiply& multiply) {
    constexpr std::size_t limbs = kLimbs * sizeof(std::uint64_t) / sizeof(Limb);
    const auto all = round.room<Limb>();
    const auto a = all.subspan(0, limbs), b = all.subspan(limbs, limbs),
               product = all.subspan(2 * limbs, 2 * limbs);
    Random random(round.seed);
    for (std::size_t i = 0; i < 2 * kLimbs; ++i) {
        const std::uint64_t word = random.next();
        std::memcpy(round.scratch.data() + 8 * i, &word, 8);
    }
    for (int i = 0; i < kProducts; ++i) {
        multiply(a, b, product, all.subspan(4 * limbs, 4 * limbs));
        trace.add(digest_of(product));
        trace.did(kLimbs * kLimbs);
        std::copy_n(product.begin(), 2 * limbs, a.begin());
        a[0] |= 1U;
        b[limbs - 1] |= Limb{1} << (8 * sizeof(Limb) - 1);
    }
}

}  // namespace

void karatsuba(Limbs a, Limbs b, Room product, Room room) {
    const std::size_t n = a.size(), h = n / 2;
    if (n <= kShort) return short_product(a, b, product);
    const Limbs a0 = a.first(h), a1 = a.subspan(h), b0 = b.first(h), b1 = b.subspan(h);
    const Room differences = room.first(n), middle = room.subspan(n, n), rest = room.subspan(2 * n);
    const bool minus = distance(a0, a1, differences.first(h)) != distance(b1, b0, differences.subspan(h));
    karatsuba(differences.first(h), differences.subspan(h), middle, rest);
    karatsuba(a0, b0, product.first(n), rest);
    karatsuba(a1, b1, product.subspan(n), rest);
    // a0 b1 + a1 b0 = a0 b0 + a1 b1 + (a0 - a1)(b1 - b0)
    const Room sum = rest.first(n + 1);
    std::copy_n(product.begin(), n, sum.begin());
    sum[n] = 0;
    add(sum, product.subspan(n));
    minus ? subtract(sum, middle) : add(sum, middle);
    add(product.subspan(h), sum);
}

void school_product(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                    std::span<std::uint32_t> product) {
    std::fill(product.begin(), product.end(), 0U);
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; j < b.size(); ++j) {
            carry += std::uint64_t{a[i]} * b[j] + product[i + j];
            product[i + j] = static_cast<std::uint32_t>(carry);
            carry >>= 32U;
        }
        product[i + b.size()] = static_cast<std::uint32_t>(carry);
    }
}

bool bigint(const Round& round, Trace& trace) {
    chain<std::uint64_t>(round, trace, karatsuba);
    return true;
}

bool bigint_reference(const Round& round, Trace& trace) {
    chain<std::uint32_t>(round, trace,
                         [](auto a, auto b, auto product, auto) { school_product(a, b, product); });
    return true;
}

std::string bigint_place(int step) { return fmt::format("product {} of {}", step + 1, kProducts); }

}  // namespace strata::integrity
