// Functions that the commands that start benchmark programs share.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// Whether something has started this process as one of several already.
[[nodiscard]] bool is_rank();

/// Takes "--NAME value" or "--NAME=value" out of the words.
[[nodiscard]] std::optional<std::string> take(std::vector<std::string>& words, const std::string& name);

/// `strata bench npb`, and npb-mz: `suite` is which, `own` are the words of --layout, --stride and --bind,
/// `words` those after it.
int npb_command(const std::string& suite, const std::vector<std::string>& own,
                std::vector<std::string> words);

}  // namespace strata::cli
