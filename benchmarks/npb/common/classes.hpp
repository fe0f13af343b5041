#pragma once

#include <string_view>

namespace strata::npb {

/// The sizes of a problem: S (sample) and W (workstation) for trying out, A to F about four times the work
/// each, later ones sixteen times (NPB 2.3 added W, NPB 2.4 D, NPB 3.3 E, NPB 3.4 F).
enum class Class { S, W, A, B, C, D, E, F };

inline constexpr std::string_view kClasses = "SWABCDEF";

[[nodiscard]] constexpr char letter(Class size) { return kClasses[static_cast<std::size_t>(size)]; }

/// Index into tables that begin with class S.
[[nodiscard]] constexpr std::size_t index(Class size) { return static_cast<std::size_t>(size); }

}  // namespace strata::npb
