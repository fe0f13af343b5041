#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// The Python that has the `strata` package: $STRATA_PYTHON as ./strata sets it, else the one beside this
/// program, as `pip install` leaves it. Nothing where there is neither.
[[nodiscard]] std::optional<std::string> find_python();

/// Replaces this process by `python -m strata WORDS`. Throws Error where there is no Python. Does not return.
[[noreturn]] void run_python(const std::vector<std::string>& words);

}  // namespace strata::cli
