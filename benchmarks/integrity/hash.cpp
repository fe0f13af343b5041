#include "benchmarks/integrity/hash.hpp"

#include <fmt/format.h>

#include <bit>
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

alignas(16) constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

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
        const __m128i constants =
            _mm_load_si128(reinterpret_cast<const __m128i*>(kRoundConstants.data()) + i);
        const __m128i sum = _mm_add_epi32(word, constants);
        hgdc = _mm_sha256rnds2_epu32(hgdc, feba, sum);
        feba = _mm_sha256rnds2_epu32(feba, hgdc, _mm_shuffle_epi32(sum, 0x0e));
    }
    feba = _mm_add_epi32(feba, feba_before);
    hgdc = _mm_add_epi32(hgdc, hgdc_before);
}

__attribute__((target("sha,sse4.1,ssse3"))) void blocks_by_instructions(Sha256& state,
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
    Sha256 state = kSha256Start;
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

void sha256_blocks_reference(Sha256& state, std::span<const std::byte> blocks) {
    for (std::size_t at = 0; at < blocks.size(); at += kBlock) {
        std::array<std::uint32_t, 64> w{};
        for (std::size_t i = 0; i < 16; ++i)
            for (std::size_t byte = 0; byte < 4; ++byte)
                w[i] = w[i] << 8U | std::to_integer<std::uint32_t>(blocks[at + 4 * i + byte]);
        for (std::size_t i = 16; i < 64; ++i) {
            const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
            const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto [a, b, c, d, e, f, g, h] = state;
        for (std::size_t i = 0; i < 64; ++i) {
            const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
            const std::uint32_t one = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
            const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
            const std::uint32_t two = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + one;
            d = c;
            c = b;
            b = a;
            a = one + two;
        }
        const Sha256 sum = {a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < 8; ++i) state[i] += sum[i];
    }
}

void sha256_blocks(Sha256& state, std::span<const std::byte> blocks) {
#if defined(__x86_64__)
    static const bool by_instructions = has_sha();
    if (by_instructions) return blocks_by_instructions(state, blocks);
#endif
    sha256_blocks_reference(state, blocks);
}

Sha256 sha256(std::span<const std::byte> message, Sha256Blocks blocks) {
    Sha256 state = kSha256Start;
    const std::size_t whole = message.size() / kBlock * kBlock, rest = message.size() - whole;
    blocks(state, message.first(whole));
    std::array<std::byte, 2 * kBlock> last{};
    if (rest > 0) std::memcpy(last.data(), message.data() + whole, rest);
    last[rest] = std::byte{0x80};
    const std::size_t length = rest + 9 > kBlock ? 2 * kBlock : kBlock;
    for (std::size_t i = 0; i < 8; ++i)
        last[length - 1 - i] = static_cast<std::byte>(8 * message.size() >> (8 * i));
    blocks(state, std::span(last).first(length));
    return state;
}

bool hash(const Round& round, Trace& trace) {
    pieces(round, trace, sha256_blocks, crc32c);
    return true;
}

bool hash_reference(const Round& round, Trace& trace) {
    pieces(round, trace, sha256_blocks_reference, crc32c_by_tables);
    return true;
}

std::string hash_place(int step) { return fmt::format("piece {} of {}", step % kPieces + 1, kPieces); }

}  // namespace strata::integrity
