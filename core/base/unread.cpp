#include "core/base/unread.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

namespace strata {

namespace {

bool is_unread(int descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0) return false;
    int bytes = 0;
    if (S_ISFIFO(about.st_mode)) return ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
    return isatty(descriptor) != 0 && ioctl(descriptor, TIOCOUTQ, &bytes) == 0 && bytes > 0;
}

}  // namespace

void wait_until_read(int descriptor, std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (is_unread(descriptor) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace strata
