#include "core/base/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace strata {

namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits in reverse

using Table = std::array<std::uint32_t, 256>;

/// tables[k][b]: the register's change when byte b is followed by k zero bytes ("slicing by 8": Kounavis and
/// Berry, A Systematic Approach to Building High Performance Software-based CRC Generators, ISCC 2005).
constexpr std::array<Table, 8> make_tables() {
    std::array<Table, 8> tables{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t c = b;
        for (int bit = 0; bit < 8; ++bit) c = (c & 1) ? (c >> 1) ^ kPolynomial : c >> 1;
        tables[0][b] = c;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t b = 0; b < 256; ++b)
            tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xFF];
    return tables;
}

constexpr std::array<Table, 8> kTables = make_tables();

std::uint64_t load(const std::byte* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

std::uint32_t by_tables(const std::byte* at, std::size_t count, std::uint32_t crc) {
    for (; count >= 8; count -= 8, at += 8) {
        const std::uint64_t word = load(at) ^ crc;
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xFF];
    }
    for (; count > 0; --count, ++at)
        crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xFF];
    return crc;
}

#if defined(__x86_64__) || defined(__ARM_FEATURE_CRC32)

#if defined(__x86_64__)
#define STRATA_CRC_TARGET __attribute__((target("sse4.2")))
STRATA_CRC_TARGET inline std::uint64_t step(std::uint64_t crc, std::uint64_t word) {
    return _mm_crc32_u64(crc, word);
}
/// Asked when it is first needed: for __builtin_cpu_supports() each start of a program asks the processor,
/// which leaves a virtual machine several times.
bool have_instruction() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0;
}
#else
#define STRATA_CRC_TARGET
inline std::uint64_t step(std::uint64_t crc, std::uint64_t word) {
    return __crc32cd(static_cast<std::uint32_t>(crc), word);
}
bool have_instruction() { return true; }
#endif

/// The register's way over `kLane` zero bytes is linear over its bits; by bytes it is four look-ups.
constexpr std::size_t kLane = 4096;

constexpr std::array<Table, 4> make_zeros() {
    std::array<std::uint32_t, 32> column{};
    for (std::size_t i = 0; i < 32; ++i) {
        const std::uint32_t bit = std::uint32_t{1} << i;
        column[i] = (bit >> 8) ^ kTables[0][bit & 0xFF];
    }
    const auto times = [](const std::array<std::uint32_t, 32>& matrix, std::uint32_t x) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < 32; ++i)
            if ((x >> i) & 1) sum ^= matrix[i];
        return sum;
    };
    for (std::size_t bytes = 1; bytes < kLane; bytes *= 2) {
        std::array<std::uint32_t, 32> squared{};
        for (std::size_t i = 0; i < 32; ++i) squared[i] = times(column, column[i]);
        column = squared;
    }
    std::array<Table, 4> zeros{};
    for (std::size_t byte = 0; byte < 4; ++byte)
        for (std::uint32_t b = 0; b < 256; ++b) zeros[byte][b] = times(column, b << (8 * byte));
    return zeros;
}

const std::array<Table, 4> kZeros = make_zeros();

std::uint32_t over_zeros(std::uint64_t crc) {
    return kZeros[0][crc & 0xFF] ^ kZeros[1][(crc >> 8) & 0xFF] ^ kZeros[2][(crc >> 16) & 0xFF] ^
           kZeros[3][(crc >> 24) & 0xFF];
}

/// The instruction takes three cycles and one may begin in each: three lanes go side by side and are joined.
STRATA_CRC_TARGET std::uint32_t by_instruction(const std::byte* at, std::size_t count, std::uint32_t crc) {
    std::uint64_t a = crc;
    for (; count >= 3 * kLane; count -= 3 * kLane, at += 3 * kLane) {
        std::uint64_t b = 0, c = 0;
        for (std::size_t i = 0; i < kLane; i += 8) {
            a = step(a, load(at + i));
            b = step(b, load(at + kLane + i));
            c = step(c, load(at + 2 * kLane + i));
        }
        b ^= over_zeros(a);
        a = c ^ over_zeros(b);
    }
    for (; count >= 8; count -= 8, at += 8) a = step(a, load(at));
    return by_tables(at, count, static_cast<std::uint32_t>(a));
}

#else

bool have_instruction() { return false; }
std::uint32_t by_instruction(const std::byte* at, std::size_t count, std::uint32_t crc) {
    return by_tables(at, count, crc);
}

#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
    static const bool instruction = have_instruction();
    const auto way = instruction ? by_instruction : by_tables;
    return ~way(bytes.data(), bytes.size(), ~before);
}

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t before) {
    return ~by_tables(bytes.data(), bytes.size(), ~before);
}

}  // namespace strata
