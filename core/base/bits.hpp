// Two values of which the bits differ, for people.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace strata {

/// One value of `bytes` bytes: as a number, where that shows the difference.
inline std::string value_text(const std::byte* at, std::size_t bytes, bool floating) {
    const auto as = [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return fmt::format("{}", value);
    };
    if (floating && bytes == sizeof(double)) return as(double{});
    if (floating && bytes == sizeof(float)) return as(float{});
    if (!floating && bytes == 8) return as(std::int64_t{});
    if (!floating && bytes == 4) return as(std::int32_t{});
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", std::to_integer<unsigned>(at[i]));
    return text;
}

/// "value 17: 1.5 and 1.25": the first of several values in which two runs of bytes of one length differ; ""
/// where they do not.
inline std::string first_difference(const std::byte* one, const std::byte* other, std::size_t length,
                                    std::size_t bytes, bool floating, std::size_t first = 0) {
    if (length == 0 || std::memcmp(one, other, length) == 0) return "";
    std::size_t i = 0;
    while (one[i] == other[i]) ++i;
    i -= i % bytes;
    return fmt::format("value {}: {} and {}", first + i / bytes, value_text(one + i, bytes, floating),
                       value_text(other + i, bytes, floating));
}

}  // namespace strata
