#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata {

/// CRC-32C (Castagnoli) of a run of bytes, as iSCSI defines it (RFC 3720, 12.1 and B.4): polynomial
/// 0x1EDC6F41 reflected, initial value and final complement all ones. `before` is the checksum of the bytes
/// in front, so that long data may be given in parts: crc32c(b, crc32c(a)) is the checksum of a followed by
/// b. Uses the processor's instruction where it has one (x86-64 with SSE4.2, 64-bit Arm with CRC).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The same by tables alone: what processors without the instruction use.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace strata
