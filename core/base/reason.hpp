// What an exception of the standard library says, in words for the one who runs a program.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace strata {

/// Its what(), but where memory was not enough: then what a user can do about it.
[[nodiscard]] inline std::string reason_of(const std::exception& error) {
    const bool too_long = dynamic_cast<const std::length_error*>(&error) != nullptr;
    if (too_long || dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
        return "not enough memory for what was asked: fewer cells or particles, fewer and larger patches, "
               "or more nodes";
    return error.what();
}

}  // namespace strata
