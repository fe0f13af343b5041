// What the program says: a line of JSON for each event, at once.
#pragma once

#include <functional>
#include <string>

#include "core/base/json.hpp"

namespace strata::integrity {

/// Writes {"event":NAME, ...} and a line end in one write; `fill` adds the members. False where nobody reads.
bool say(const char* event, const std::function<void(Json&)>& fill);

/// Values of 64 bits, of which JSON's numbers would lose some.
[[nodiscard]] std::string hex(std::uint64_t value);

}  // namespace strata::integrity
