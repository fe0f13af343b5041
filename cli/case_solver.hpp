// Which solver a case names.
#pragma once

#include <string>

namespace strata::cli {

/// The value of a case's key `solver`, and its line: all that the front must know of a case. What else is in
/// it, the solver checks.
struct CaseSolver {
    std::string name;
    int line = 0;
};

/// Reads it from a case file. Where each statement up to it is over on its line and has no escapes, as in
/// `solver = "NAME"`, this is done here; of all else that TOML allows Python's parser says what it means, or
/// what is wrong with it. Throws Error.
[[nodiscard]] CaseSolver solver_named_in(const std::string& file);

}  // namespace strata::cli
