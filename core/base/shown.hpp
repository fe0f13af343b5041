// Texts that somebody else has chosen, for a terminal.
#pragma once

#include <string>

namespace strata {

/// The text as errors print it: what a terminal would obey instead of showing it, or what turns the direction
/// of text, is written out. Line ends and tabs stay. A name or a line of somebody's file may contain
/// anything.
[[nodiscard]] std::string shown(const std::string& text);

}  // namespace strata
