#include "benchmarks/integrity/lucas_lehmer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace strata::integrity {
namespace {

__extension__ using Wide = unsigned __int128;

/// Exponents with what is published: those of Mersenne primes (Robinson 1952, Riesel 1957, Hurwitz 1961),
/// whose last residue is 0 from each of the starting values 4 and 10, and prime ones between them, whose
/// numbers are composite.
struct Exponent {
    unsigned p;
    bool prime;
};
constexpr std::array<Exponent, 8> kExponents = {{{2203, true},
                                                 {2281, true},
                                                 {3217, true},
                                                 {4253, true},
                                                 {4423, true},
                                                 {3221, false},
                                                 {4001, false},
                                                 {4259, false}}};
constexpr unsigned kParts = 60;  // residues that the trace keeps, beside the last

struct Start {
    Exponent exponent;
    std::uint64_t s0;
};

Start start_of(std::uint64_t seed) {
    Random random(seed);
    const Exponent exponent = kExponents[random.below(kExponents.size())];
    if (exponent.prime)
        return {exponent, lucas_lehmer_start(static_cast<unsigned>(random.below(kLucasLehmerStarts)))};
    return {exponent, 3 + random.below(1U << 30U)};
}

std::uint64_t work_of(unsigned p) { return std::uint64_t{p - 2} * mersenne_limbs(p) * mersenne_limbs(p); }

/// All residues of a round: `step` makes the next one of `s`.
template <class Limb, class Step>
void residues(const Start& start, std::span<Limb> s, Trace& trace, const Step& step) {
    std::fill(s.begin(), s.end(), Limb{0});
    std::memcpy(s.data(), &start.s0, sizeof start.s0);
    const unsigned last = start.exponent.p - 2, every = last / kParts + 1;
    for (unsigned i = 1; i <= last; ++i) {
        step(s);
        if (i % every == 0 || i == last) trace.add(digest_of(s, i));
    }
    trace.did(work_of(start.exponent.p));
}

}  // namespace

std::uint64_t lucas_lehmer_start(unsigned which) {
    const bool ten = which >= kStartsOfFour;
    std::uint64_t before = ten ? 10 : 4, value = before;
    for (unsigned i = ten ? kStartsOfFour : 0; i < which; ++i) {
        const std::uint64_t next = (ten ? 98 : 14) * value - before;
        before = value;
        value = next;
    }
    return value;
}

void lucas_lehmer_step(unsigned p, std::span<std::uint64_t> s, std::span<std::uint64_t> product) {
    const std::size_t n = mersenne_limbs(p);
    std::fill_n(product.begin(), n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        Wide carry = 0;
        const std::uint64_t x = s[i];
        for (std::size_t j = 0; j < n; ++j) {
            carry += static_cast<Wide>(x) * s[j] + product[i + j];
            product[i + j] = static_cast<std::uint64_t>(carry);
            carry >>= 64U;
        }
        product[i + n] = static_cast<std::uint64_t>(carry);
    }
    // 2^p = 1: what lies above bit p is added to what lies below.
    const unsigned limb = p / 64, shift = p % 64;
    const std::uint64_t top = (std::uint64_t{1} << shift) - 1;
    Wide carry = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t above = product[limb + i] >> shift,
                            next = limb + i + 1 < 2 * n ? product[limb + i + 1] << (64 - shift) : 0;
        carry += static_cast<Wide>(i == limb ? product[i] & top : product[i]) + (above | next);
        s[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64U;
    }
    const auto reduce = [&] {
        Wide over = s[limb] >> shift;
        s[limb] &= top;
        for (std::size_t i = 0; i < n && over != 0; ++i) {
            over += s[i];
            s[i] = static_cast<std::uint64_t>(over);
            over >>= 64U;
        }
    };
    reduce();
    // Less two, as plus M(p) - 2: nothing borrows.
    carry = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t all = i == limb ? top : ~std::uint64_t{0};
        carry += static_cast<Wide>(s[i]) + (i == 0 ? all - 2 : all);
        s[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64U;
    }
    reduce();
    reduce();
    // M(p) itself is 0.
    const bool whole = s[limb] == top && std::all_of(s.begin(), s.begin() + limb, [](std::uint64_t word) {
                           return word == ~std::uint64_t{0};
                       });
    if (whole) std::fill(s.begin(), s.end(), 0);
}

void lucas_lehmer_step_reference(unsigned p, std::span<std::uint32_t> s, std::span<std::uint32_t> product) {
    const std::size_t n = s.size();
    std::fill(product.begin(), product.end(), 0U);
    for (std::size_t column = 0; column + 1 < 2 * n; ++column) {
        std::uint64_t low = 0, high = 0;
        for (std::size_t i = column < n ? 0 : column - n + 1; i < n && i <= column; ++i) {
            const std::uint64_t one = std::uint64_t{s[i]} * s[column - i];
            low += one & 0xffffffffU;
            high += one >> 32U;
        }
        for (std::size_t at = column; at < 2 * n && (low != 0 || high != 0); ++at) {
            low += product[at];
            product[at] = static_cast<std::uint32_t>(low);
            low = (low >> 32U) + high;
            high = 0;
        }
    }
    const auto bit = [&](std::size_t at) {
        return at / 32 < 2 * n ? (product[at / 32] >> (at % 32)) & 1U : 0U;
    };
    // Low and high halves, added bit by bit with the carry around the end; then less two the same way.
    const auto add_around = [&](const auto& addend) {
        for (unsigned carry = 0, pass = 0; pass == 0 || carry != 0; ++pass) {
            for (unsigned at = 0; at < p; ++at) {
                const unsigned sum = ((s[at / 32] >> (at % 32)) & 1U) + (pass == 0 ? addend(at) : 0U) + carry;
                s[at / 32] = (s[at / 32] & ~(1U << (at % 32))) | ((sum & 1U) << (at % 32));
                carry = sum >> 1U;
            }
        }
    };
    std::fill(s.begin(), s.end(), 0U);
    add_around([&](unsigned at) { return bit(at); });
    add_around([&](unsigned at) { return bit(at + p); });
    add_around([](unsigned at) { return at == 1 ? 0U : 1U; });
    bool whole = true;
    for (unsigned at = 0; at < p; ++at) whole = whole && ((s[at / 32] >> (at % 32)) & 1U) != 0;
    if (whole) std::fill(s.begin(), s.end(), 0U);
}

bool lucas_lehmer(const Round& round, Trace& trace) {
    const Start start = start_of(round.seed);
    const std::size_t n = mersenne_limbs(start.exponent.p);
    const auto s = round.room<std::uint64_t>().subspan(0, n),
               product = round.room<std::uint64_t>().subspan(n, 2 * n);
    residues(start, s, trace,
             [&](std::span<std::uint64_t> x) { lucas_lehmer_step(start.exponent.p, x, product); });
    if (start.exponent.prime)
        for (const std::uint64_t word : s) trace.expect(static_cast<int>(trace.steps()) - 1, 0, word);
    return true;
}

bool lucas_lehmer_reference(const Round& round, Trace& trace) {
    const Start start = start_of(round.seed);
    const std::size_t n = 2 * mersenne_limbs(start.exponent.p);  // as many bytes: the same digests
    const auto s = round.room<std::uint32_t>().subspan(0, n),
               product = round.room<std::uint32_t>().subspan(n, 2 * n);
    residues(start, s, trace,
             [&](std::span<std::uint32_t> x) { lucas_lehmer_step_reference(start.exponent.p, x, product); });
    return true;
}

std::string lucas_lehmer_place(int step) { return fmt::format("residue {} of {}", step + 1, kParts); }

}  // namespace strata::integrity
