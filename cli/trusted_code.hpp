// Code that a case names is built and run as whoever runs the case. So it must be code of theirs.
#pragma once

#include <filesystem>
#include <string>

namespace strata::cli {

/// The file with the code, by a path to its folder without links: what is looked at here is what is run.
/// Throws Error where another user owns the file, what it is a link to, or the folder of either, or everybody
/// may write one of them; and where somebody else can put another folder in the place of one above. Trusted
/// are root, the owner of Strata's own programs, and users that the variable STRATA_TRUST names, with commas
/// between. `case_file`: what names the code.
std::filesystem::path trusted_code(const std::filesystem::path& code, const std::string& case_file);

}  // namespace strata::cli
