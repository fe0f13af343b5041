#include "core/base/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace strata {

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
