// Folders that are this user's alone, also below /tmp, where anybody may make one of any name first.
#pragma once

#include <optional>
#include <string>

namespace strata {

/// Makes a folder in `base`: `start`, six random letters, and nobody else may look into it (0700). Nothing
/// where it cannot be made, or where everybody could put another one in its place (`base` is open to all and
/// not sticky).
std::optional<std::string> make_private_folder(const std::string& base, const std::string& start);

/// Why a folder is not this user's alone, for people; empty where it is: a folder and no link, of this user,
/// in which nobody else may write. `group`: or the user's group at most.
std::string why_not_private(const std::string& path, bool group = false);

/// For a name that is fixed: makes the folder (0700, the one above it must be there), or sees that what is
/// there is this user's alone. Throws Error where it is not, with `remedy`.
void need_private_folder(const std::string& path, const std::string& remedy);

}  // namespace strata
