// SHA-256 (FIPS 180-4) and the code by which a message proves that its sender knows a secret: HMAC (FIPS
// 198-1, RFC 2104). For a few hundred bytes at a time; not for files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace strata {

/// 32 bytes: a digest, a code, or a secret.
using Bytes32 = std::array<std::uint8_t, 32>;

/// The hash value after some blocks, and before the first (FIPS 180-4, section 5.3.3).
using Sha256State = std::array<std::uint32_t, 8>;
inline constexpr Sha256State kSha256Start = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// The constants of its rounds (section 4.2.2): the first 32 bits of the fractional parts of the cube roots
/// of the first 64 primes. Aligned for vector instructions.
extern const std::array<std::uint32_t, 64> kSha256Rounds;

/// Takes whole blocks of 64 bytes into the state (section 6.2.2), in plain C++.
void sha256_blocks(Sha256State& state, std::span<const std::byte> blocks);
using Sha256Blocks = void (*)(Sha256State&, std::span<const std::byte>);

/// SHA-256 of bytes that come piece by piece.
class Sha256 {
  public:
    /// By another function for whole blocks, where a program has a faster one.
    explicit Sha256(Sha256Blocks blocks = sha256_blocks) : blocks_(blocks) {}
    void add(std::span<const std::byte> bytes);
    /// The digest of all that was added. To be called once.
    [[nodiscard]] Bytes32 digest();

  private:
    Sha256Blocks blocks_;
    Sha256State state_ = kSha256Start;
    std::array<std::byte, 64> block_ = {};
    std::uint64_t length_ = 0;  // bytes
};

/// HMAC-SHA-256 of a message that consists of some pieces, one after the other.
[[nodiscard]] Bytes32 hmac_sha256(const Bytes32& key,
                                  std::initializer_list<std::span<const std::byte>> pieces);

/// Whether both are the same, in a time that does not depend on where they differ.
[[nodiscard]] bool same_bytes(const Bytes32& some, const Bytes32& others) noexcept;

/// Bytes that nobody can foretell, of the kernel (getrandom(2)). Throws Error.
[[nodiscard]] Bytes32 random_bytes();

}  // namespace strata
