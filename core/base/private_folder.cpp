#include "core/base/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/base/error.hpp"
#include "core/base/permissions.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;

/// Looks at all that the kernel looks at on the way to a path: folders, links, and what these lead to. At its
/// end no link of a stranger's is followed: in that user's folder it may lead to any folder of this one's.
void need_not_put(const fs::path& path) {
    for (const auto& [step, about, ends] : path_steps(fs::absolute(path))) {
        struct stat place {};
        if (stat(step.parent_path().c_str(), &place) != 0) return;  // whoever opens it says why
        if (step == "/" || is_trusted(about.st_uid)) continue;
        const bool shared = (place.st_mode & other_writers()) != 0, link = S_ISLNK(about.st_mode),
                   of_the_place = about.st_uid == place.st_uid && place.st_uid != unmapped_user();
        if (!(link && ends) && (!shared || of_the_place)) continue;
        throw Error(fmt::format("results are not written where another user has put a {} first",
                                link                     ? "link"
                                : S_ISDIR(about.st_mode) ? "folder"
                                                         : "file"),
                    kFailure)
            .at(path.string())
            .given(fmt::format("{} belongs to user {}", step.string(), about.st_uid) +
                   (shared ? ", and many may write in " + step.parent_path().string() : ""))
            .allowed("a folder of this user's, or one that is not there yet")
            .remedy("name another folder; where you trust that user: STRATA_TRUST=" +
                    user_name(about.st_uid));
    }
}

/// As mkdir -p, but a folder that somebody makes in the meantime is looked at before the next one is made.
std::error_code make_with_parents(const fs::path& path) {
    struct stat about {};
    if (stat(path.c_str(), &about) == 0)
        return S_ISDIR(about.st_mode) ? std::error_code() : std::make_error_code(std::errc::not_a_directory);
    const fs::path above = path.parent_path();
    if (!above.empty() && above != path)
        if (const std::error_code failed = make_with_parents(above)) return failed;
    if (mkdir(path.c_str(), S_IRWXU | S_IRWXG | S_IRWXO) == 0) return {};
    if (errno != EEXIST) return {errno, std::generic_category()};
    need_not_put(path);
    return stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)
               ? std::error_code()
               : std::make_error_code(std::errc::not_a_directory);
}

}  // namespace

std::optional<std::string> make_private_folder(const std::string& base, const std::string& start) {
    struct stat about {};
    if (stat(base.c_str(), &about) != 0) return std::nullopt;
    if (may_replace_in(about, S_IWOTH)) return std::nullopt;
    if (!is_own_or_root(about.st_uid) && all_users_have_numbers()) return std::nullopt;
    std::string path = fmt::format("{}/{}XXXXXX", base, start);
    if (mkdtemp(path.data()) == nullptr) return std::nullopt;
    return path;
}

std::string why_not_private(const std::string& path, bool group) {
    struct stat about {};
    if (lstat(path.c_str(), &about) != 0) return "it is not there, or cannot be looked at";
    if (S_ISLNK(about.st_mode)) return "it is a link";
    if (!S_ISDIR(about.st_mode)) return "it is no folder";
    return why_not_own(about, group ? S_IWOTH : S_IWGRP | S_IWOTH);
}

std::error_code make_results_folder(const fs::path& path) {
    need_not_put(path);
    fs::path plain = path;
    if (!plain.has_filename()) plain = plain.parent_path();  // FOLDER/
    if (const std::error_code failed = make_with_parents(plain)) return failed;
    need_not_put(
        path);  // what is this user's in a sticky folder stays there: it is looked at once it is made
    return {};
}

int open_new_file(const std::string& path) {
    const auto make = [&] {
        return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
    };
    const int made = make();
    if (made >= 0 || errno != EEXIST) return made;
    return unlink(path.c_str()) == 0 ? make() : -1;
}

}  // namespace strata
