#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// The Python that has the `strata` package: $STRATA_PYTHON as ./strata sets it, else the one beside this
/// program, as `pip install` leaves it. Nothing where there is neither.
[[nodiscard]] std::optional<std::string> find_python();

/// Takes out of PYTHONPATH what is the folder in which a command is typed, where somebody else may have put
/// modules: empty entries, which `export PYTHONPATH=MINE:$PYTHONPATH` leaves, and other `relative` ones.
void forget_modules_here(bool relative);

/// Replaces this process by `python -m strata WORDS`. Throws Error where there is no Python. Does not return.
[[noreturn]] void run_python(const std::vector<std::string>& words);

}  // namespace strata::cli
