// Where a character of UTF-8 ends.
#pragma once

#include <cstddef>
#include <string_view>

namespace strata {

/// Bytes of the UTF-8 character that begins here, 0 where none does (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

}  // namespace strata
