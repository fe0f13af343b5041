#include "core/base/shown.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "core/base/utf8.hpp"

namespace strata {
namespace {

/// Of a character that a terminal would obey instead of showing it, or that changes the order of those around
/// it: its bytes; else 0. They are the controls below U+00A0, and those of the direction of text; and what is
/// no UTF-8.
std::size_t unseen_at(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    if ((byte(0) < 0x20 && byte(0) != '\n' && byte(0) != '\t') || byte(0) == 0x7f) return 1;
    if (byte(0) >= 0x80 && utf8_length(std::string_view(text).substr(at)) == 0) return 1;
    if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
    if (byte(0) != 0xe2) return 0;
    const unsigned low = byte(2);
    const bool turns = (byte(1) == 0x80 && (low == 0x8e || low == 0x8f || (low >= 0xaa && low <= 0xae))) ||
                       (byte(1) == 0x81 && low >= 0xa6 && low <= 0xa9);
    return turns ? 3 : 0;
}

}  // namespace

std::string shown(const std::string& text) {
    std::string safe;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t unseen = unseen_at(text, at);
        const std::size_t end = at + (unseen == 0 ? utf8_length(std::string_view(text).substr(at)) : unseen);
        for (; at < end; ++at)
            if (unseen == 0)
                safe += text[at];
            else
                safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    }
    return safe;
}

}  // namespace strata
