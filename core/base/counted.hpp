// Numbers of things in messages.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace strata {

/// "1 patch", "2 patches": `many` is `one` and an s where it is not said.
[[nodiscard]] inline std::string counted(std::int64_t number, std::string_view one,
                                         std::string_view many = {}) {
    if (number == 1) return fmt::format("1 {}", one);
    return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

}  // namespace strata
