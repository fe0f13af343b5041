// Code that a case names is built and run as whoever runs the case. So it must be code of theirs.
#pragma once

#include <filesystem>
#include <string>

namespace strata::cli {

/// Throws Error where another user owns the file with the code or its folder, or everybody may write there.
/// Trusted are root, the owner of Strata's own programs, and users that the variable STRATA_TRUST names, with
/// commas between. `case_file`: what names the code.
void need_trusted_code(const std::filesystem::path& code, const std::string& case_file);

}  // namespace strata::cli
