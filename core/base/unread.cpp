#include "core/base/unread.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <thread>

namespace strata {

namespace {

constexpr std::chrono::milliseconds kPassedOn(100);

/// Bytes that wait to be read; none where this cannot be told.
std::optional<int> unread(int descriptor) {
    struct stat about {};
    int bytes = 0;
    if (fstat(descriptor, &about) != 0) return std::nullopt;
    const bool told = S_ISFIFO(about.st_mode)
                          ? ioctl(descriptor, FIONREAD, &bytes) == 0
                          : isatty(descriptor) != 0 && ioctl(descriptor, TIOCOUTQ, &bytes) == 0;
    return told ? std::optional(bytes) : std::nullopt;
}

}  // namespace

void wait_until_read(int descriptor, std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    if (!unread(descriptor)) return;
    while (unread(descriptor).value_or(0) > 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(kPassedOn);
}

}  // namespace strata
