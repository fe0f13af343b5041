#include "core/run/steer/control.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/peer.hpp"

namespace strata::graph {

namespace {

constexpr double kEvery = 0.05;  // seconds
constexpr double kSilent = 1;    // seconds that a caller may say nothing where others wait
constexpr const char* kSocket = "control.sock";

Error no_socket(const char* what, const std::filesystem::path& folder, int error_number) {
    return system_error(fmt::format("the run cannot be steered: {}", what), error_number)
        .at((folder / kSocket).string());
}

/// A socket's path has room for 107 characters, and a results folder may have a longer one. The path through
/// an open folder is short.
int listen_in(int folder) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/{}", folder, kSocket);
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file < 0) return -1;
    if (::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(file, 16) == 0)
        return file;
    const int error_number = errno;
    ::close(file);
    errno = error_number;
    return -1;
}

}  // namespace

Control::Control(const std::filesystem::path& folder) : folder_(folder / "control") {
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
        throw no_socket("its folder cannot be made", folder_, errno);
    const int place = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (place < 0) throw no_socket("its folder cannot be opened", folder_, errno);
    struct stat facts {};
    // In a folder of another user, or one that other users may enter, they could steer the run.
    if (::fstat(place, &facts) != 0 || facts.st_uid != ::geteuid() || ::fchmod(place, 0700) != 0) {
        ::close(place);
        throw no_socket("its folder belongs to somebody else", folder_, EPERM);
    }
    // The holder of the lock is a run that is alive. If the lock is free, a socket left there belongs to no
    // run.
    const int error_of_lock = take_lock(place);
    if (error_of_lock != 0) {
        ::close(place);
        if (error_of_lock != EWOULDBLOCK) throw no_socket("it cannot be locked", folder_, error_of_lock);
        throw Error("another run is using this results folder")
            .at(folder_.parent_path().string())
            .remedy("choose another folder, or end that run: strata steer FOLDER stop");
    }
    ::unlinkat(place, kSocket, 0);
    listener_ = listen_in(place);
    const int error_number = errno;
    ::close(place);
    if (listener_ >= 0) return;
    ::close(lock_);
    throw no_socket("no socket can be made", folder_, error_number);
}

int Control::take_lock(int place) {
    for (;;) {
        lock_ = ::openat(place, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock_ < 0) return errno;
        struct stat facts {};
        const int error_number = ::flock(lock_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        // Another run may have ended, and removed the file, between the two calls.
        if (error_number == 0 && ::fstat(lock_, &facts) == 0 && facts.st_nlink > 0) return 0;
        ::close(lock_);
        lock_ = -1;
        if (error_number != 0) return error_number;
    }
}

Control::~Control() {
    for (const Client& client : clients_) ::close(client.file);
    ::unlink((folder_ / kSocket).c_str());
    ::unlink((folder_ / "lock").c_str());
    ::rmdir(folder_.c_str());
    ::close(listener_);
    ::close(lock_);
}

void Control::sweep(const std::filesystem::path& folder) noexcept {
    const int place = ::open((folder / "control").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (place < 0) return;
    const int lock = ::openat(place, "lock", O_RDWR | O_CLOEXEC);
    if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0) {
        ::unlinkat(place, kSocket, 0);
        ::unlinkat(place, "lock", 0);
        ::rmdir((folder / "control").c_str());
    }
    if (lock >= 0) ::close(lock);
    ::close(place);
}

void Control::poll(const SteeredRun& run, double now) {
    if (asked_once_ && now - asked_ < kEvery) return;
    asked_once_ = true;
    asked_ = now;
    std::vector<pollfd> files{{listener_, POLLIN, 0}};
    for (const Client& client : clients_)
        files.push_back({client.file, static_cast<short>(client.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    if (::poll(files.data(), files.size(), 0) <= 0) return;
    const auto answer_from = [&](std::size_t first) {
        for (std::size_t i = first; i < clients_.size(); ++i) {
            read(clients_[i], run);
            if (!clients_[i].over && !clients_[i].out.empty()) write(clients_[i]);
        }
        std::erase_if(clients_, [](const Client& client) {
            if (client.over) ::close(client.file);
            return client.over;
        });
    };
    answer_from(0);  // before others come in: whoever has asked during a long step is not silent
    if ((files[0].revents & POLLIN) != 0) answer_from(accept_clients());
}

/// Where there is no room, whoever has been silent for longest goes, after a second.
std::size_t Control::accept_clients() {
    if (clients_.size() >= kClients) {
        const auto silent =
            std::min_element(clients_.begin(), clients_.end(),
                             [](const Client& a, const Client& b) { return a.asked < b.asked; });
        if (asked_ - silent->asked < kSilent) return clients_.size();
        ::close(silent->file);
        clients_.erase(silent);
    }
    const std::size_t before = clients_.size();
    while (clients_.size() < kClients) {
        const int file = accept_trusted(listener_);
        if (file < 0) break;
        clients_.push_back({file, {}, {}, false, asked_});
    }
    return before;
}

void Control::read(Client& client, const SteeredRun& run) {
    char buffer[8192];
    const ssize_t got = ::recv(client.file, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) {
        client.in.append(buffer, static_cast<std::size_t>(got));
        client.asked = asked_;
    }
    std::size_t from = 0;
    for (std::size_t end = 0; (end = client.in.find('\n', from)) != std::string::npos; from = end + 1) {
        const std::string_view line = std::string_view(client.in).substr(from, end - from);
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        client.out += answer(line, run) + "\n";
        if (client.out.size() > kUnread) break;  // one packet can ask for all rows some hundred times
    }
    client.in.erase(0, from);
    if (got <= 0) {  // the client closed its end: it gets the answers that fit
        write(client);
        client.over = true;
    }
    if (client.in.size() > kLine || client.out.size() > kUnread) client.over = true;
}

void Control::write(Client& client) {
    while (!client.out.empty()) {
        const ssize_t sent =
            ::send(client.file, client.out.data(), client.out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) return;
        if (sent <= 0) {
            client.over = true;
            return;
        }
        client.out.erase(0, static_cast<std::size_t>(sent));
    }
}

}  // namespace strata::graph
