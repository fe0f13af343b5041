// The programs that are installed with the front, and becoming one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// The folder of this program's file, for what is installed beside it.
[[nodiscard]] std::string own_folder();

/// Installed, beside the front's folder; in a build folder, in a sister of it. Where a checkout has a part of
/// the build for it that is not built yet (setup/parts.csv), this process becomes setup/part.sh, which builds
/// that and starts the command anew.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

/// Has the part built, as above, unless this tree has it.
void need_part(const std::string& part);

/// The words of this command after the front's name, with which it is started anew: said by main() once.
void remember_words(int argc, char** argv);

/// Becomes the command. Throws Error.
[[noreturn]] void become(std::vector<std::string> command);

}  // namespace strata::cli
