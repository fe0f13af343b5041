// Who may change or replace a file or folder: owners, modes, and all that lies on the way to it.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace strata {

/// Whether all users of the machine have their numbers here. Not so in most user namespaces
/// (user_namespaces(7)), where root of the machine may be seen as somebody.
bool all_users_have_numbers();

/// The number that users have here who have none of their own; nothing where all have theirs.
std::optional<uid_t> unmapped_user();

/// A user's name, or number where there is no name.
std::string user_name(uid_t user);

bool is_own_or_root(uid_t user);

/// Or one of those that the variable STRATA_TRUST names, with commas between.
bool is_trusted(uid_t user);

/// The bits of a mode by which others write. A user's own group is often the user alone.
mode_t other_writers();

/// Whether those whom these bits allow to write in a folder may put another file in the place of one there.
/// Of a sticky folder they cannot rename what is not theirs.
bool may_replace_in(const struct stat& folder, mode_t writers);

/// Why a file or folder is not this user's alone: it is another user's, or others may write in it by these
/// bits. For people; empty where it is.
std::string why_not_own(const struct stat& about, mode_t writers = S_IWGRP | S_IWOTH);

struct PathStep {
    std::filesystem::path path;
    struct stat about;  // of the link itself
    bool ends;          // the path ends there, or would but for links at its end; so does FOLDER/ at FOLDER
};

/// All that the kernel looks at on the way to an absolute path (path_resolution(7)): "/", folders, links, and
/// what these lead to, as far as it is there and can be looked at.
std::vector<PathStep> path_steps(const std::filesystem::path& absolute);

}  // namespace strata
