// What the commands that start benchmark programs share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/options.hpp"

namespace strata::cli {

/// A benchmark's program: installed, beside the front's folder; in a build folder, in a sister of it.
[[nodiscard]] std::optional<std::string> find_benchmark_program(const std::string& name);

/// Whether something has started this process as one of several already.
[[nodiscard]] bool is_rank();

/// Becomes the command. Throws Error.
[[noreturn]] void become(std::vector<std::string> command);

/// `strata bench npb`, and npb-mz: `suite` is which, `own` are the words of --layout, --stride and --bind,
/// `words` those after it.
int npb_command(const std::string& suite, const std::vector<std::string>& own,
                std::vector<std::string> words);

}  // namespace strata::cli
