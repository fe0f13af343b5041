#include "benchmarks/integrity/hash.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/base/crc32c.hpp"
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace strata::integrity {
namespace {

constexpr std::size_t kBlock = 64, kPiece = 4096;
constexpr int kPieces = 31;

#if defined(__x86_64__)

bool has_sha() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29U & 1U) != 0 &&
           __builtin_cpu_supports("sse4.1");
}

/// One block; the state as the instructions want it: the words f, e, b, a and h, g, d, c.
__attribute__((target("sha,sse4.1,ssse3"))) void block_by_instructions(__m128i& feba, __m128i& hgdc,
                                                                       const std::byte* block) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i feba_before = feba, hgdc_before = hgdc;
    __m128i w[4];
    for (int i = 0; i < 16; ++i) {
        __m128i& word = w[i % 4];
        if (i < 4) {
            word = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), swap);
        } else {
            const __m128i before = w[(i + 3) % 4], second = w[(i + 2) % 4], third = w[(i + 1) % 4];
            word = _mm_sha256msg1_epu32(word, third);
            word = _mm_add_epi32(word, _mm_alignr_epi8(before, second, 4));
            word = _mm_sha256msg2_epu32(word, before);
        }
        const __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i*>(kSha256Rounds.data()) + i);
        const __m128i sum = _mm_add_epi32(word, constants);
        hgdc = _mm_sha256rnds2_epu32(hgdc, feba, sum);
        feba = _mm_sha256rnds2_epu32(feba, hgdc, _mm_shuffle_epi32(sum, 0x0e));
    }
    feba = _mm_add_epi32(feba, feba_before);
    hgdc = _mm_add_epi32(hgdc, hgdc_before);
}

__attribute__((target("sha,sse4.1,ssse3"))) void blocks_by_instructions(Sha256State& state,
                                                                        std::span<const std::byte> blocks) {
    auto* words = reinterpret_cast<__m128i*>(state.data());
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
    __m128i feba = _mm_alignr_epi8(badc, hgfe, 8), hgdc = _mm_blend_epi16(hgfe, badc, 0xf0);
    for (std::size_t at = 0; at < blocks.size(); at += kBlock)
        block_by_instructions(feba, hgdc, blocks.data() + at);
    const __m128i abef = _mm_shuffle_epi32(feba, 0x1b), dchg = _mm_shuffle_epi32(hgdc, 0xb1);
    _mm_storeu_si128(words, _mm_blend_epi16(abef, dchg, 0xf0));
    _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, abef, 8));
}

#endif

/// The digest of a seed's data, piece by piece: SHA-256's state and the CRC so far.
void pieces(const Round& round, Trace& trace, Sha256Blocks blocks,
            std::uint32_t (*crc_of)(std::span<const std::byte>, std::uint32_t)) {
    const auto data = round.scratch.first(kPieces * kPiece);
    Random random(round.seed);
    for (std::size_t at = 0; at < data.size(); at += 8) {
        const std::uint64_t word = random.next();
        std::memcpy(data.data() + at, &word, 8);
    }
    Sha256State state = kSha256Start;
    std::uint32_t crc = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < kPieces; ++i) {
            const auto piece = data.subspan(static_cast<std::size_t>(i) * kPiece, kPiece);
            for (int time = 0; time < 16; ++time) blocks(state, piece);
            crc = crc_of(piece, crc);
            trace.add(digest_of(std::span(state), crc));
            trace.did(16 * kPiece);
        }
}

}  // namespace

void sha256_blocks_fast(Sha256State& state, std::span<const std::byte> blocks) {
#if defined(__x86_64__)
    static const bool by_instructions = has_sha();
    if (by_instructions) return blocks_by_instructions(state, blocks);
#endif
    sha256_blocks(state, blocks);
}

bool hash(const Round& round, Trace& trace) {
    pieces(round, trace, sha256_blocks_fast, crc32c);
    return true;
}

bool hash_reference(const Round& round, Trace& trace) {
    pieces(round, trace, sha256_blocks, crc32c_by_tables);
    return true;
}

std::string hash_place(int step) { return fmt::format("piece {} of {}", step % kPieces + 1, kPieces); }

}  // namespace strata::integrity
