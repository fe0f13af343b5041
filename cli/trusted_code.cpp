#include "cli/trusted_code.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <system_error>

#include "core/base/error.hpp"
#include "core/base/permissions.hpp"

namespace strata::cli {
namespace {

/// Whoever owns this program could have written anything into it.
bool owns_strata(uid_t user) {
    struct stat about {};
    return stat("/proc/self/exe", &about) == 0 && about.st_uid == user;
}

bool may_write_code(uid_t user) { return is_trusted(user) || owns_strata(user); }

/// Whoever may write in a folder above, or owns it, can put another one in this one's place at any moment.
void need_trusted_way(const std::filesystem::path& folder, const std::string& case_file) {
    for (std::filesystem::path above = folder; above != above.parent_path(); above = above.parent_path()) {
        const std::string shown = above.parent_path().string();
        struct stat about {};
        if (lstat(shown.c_str(), &about) != 0) continue;
        Error error("this would build or run code that somebody else can have written");
        error.at(case_file).allowed(
            "code of your own, or of root's, in folders that nobody else can replace");
        if (!may_write_code(about.st_uid) && all_users_have_numbers())
            throw error.given(fmt::format("{} belongs to user {}", shown, user_name(about.st_uid)))
                .remedy(
                    "read it, and copy the folder below one of yours; where you trust that user: "
                    "STRATA_TRUST=" +
                    user_name(about.st_uid) + " before the command");
        if (may_replace_in(about, S_IWOTH))
            throw error.given("everybody may write " + shown)
                .remedy("read it, and copy the folder below one of yours; or chmod +t " + shown);
    }
}

}  // namespace

std::filesystem::path trusted_code(const std::filesystem::path& code, const std::string& case_file) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path folder = fs::canonical(code.has_parent_path() ? code.parent_path() : ".", failed);
    const fs::path file = folder / code.filename(), target = fs::canonical(file, failed);
    if (failed) return code;  // whoever opens it says so
    // Python imports modules from the folder that a link leads to.
    for (const fs::path& each : {file, target, folder, target.parent_path()}) {
        struct stat about {};
        if (lstat(each.c_str(), &about) != 0) continue;
        const std::string user = user_name(about.st_uid), shown = each.string();
        Error error("this would build or run code that somebody else can have written");
        error.at(case_file).allowed("code of your own, or of root's");
        if (!may_write_code(about.st_uid))
            throw error.given(fmt::format("{} belongs to user {}", shown, user))
                .remedy(
                    fmt::format("read it, and copy the folder; where you trust that user: STRATA_TRUST={} "
                                "before the command",
                                user));
        if (S_ISLNK(about.st_mode) || (about.st_mode & S_IWOTH) == 0) continue;
        // In a folder such as /tmp nobody can replace this file, but everybody can put another beside it, of
        // which it takes a part: a source, a header, a module.
        const bool sticky = S_ISDIR(about.st_mode) && (about.st_mode & S_ISVTX) != 0;
        throw error.given(fmt::format("everybody may write {}", shown))
            .remedy("read it, then " + (sticky ? std::string("move the solver into a folder of its own")
                                               : "chmod o-w " + shown));
    }
    for (const fs::path& way : {folder, target.parent_path()}) need_trusted_way(way, case_file);
    return file;
}

}  // namespace strata::cli
