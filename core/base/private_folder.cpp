#include "core/base/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr int kLinks = 40;  // as many as the kernel follows

std::string name_of(uid_t user) {
    const passwd* const known = getpwuid(user);
    return known != nullptr ? known->pw_name : std::to_string(user);
}

/// The number that users have in a user namespace where they have none.
std::optional<uid_t> unmapped() {
    uid_t number = 65534;
    if (all_users_have_numbers()) return std::nullopt;
    std::ifstream("/proc/sys/kernel/overflowuid") >> number;
    return number;
}

bool is_believed(uid_t user, uid_t owner_of_place) {
    if (user == 0 || user == geteuid()) return true;
    if (user == owner_of_place && owner_of_place != unmapped()) return true;
    const char* const said = getenv("STRATA_TRUST");
    std::istringstream trusted(said != nullptr ? said : "");
    for (std::string each; std::getline(trusted, each, ',');)
        if (each == name_of(user) || each == std::to_string(user)) return true;
    return false;
}

/// Looks at all that the kernel looks at on the way to a path: folders, links, and what these lead to.
void need_not_put(const fs::path& path) {
    const mode_t writers = geteuid() == 0 ? S_IWGRP | S_IWOTH : S_IWOTH;
    const fs::path whole = fs::absolute(path);
    std::deque<fs::path> left(whole.begin(), whole.end());
    fs::path at = "/";
    for (int links = 0; !left.empty() && links <= kLinks;) {
        const fs::path part = left.front();
        left.pop_front();
        if (part == "..") at = at.parent_path();
        if (part == ".." || part == "." || part == "/" || part.empty()) continue;
        const fs::path here = at / part;
        struct stat place {
        }, about{};
        if (stat(at.c_str(), &place) != 0 || lstat(here.c_str(), &about) != 0)
            return;  // not there yet, or whoever opens it says why
        const bool link = S_ISLNK(about.st_mode);
        if ((place.st_mode & writers) != 0 && !is_believed(about.st_uid, place.st_uid))
            throw Error(fmt::format("results are not written where another user has put a {} first",
                                    link                     ? "link"
                                    : S_ISDIR(about.st_mode) ? "folder"
                                                             : "file"),
                        kFailure)
                .at(path.string())
                .given(fmt::format("{} belongs to user {}, and many may write in {}", here.string(),
                                   about.st_uid, at.string()))
                .allowed("a folder of this user's, or one that is not there yet")
                .remedy("name another folder; where you trust that user: STRATA_TRUST=" +
                        name_of(about.st_uid));
        std::error_code failed;
        const fs::path target = link ? fs::read_symlink(here, failed) : fs::path();
        if (link) {
            ++links;
            if (target.is_absolute()) at = "/";
            left.insert(left.begin(), target.begin(), target.end());
        } else {
            at = here;
        }
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

bool all_users_have_numbers() {
    std::ifstream map("/proc/self/uid_map");
    unsigned long here = 1, there = 1, count = 0;
    return !(map >> here >> there >> count) || (here == 0 && there == 0 && count == 4294967295UL);
}

std::optional<std::string> make_private_folder(const std::string& base, const std::string& start) {
    struct stat about {};
    if (stat(base.c_str(), &about) != 0) return std::nullopt;
    if ((about.st_mode & S_IWOTH) != 0 && (about.st_mode & S_ISVTX) == 0) return std::nullopt;
    if (about.st_uid != geteuid() && about.st_uid != 0 && all_users_have_numbers()) return std::nullopt;
    std::string path = fmt::format("{}/{}XXXXXX", base, start);
    if (mkdtemp(path.data()) == nullptr) return std::nullopt;
    return path;
}

std::string why_not_private(const std::string& path, bool group) {
    struct stat about {};
    if (lstat(path.c_str(), &about) != 0) return "it is not there, or cannot be looked at";
    if (S_ISLNK(about.st_mode)) return "it is a link";
    if (!S_ISDIR(about.st_mode)) return "it is no folder";
    if (about.st_uid != geteuid()) return fmt::format("it belongs to user {}", about.st_uid);
    if ((about.st_mode & (group ? S_IWOTH : S_IWGRP | S_IWOTH)) != 0) return "others may write in it";
    return "";
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
