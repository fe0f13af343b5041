#include "core/base/named_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/base/error.hpp"
#include "core/base/permissions.hpp"
#include "core/base/private_folder.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the kernel follows

/// Whether another user can put something into a folder, or another folder in its place: all that the kernel
/// looks at on the way to it is looked at, links and what they lead to as well.
bool others_reach(const fs::path& folder) {
    std::error_code failed;
    for (const PathStep& step : path_steps(fs::absolute(folder, failed)))
        if ((!is_own_or_root(step.about.st_uid) && step.about.st_uid != unmapped_user()) ||
            (!S_ISLNK(step.about.st_mode) && may_replace_in(step.about, other_writers())))
            return true;
    return false;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

/// Whether another user can have put there what stands at a path.
bool put_by_others(const fs::path& path) {
    const fs::path folder = folder_of(path);
    if (others_reach(folder)) return true;
    struct stat around {
    }, own{};
    return stat(folder.c_str(), &around) == 0 && (around.st_mode & other_writers()) != 0 &&
           lstat(path.c_str(), &own) == 0 && !is_own_or_root(own.st_uid);
}

/// Where a path leads that a user has named.
struct Led {
    fs::path path;
    int descriptor = -1;   // of this process, as /dev/stdout
    bool special = false;  // neither a file nor a folder, and nobody else's
    int error = 0;
};

Led led(fs::path path) {
    for (int links = 0; links < kMostLinks; ++links) {
        struct stat about {};
        if (lstat(path.c_str(), &about) != 0)
            return {path, -1, false, errno == ENOENT ? 0 : errno};  // not there yet
        if (S_ISDIR(about.st_mode)) return {path, -1, false, EISDIR};
        if (S_ISREG(about.st_mode)) return {path};
        if (put_by_others(path)) return {path};
        if (!S_ISLNK(about.st_mode)) return {path, -1, true};
        const std::string name = path.filename().string();
        std::error_code failed;
        if (!name.empty() &&
            std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
            fs::canonical(folder_of(path), failed) == fmt::format("/proc/{}/fd", getpid()))
            return {path, std::atoi(name.c_str())};
        const fs::path target = fs::read_symlink(path, failed);
        if (failed) return {path, -1, false, failed.value()};
        path = folder_of(path) / target;
    }
    return {path, -1, false, ELOOP};
}

/// What this process has printed so far comes before what is written to its descriptors.
int duplicate(int descriptor) {
    std::cout.flush();
    std::fflush(stdout);
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

int open_special(const fs::path& path) {
    return open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

std::string read_named(const fs::path& path, const std::string& what, std::size_t most) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct Closed {
        int file;
        ~Closed() {
            if (file >= 0) close(file);
        }
    } const closed{file};
    const auto refuse = [&](int why) {
        return system_error(what + " cannot be read", why, kBadInput).at(path.string());
    };
    struct stat about {};
    if (file < 0 || fstat(file, &about) != 0) throw refuse(errno);
    const bool plain = S_ISREG(about.st_mode);
    const std::size_t known = plain ? static_cast<std::size_t>(about.st_size) : 0;
    std::string text;
    text.reserve(known);
    constexpr std::size_t kBlock = std::size_t{1} << 16;
    for (std::size_t size = 0;;) {
        text.resize(size + (size < known ? std::min(kBlock, known - size) : kBlock));
        const ssize_t got = ::read(file, text.data() + size, text.size() - size);
        if (got < 0 && errno != EINTR) throw refuse(errno);
        size += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
        text.resize(size);
        if (got == 0) return text;
        if (size > std::max(known, most))
            throw Error("the end of " + what + " was not met")
                .at(path.string())
                .given(fmt::format("more than {} bytes, and {}", std::max(known, most),
                                   plain ? "it grows" : "it is no plain file"))
                .allowed("a plain file, or less than that of a FIFO or a device")
                .remedy("write what it gives into a file, and name that");
    }
}

int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t done = write(file, text.data(), text.size());
        if (done >= 0)
            text.remove_prefix(static_cast<size_t>(done));
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int write_and_close(int file, std::string_view text) {
    if (file < 0) return errno;
    const int error = write_all(file, text);
    return close(file) != 0 && error == 0 ? errno : error;
}

int write_atomically(const std::string& path, std::string_view text) {
    const fs::path place = path;
    const std::string unfinished =
        (folder_of(place) / fmt::format(".{}.{}.tmp", place.filename().string(), getpid())).string();
    const int made = open_new_file(unfinished);
    if (made < 0) return errno;
    int error = write_and_close(made, text);
    if (error == 0 && std::rename(unfinished.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(unfinished.c_str());
    return error;
}

int write_named(const std::string& path, std::string_view text) {
    const Led to = led(path);
    if (to.error != 0) return to.error;
    if (to.descriptor >= 0) return write_and_close(duplicate(to.descriptor), text);
    return to.special ? write_and_close(open_special(to.path), text)
                      : write_atomically(to.path.string(), text);
}

int open_named(const std::string& path) {
    const Led to = led(path);
    errno = to.error;
    if (to.error != 0) return -1;
    if (to.descriptor >= 0) return duplicate(to.descriptor);
    if (to.special) return open_special(to.path);
    struct stat about {};
    if (lstat(to.path.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
        errno = EPERM;  // another user's link or FIFO
        return -1;
    }
    return open(to.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
}

int why_not_named(const std::string& path) {
    const Led to = led(path);
    if (to.error != 0 || to.descriptor >= 0) return to.error;
    const std::string looked_at = (to.special ? to.path : folder_of(to.path)).string();
    return access(looked_at.c_str(), W_OK) == 0 ? 0 : errno;
}

}  // namespace strata
