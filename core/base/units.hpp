#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata {

/// Bytes of a size such as "4096", "16KiB", "1.5 GiB", "2MB" (powers of 1024 with an i, of 1000 without).
/// Throws Error.
[[nodiscard]] std::uint64_t parse_size(std::string_view text);

/// "32 MiB", "1.5 GiB", "960 B": at most three significant digits, binary units.
[[nodiscard]] std::string print_size(std::uint64_t bytes);

/// Seconds of a time such as "90", "90s", "10m", "250ms", "1.5h". Throws Error.
[[nodiscard]] double parse_seconds(std::string_view text);

/// "1.25 s", "3.1 ms", "140 ns": three significant digits.
[[nodiscard]] std::string print_seconds(double seconds);

/// What a person waits for: "45 s", "3 min 20 s", "2 h 5 min"; below ten seconds "3.7 s".
[[nodiscard]] std::string print_duration(double seconds);

}  // namespace strata
