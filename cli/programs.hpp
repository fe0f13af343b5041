// The programs that are installed with the front, and becoming one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// The folder of this program's file, for what is installed beside it.
[[nodiscard]] std::string own_folder();

/// Installed, beside the front's folder; in a build folder, in a sister of it.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

/// Becomes the command. Throws Error.
[[noreturn]] void become(std::vector<std::string> command);

}  // namespace strata::cli
