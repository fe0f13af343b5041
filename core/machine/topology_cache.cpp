#include "core/machine/topology_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/named_file.hpp"
#include "core/base/permissions.hpp"
#include "core/machine/sysfs.hpp"
#include "core/machine/topology.hpp"
#include "core/machine/topology_form.hpp"

namespace strata::machine {
namespace {

constexpr const char* kFormat = "strata.topology/1";
constexpr std::string_view kPrefix = "topology-", kUnfinished = ".new";
constexpr off_t kMostBytes = 64 << 20;
constexpr time_t kWritersPatience = 10;            // seconds; a write takes less than one
constexpr time_t kForgotten = 30L * 24 * 60 * 60;  // seconds; hosts that come and go leave files behind

constexpr const char* kBoot = "/proc/sys/kernel/random/boot_id";
constexpr const char* kHost = "/proc/sys/kernel/hostname";
constexpr const char* kFiles[] = {
    kHost,
    "/proc/sys/kernel/osrelease",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/node/online",
    "/sys/devices/system/node/has_cpu",
    "/sys/devices/system/node/has_memory",
};

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}
bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// The variables that steer hwloc, or nothing where one of them names another machine or a file, whose
/// content no key holds.
std::optional<std::vector<std::string>> steering_variables() {
    std::vector<std::string> found;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!starts_with(text, "HWLOC_")) continue;
        const std::string_view name = text.substr(0, text.find('='));
        for (const char* other :
             {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_THISSYSTEM"})
            if (starts_with(name, other)) return std::nullopt;
        const bool only_talk = ends_with(name, "_VERBOSE") || name == "HWLOC_HIDE_ERRORS";
        if (!only_talk) found.emplace_back(text);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<std::string> read_own(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0) return std::nullopt;
    if (!S_ISREG(status.st_mode) || !why_not_own(status).empty() || status.st_size > kMostBytes)
        return std::nullopt;
    std::string text(static_cast<size_t>(status.st_size), '\0');
    size_t have = 0;
    while (have < text.size()) {
        const ssize_t got = read(file, text.data() + have, text.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        have += static_cast<size_t>(got);
    }
    return text;
}

std::optional<std::string> read_own_file(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return std::nullopt;
    auto text = read_own(file);
    close(file);
    return text;
}

std::string above(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Or this user's own link to one: where another user's leads nothing is written.
bool is_own_folder(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && status.st_uid == geteuid() &&
           stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/// Makes a folder where its parent is this user's own: root in another's home leaves nothing there that its
/// owner could not remove.
bool make_folder(const std::string& path) {
    if (is_own_folder(path)) return true;
    return is_own_folder(above(path)) && (mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) &&
           is_own_folder(path);
}

bool older_than(const struct stat& status, time_t seconds) {
    return time(nullptr) - status.st_mtime > seconds;
}

/// The unfinished file, exclusively. A writer that was killed leaves its own, which the next one removes.
int begin(const std::string& path) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    const int fd = open(path.c_str(), flags, S_IRUSR | S_IWUSR);
    if (fd >= 0 || errno != EEXIST) return fd;
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !older_than(status, kWritersPatience)) return -1;
    unlink(path.c_str());
    return open(path.c_str(), flags, S_IRUSR | S_IWUSR);
}

/// Hosts that are no more (containers with a name of their own each) are forgotten after a while.
void sweep(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), &closedir);
    if (!listing) return;
    const int at = dirfd(listing.get());
    while (const dirent* entry = readdir(listing.get())) {
        struct stat status {};
        if (starts_with(entry->d_name, kPrefix) &&
            fstatat(at, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && older_than(status, kForgotten))
            unlinkat(at, entry->d_name, 0);
    }
}

std::string header(const std::string& key) { return fmt::format("{}\n{}\n", kFormat, key); }
std::string seal(std::string_view body) { return fmt::format("{:016x}\n", checksum(body)); }

}  // namespace

std::string topology_key(const std::string& root) {
    const auto boot = read_file(root + kBoot);
    const auto steering = steering_variables();
    if (!boot || boot->empty() || !steering) return "";
    std::string key = fmt::format("{}: {}\n", kBoot, *boot);
    for (const char* file : kFiles)
        key += fmt::format("{}: {}\n", file, read_file(root + file).value_or("none"));
    // Memory that is plugged into a node that has some already shows only in the sum.
    struct sysinfo sizes {};
    if (sysinfo(&sizes) == 0) key += fmt::format("memory units: {} of {}\n", sizes.totalram, sizes.mem_unit);
    key += fmt::format("hwloc: {:x}\n", hwloc_get_api_version());
    key += fmt::format("strata: {}\n", STRATA_TOPOLOGY_SOURCES);
    for (const std::string& variable : *steering) key += variable + '\n';
    return key;
}

std::string topology_cache_file(const std::string& root) {
    const auto absolute = [](const char* name) -> std::string {
        const char* value = getenv(name);
        return value != nullptr && value[0] == '/' ? value : "";  // relative ones are to be ignored (XDG)
    };
    std::string folder = absolute("XDG_CACHE_HOME");
    if (folder.empty()) {
        folder = absolute("HOME");
        if (folder.empty()) return "";
        folder += "/.cache";
    }
    const std::string host = read_file(root + kHost).value_or("");
    return fmt::format("{}/strata/{}{:016x}", folder, kPrefix, checksum(host));
}

bool load_topology_cache(const std::string& file, const std::string& key, Machine& machine) {
    if (file.empty() || key.empty()) return false;
    const auto text = read_own_file(file);
    const std::string expected = header(key);
    if (!text || !starts_with(*text, expected)) return false;
    std::string_view rest = std::string_view(*text).substr(expected.size());
    const size_t sealed = rest.find('\n') == std::string_view::npos ? 0 : rest.find('\n') + 1;
    const std::string_view body = rest.substr(sealed);
    return rest.substr(0, sealed) == seal(body) && decode_topology(body, machine);
}

bool store_topology_cache(const std::string& file, const std::string& key, const Machine& machine) {
    if (file.empty() || key.empty()) return false;
    const std::string body = encode_topology(machine);
    const std::string text = header(key) + seal(body) + body;
    rlimit limit{};
    // A file beyond this limit is answered with a signal that ends the process.
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < text.size()) return false;
    const std::string folder = above(file), unfinished = file + std::string(kUnfinished);
    if (!is_own_folder(folder) && !(make_folder(above(folder)) && make_folder(folder))) return false;
    const int made = begin(unfinished);
    if (made < 0) return false;
    const bool own = fchmod(made, S_IRUSR | S_IWUSR) == 0;
    if (write_and_close(made, text) != 0 || !own || rename(unfinished.c_str(), file.c_str()) != 0) {
        unlink(unfinished.c_str());
        return false;
    }
    sweep(folder);
    return true;
}

void read_topology_cached(Machine& machine, bool afresh) {
    const std::string key = topology_key(), file = topology_cache_file();
    if (!afresh && load_topology_cache(file, key, machine)) return;
    read_topology({}, machine);
    // A processor that went while hwloc was looking would leave a topology of neither state.
    if (topology_key() == key) (void)store_topology_cache(file, key, machine);
}

}  // namespace strata::machine
