// Folders and files that are this user's alone, also below /tmp, where anybody may make one of any name
// first.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace strata {

/// Makes a folder in `base`: `start`, six random letters, and nobody else may look into it (0700). Nothing
/// where it cannot be made, or where others could put another one in its place: `base` is another user's than
/// root's, or open to all and not sticky.
std::optional<std::string> make_private_folder(const std::string& base, const std::string& start);

/// Why a folder is not this user's alone, for people; empty where it is: a folder and no link, of this user,
/// in which nobody else may write. `group`: or the user's group at most.
std::string why_not_private(const std::string& path, bool group = false);

/// A file for writing that this call has made, close-on-exec: its descriptor, or -1 with errno. What stands
/// at the name goes, a link as well: nothing is written to where another user's link leads.
int open_new_file(const std::string& path);

/// Makes a folder for results and those above it that are missing, with the mode that the umask leaves; what
/// the system says where it cannot. Throws Error where the folder, or a folder or a link on the way to it, is
/// another user's and stands where many may write, as in /tmp: that user may have made it first, also in the
/// meantime, to read and change what is written into it. Whoever owns the place itself is believed, and those
/// of STRATA_TRUST: the kernel's rule for links in such places (fs.protected_symlinks), for folders as well.
/// strata.own_folders.make_results() is the same in Python.
std::error_code make_results_folder(const std::filesystem::path& path);

}  // namespace strata
