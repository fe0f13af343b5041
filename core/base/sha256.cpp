#include "core/base/sha256.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"

namespace strata {
namespace {

constexpr std::size_t kBlock = 64;

std::uint32_t big_endian(const std::byte* at) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(at[i]);
    return word;
}

void one_block(Sha256State& state, const std::byte* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
    for (std::size_t t = 16; t < 64; ++t) {
        const std::uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[t - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                  ((e & f) ^ (~e & g)) + kSha256Rounds[t] + w[t];
        const std::uint32_t two =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const Sha256State sum = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < sum.size(); ++i) state[i] += sum[i];
}

std::span<const std::byte> bytes_of(const Bytes32& bytes) { return std::as_bytes(std::span(bytes)); }

}  // namespace

alignas(16) constexpr std::array<std::uint32_t, 64> kSha256Rounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha256_blocks(Sha256State& state, std::span<const std::byte> blocks) {
    for (std::size_t at = 0; at < blocks.size(); at += kBlock) one_block(state, blocks.data() + at);
}

void Sha256::add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const std::size_t at = length_ % kBlock;
        std::size_t n = std::min(bytes.size(), kBlock - at);
        if (n == kBlock) {
            n = bytes.size() / kBlock * kBlock;
            blocks_(state_, bytes.first(n));
        } else {
            std::memcpy(block_.data() + at, bytes.data(), n);
            if (at + n == kBlock) blocks_(state_, block_);
        }
        length_ += n;
        bytes = bytes.subspan(n);
    }
}

/// After the message a one, zeros, and the length in bits (section 5.1.1).
Bytes32 Sha256::digest() {
    const std::uint64_t bits = 8 * length_;
    std::array<std::uint8_t, kBlock + 8> padding = {0x80};
    const std::size_t at = length_ % kBlock, zeros = (at < 56 ? 56 : 120) - at;
    for (std::size_t i = 0; i < 8; ++i) padding[zeros + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
    add(std::as_bytes(std::span(padding)).first(zeros + 8));
    Bytes32 made{};
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return made;
}

Bytes32 hmac_sha256(const Bytes32& key, std::initializer_list<std::span<const std::byte>> pieces) {
    std::array<std::uint8_t, kBlock> inside{}, outside{};
    for (std::size_t i = 0; i < kBlock; ++i) {
        const std::uint8_t k = i < key.size() ? key[i] : std::uint8_t{0};
        inside[i] = k ^ 0x36;
        outside[i] = k ^ 0x5c;
    }
    Sha256 inner, outer;
    inner.add(std::as_bytes(std::span(inside)));
    for (const auto& piece : pieces) inner.add(piece);
    const Bytes32 digest = inner.digest();
    outer.add(std::as_bytes(std::span(outside)));
    outer.add(bytes_of(digest));
    return outer.digest();
}

bool same_bytes(const Bytes32& some, const Bytes32& others) noexcept {
    unsigned differs = 0;
    for (std::size_t i = 0; i < some.size(); ++i) differs |= some[i] ^ others[i];
    return differs == 0;
}

Bytes32 random_bytes() {
    Bytes32 made{};
    ssize_t n = 0;
    // So few bytes come all at once, once the kernel has any.
    while ((n = getrandom(made.data(), made.size(), 0)) < 0 && errno == EINTR) {
    }
    if (n != static_cast<ssize_t>(made.size())) throw system_error("the kernel gives no random bytes", errno);
    return made;
}

}  // namespace strata
