#include "benchmarks/integrity/amx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace strata::integrity {
namespace {

constexpr std::size_t kTileRows = 16, kTileBytes = 64, kSums = 16;
constexpr int kSteps = 30, kTimesAStep = 2000;

/// Three tiles as they lie in memory. Row k of b holds what row k and its neighbours multiply with, four
/// 8-bit or two 16-bit entries for each column (Intel's manual, TDPBSSD and TDPBF16PS).
struct Tiles {
    alignas(64) std::array<std::array<std::int8_t, kTileBytes>, kTileRows> a8, b8;
    alignas(64) std::array<std::array<std::uint16_t, kTileBytes / 2>, kTileRows> a16, b16;
    alignas(64) std::array<std::array<std::int32_t, kSums>, kTileRows> sums;
    alignas(64) std::array<std::array<float, kSums>, kTileRows> real_sums;
};
static_assert(sizeof(Tiles) <= kAmxBytes);

/// The bfloat16 of a small integer: the upper half of its float.
std::uint16_t bfloat(int value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
}
float real(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }

void fill(Random& random, Tiles& tiles) {
    const auto small = [&random](std::uint64_t limit) {
        return static_cast<int>(random.below(2 * limit + 1)) - static_cast<int>(limit);
    };
    for (std::size_t row = 0; row < kTileRows; ++row) {
        for (std::size_t i = 0; i < kTileBytes; ++i) {
            tiles.a8[row][i] = static_cast<std::int8_t>(small(127));
            tiles.b8[row][i] = static_cast<std::int8_t>(small(127));
        }
        // 2000 times 32 products of at most 16: below 2^24, so exact in a float.
        for (std::size_t i = 0; i < kTileBytes / 2; ++i) {
            tiles.a16[row][i] = bfloat(small(4));
            tiles.b16[row][i] = bfloat(small(4));
        }
    }
}

template <class Multiply>
void steps(const Round& round, Trace& trace, const Multiply& multiply) {
    auto& tiles = *reinterpret_cast<Tiles*>(round.scratch.data());
    Random random(round.seed);
    for (int step = 0; step < kSteps; ++step) {
        fill(random, tiles);
        std::memset(&tiles.sums, 0, sizeof tiles.sums);
        std::memset(&tiles.real_sums, 0, sizeof tiles.real_sums);
        multiply(tiles);
        for (auto& row : tiles.real_sums)
            for (float& sum : row) sum += 0.0F;  // -0 and 0 are one
        trace.add(digest(std::as_bytes(std::span(tiles.sums))));
        trace.add(digest(std::as_bytes(std::span(tiles.real_sums))));
        trace.did(kTimesAStep * kTileRows * kSums * (kTileBytes + kTileBytes / 2));
    }
}

}  // namespace

#if defined(__x86_64__)

std::string amx_missing() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned all = 1U << 22U | 1U << 24U | 1U << 25U;  // AMX-BF16, AMX-TILE, AMX-INT8
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & all) != all) return "this processor has no AMX";
    constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA
    if (syscall(SYS_arch_prctl, request, tile_data) != 0)
        return "the kernel gives no leave to use AMX (Linux 5.16)";
    return "";
}

namespace {

/// Tiles 0 and 3 sum up, 1 and 2 are the factors of one, 4 and 5 of the other.
__attribute__((target("amx-tile,amx-int8,amx-bf16"))) void by_tiles(Tiles& tiles) {
    struct alignas(64) {
        std::uint8_t palette = 1, start = 0, reserved[14] = {};
        std::uint16_t columns[16] = {kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes};
        std::uint8_t rows[16] = {kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows};
    } config;
    static_assert(sizeof config == 64);
    _tile_loadconfig(&config);
    _tile_loadd(0, tiles.sums.data(), kTileBytes);
    _tile_loadd(1, tiles.a8.data(), kTileBytes);
    _tile_loadd(2, tiles.b8.data(), kTileBytes);
    _tile_loadd(3, tiles.real_sums.data(), kTileBytes);
    _tile_loadd(4, tiles.a16.data(), kTileBytes);
    _tile_loadd(5, tiles.b16.data(), kTileBytes);
    for (int time = 0; time < kTimesAStep; ++time) {
        _tile_dpbssd(0, 1, 2);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_stored(0, tiles.sums.data(), kTileBytes);
    _tile_stored(3, tiles.real_sums.data(), kTileBytes);
    _tile_release();
}

}  // namespace

bool amx(const Round& round, Trace& trace) {
    steps(round, trace, by_tiles);
    return true;
}

#else

std::string amx_missing() { return "AMX is of x86-64 processors"; }
bool amx(const Round&, Trace&) { return false; }

#endif

bool amx_reference(const Round& round, Trace& trace) {
    steps(round, trace, [](Tiles& tiles) {
        for (std::size_t row = 0; row < kTileRows; ++row)
            for (std::size_t column = 0; column < kSums; ++column) {
                std::int32_t sum = 0;
                for (std::size_t k = 0; k < kTileRows; ++k)
                    for (std::size_t i = 0; i < 4; ++i)
                        sum += tiles.a8[row][4 * k + i] * tiles.b8[k][4 * column + i];
                float real_sum = 0;
                for (std::size_t k = 0; k < kTileRows; ++k)
                    for (std::size_t i = 0; i < 2; ++i)
                        real_sum += real(tiles.a16[row][2 * k + i]) * real(tiles.b16[k][2 * column + i]);
                // As often as the tiles are multiplied; 32-bit sums wrap.
                tiles.sums[row][column] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) *
                                                                    static_cast<std::uint32_t>(kTimesAStep));
                tiles.real_sums[row][column] = real_sum * static_cast<float>(kTimesAStep);
            }
    });
    return true;
}

std::string amx_place(int step) {
    return fmt::format("{} sums {}", step % 2 == 0 ? "integer" : "bfloat16", step / 2 + 1);
}

}  // namespace strata::integrity
