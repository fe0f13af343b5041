#include "core/base/private_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/base/error.hpp"

namespace strata {

std::optional<std::string> make_private_folder(const std::string& base, const std::string& start) {
    struct stat about {};
    if (stat(base.c_str(), &about) != 0) return std::nullopt;
    if ((about.st_mode & S_IWOTH) != 0 && (about.st_mode & S_ISVTX) == 0) return std::nullopt;
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

void need_private_folder(const std::string& path, const std::string& remedy) {
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        throw system_error("a folder cannot be made", errno).at(path);
    if (const std::string why = why_not_private(path); !why.empty())
        throw Error("a folder cannot be trusted", kFailure)
            .given(fmt::format("{}: {}", path, why))
            .allowed("a folder of this user in which nobody else may write")
            .remedy(remedy);
}

}  // namespace strata
