#include "benchmarks/integrity/scalar.hpp"

#include <fmt/format.h>

#include <bit>

namespace strata::integrity {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kPieces = 32, kTimesAPiece = 8192;

/// What is found for one pair of operands.
struct Found {
    std::uint64_t quotient, remainder, low, high, shifted, ones, zeros, chosen, converted;
    [[nodiscard]] std::uint64_t all() const {
        std::uint64_t sum = mixed(quotient) + remainder;
        sum = mixed(sum ^ low) + high;
        sum = mixed(sum ^ shifted) + (ones << 8U) + zeros;
        return mixed(sum ^ chosen) + converted;
    }
};

/// Compared as signed numbers, with a jump for each outcome.
std::uint64_t choose(std::uint64_t a, std::uint64_t b) {
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    if (x < y) return a ^ 0x11;
    if ((a & 3U) == 0) return b + 5;
    return a + b;
}

std::uint64_t multiply_low(std::uint64_t a, std::uint64_t b, std::uint64_t& high) {
    std::uint64_t low = 0;
    high = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
        if ((b >> bit & 1U) == 0) continue;
        const std::uint64_t part = a << bit, above = bit == 0 ? 0 : a >> (64 - bit);
        low += part;
        high += above + (low < part ? 1 : 0);
    }
    return low;
}

/// The bits of a double that has the integer's value, for integers below 2^53.
std::uint64_t bits_of_integer(std::uint64_t value) {
    if (value == 0) return 0;
    std::uint64_t exponent = 1023 + 52;
    while ((value >> 52U & 1U) == 0) {
        value <<= 1U;
        --exponent;
    }
    return (exponent << 52U) | (value & ((std::uint64_t{1} << 52U) - 1));
}

template <std::uint64_t (*Answers)(std::uint64_t, std::uint64_t)>
bool chain(const Round& round, Trace& trace) {
    Random random(round.seed);
    std::uint64_t a = random.next(), b = random.next();
    for (int piece = 0; piece < kPieces; ++piece) {
        for (int i = 0; i < kTimesAPiece; ++i) {
            // Divisors of all lengths: quotients of all lengths.
            const std::uint64_t divisor = (b >> (a & 63U)) | 1U;
            const std::uint64_t next = Answers(a, divisor);
            b = std::rotl(b, 23) + a;
            a = next;
        }
        trace.add(mixed(a) ^ b);
        trace.did(kTimesAPiece);
    }
    return true;
}

}  // namespace

std::uint64_t answers(std::uint64_t a, std::uint64_t b) {
    Found found{};
    found.quotient = a / b;
    found.remainder = a % b;
    const Wide product = static_cast<Wide>(a) * b;
    found.low = static_cast<std::uint64_t>(product);
    found.high = static_cast<std::uint64_t>(product >> 64U);
    found.shifted = (a << (b & 63U)) ^ (a >> (b & 63U)) ^ std::rotl(a, static_cast<int>(b & 63U));
    found.ones = static_cast<std::uint64_t>(std::popcount(a));
    found.zeros = static_cast<std::uint64_t>(std::countl_zero(b) + std::countr_zero(b));
    found.chosen = choose(a, b);
    const double whole = static_cast<double>((a >> 38U) * ((b >> 12U) | 1U) % (std::uint64_t{1} << 53U));
    found.converted = std::bit_cast<std::uint64_t>(whole);
    return found.all();
}

std::uint64_t answers_reference(std::uint64_t a, std::uint64_t b) {
    Found found{};
    for (int bit = 63; bit >= 0; --bit) {
        const std::uint64_t carry = found.remainder >> 63U;
        found.remainder = found.remainder << 1U | (a >> bit & 1U);
        if (carry == 0 && found.remainder < b) continue;
        found.remainder -= b;
        found.quotient |= std::uint64_t{1} << bit;
    }
    found.low = multiply_low(a, b, found.high);
    const std::uint64_t shift = b & 63U;
    std::uint64_t left = a, right = a;
    for (std::uint64_t i = 0; i < shift; ++i) {
        left += left;
        right /= 2;
    }
    std::uint64_t turned = left;
    for (std::uint64_t i = 0; i < shift; ++i) turned |= (a >> (64 - shift + i) & 1U) << i;
    found.shifted = left ^ right ^ turned;
    for (std::uint64_t rest = a; rest != 0; rest &= rest - 1) ++found.ones;
    for (std::uint64_t rest = b; (rest >> 63U) == 0; rest <<= 1U) ++found.zeros;
    for (std::uint64_t rest = b; (rest & 1U) == 0; rest >>= 1U) ++found.zeros;
    const std::uint64_t sign = std::uint64_t{1} << 63U;
    found.chosen = (a ^ sign) < (b ^ sign) ? a ^ 0x11 : (a & 3U) == 0 ? b + 5 : a + b;
    std::uint64_t high = 0;
    found.converted =
        bits_of_integer(multiply_low(a >> 38U, (b >> 12U) | 1U, high) % (std::uint64_t{1} << 53U));
    return found.all();
}

bool scalar(const Round& round, Trace& trace) { return chain<answers>(round, trace); }
bool scalar_reference(const Round& round, Trace& trace) { return chain<answers_reference>(round, trace); }

std::string scalar_place(int step) {
    return fmt::format("steps {} to {}", step * kTimesAPiece, (step + 1) * kTimesAPiece - 1);
}

}  // namespace strata::integrity
