#include "core/base/permissions.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace strata {

namespace fs = std::filesystem;

bool all_users_have_numbers() {
    std::ifstream map("/proc/self/uid_map");
    unsigned long here = 1, there = 1, count = 0;
    return !(map >> here >> there >> count) || (here == 0 && there == 0 && count == 4294967295UL);
}

std::optional<uid_t> unmapped_user() {
    if (all_users_have_numbers()) return std::nullopt;
    uid_t number = 65534;  // the kernel's own choice
    std::ifstream("/proc/sys/kernel/overflowuid") >> number;
    return number;
}

std::string user_name(uid_t user) {
    const passwd* const known = getpwuid(user);
    return known != nullptr ? known->pw_name : std::to_string(user);
}

bool is_own_or_root(uid_t user) { return user == 0 || user == geteuid(); }

bool is_trusted(uid_t user) {
    if (is_own_or_root(user)) return true;
    const char* const said = std::getenv("STRATA_TRUST");
    std::istringstream trusted(said != nullptr ? said : "");
    for (std::string each; std::getline(trusted, each, ',');)
        if (each == user_name(user) || each == std::to_string(user)) return true;
    return false;
}

mode_t other_writers() { return geteuid() == 0 ? S_IWGRP | S_IWOTH : S_IWOTH; }

bool may_replace_in(const struct stat& folder, mode_t writers) {
    return (folder.st_mode & writers) != 0 && (folder.st_mode & S_ISVTX) == 0;
}

std::string why_not_own(const struct stat& about, mode_t writers) {
    if (about.st_uid != geteuid()) return fmt::format("it belongs to user {}", about.st_uid);
    return (about.st_mode & writers) != 0 ? "others may write in it" : "";
}

std::vector<PathStep> path_steps(const fs::path& absolute) {
    constexpr int most_links = 40;  // as the kernel
    std::vector<PathStep> steps;
    std::deque<fs::path> left;
    const auto put_first = [&left](const fs::path& path) {
        auto place = left.begin();
        for (const fs::path& part : path)
            if (part != "." && !part.empty()) place = std::next(left.insert(place, part));
    };
    put_first(absolute);
    fs::path at = "/";
    for (int links = 0; !left.empty();) {
        const fs::path part = left.front();
        left.pop_front();
        if (part == "..") {
            at = at.parent_path();
            continue;
        }
        PathStep step{at / part, {}, left.empty()};  // "/" at the front of what a link leads to is the root
        if (lstat(step.path.c_str(), &step.about) != 0) break;
        steps.push_back(step);
        if (!S_ISLNK(step.about.st_mode)) {
            at = step.path;
            continue;
        }
        std::error_code failed;
        const fs::path target = fs::read_symlink(step.path, failed);
        if (failed || ++links > most_links) break;
        put_first(target);
    }
    return steps;
}

}  // namespace strata
