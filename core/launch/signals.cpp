#include "core/launch/signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

#include "core/base/error.hpp"

namespace strata::launch {

SignalEvents::SignalEvents() {
    // An inherited "ignore" of SIGCHLD would have the kernel collect children behind our back.
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &plain, &found_child_);
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2}) {
        struct sigaction now {};
        sigaction(signal, nullptr, &now);
        if (now.sa_handler != SIG_IGN) sigaddset(&taken, signal);
    }
    sigprocmask(SIG_BLOCK, &taken, &found_);
    fd_ = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0) throw system_error("signals cannot be awaited", errno);
}

SignalEvents::~SignalEvents() {
    close(fd_);
    restore();
}

void SignalEvents::restore() const {
    sigaction(SIGCHLD, &found_child_, nullptr);
    sigprocmask(SIG_SETMASK, &found_, nullptr);
}

std::vector<int> SignalEvents::wait(double seconds, std::optional<int> lifeline, bool& lifeline_ended) const {
    std::array<pollfd, 2> sources = {pollfd{fd_, POLLIN, 0}, pollfd{lifeline.value_or(-1), POLLIN, 0}};
    const int milliseconds = seconds < 0 ? -1 : static_cast<int>(std::ceil(std::min(seconds, 3600.0) * 1000));
    std::vector<int> came;
    if (poll(sources.data(), lifeline ? 2 : 1, milliseconds) <= 0) return came;
    signalfd_siginfo info{};
    while (read(fd_, &info, sizeof info) == sizeof info) came.push_back(static_cast<int>(info.ssi_signo));
    if (lifeline && sources[1].revents != 0) {
        char byte = 0;
        const ssize_t n = read(*lifeline, &byte, 1);
        lifeline_ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    }
    return came;
}

}  // namespace strata::launch
