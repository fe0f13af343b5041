// Values of keys as text, and what values a key may have.
#pragma once

#include <string>

#include "core/run/case/case.hpp"

namespace strata::graph {

/// Lambdas as one function of several types, for std::visit.
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

/// The value of a variable, as TOML has it.
[[nodiscard]] std::string text_of(const CaseSchema::Into& into);

/// What a key may have: "number, > 0 (in m)", "text, one of "a", "b"", "whole numbers, 2 to 3 entries".
[[nodiscard]] std::string allowed_text(const CaseSchema::Into& into, const KeyAbout& about);

}  // namespace strata::graph
