#include "core/team/mpi/lines.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "core/base/error.hpp"

namespace strata::team {
namespace {

/// Neither end may wait for the other: else a stopped process would stop all that send to it.
void do_not_wait(int socket) { fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK); }

sockaddr_un abstract(const std::string& name, socklen_t& length) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // A first byte of zero makes the name abstract: it is in no file system.
    std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 2));
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return address;
}

/// Addresses of this machine; those that other machines can reach come first.
std::string own_addresses() {
    std::string outside, inside;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return "127.0.0.1";
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET ||
            (each->ifa_flags & IFF_UP) == 0)
            continue;
        char text[INET_ADDRSTRLEN] = "";
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text,
                  sizeof text);
        std::string& list = (each->ifa_flags & IFF_LOOPBACK) != 0 ? inside : outside;
        if (list.size() < 300) list += fmt::format("{}{}", list.empty() ? "" : ",", text);
    }
    freeifaddrs(all);
    return outside + (outside.empty() || inside.empty() ? "" : ",") + inside;
}

int call_one(const std::string& host, int port) {
    constexpr int patience_ms = 2000;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, host.c_str(), &to.sin_addr) != 1) return -1;
    const int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (line < 0) return -1;
    if (connect(line, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno == EINPROGRESS) {
        pollfd ready{line, POLLOUT, 0};
        poll(&ready, 1, patience_ms);
    }
    int why = 0;
    socklen_t size = sizeof why;
    sockaddr_in peer{};
    socklen_t peer_size = sizeof peer;
    if (getsockopt(line, SOL_SOCKET, SO_ERROR, &why, &size) == 0 && why == 0 &&
        getpeername(line, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0)
        return line;
    close(line);
    return -1;
}

}  // namespace

void Message::say(const std::string& words) { std::snprintf(text, sizeof text, "%s", words.c_str()); }

bool send_message(int socket, const Message& message, int descriptor) noexcept {
    iovec part{const_cast<Message*>(&message), sizeof message};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (descriptor >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        cmsghdr* const about = CMSG_FIRSTHDR(&header);
        about->cmsg_level = SOL_SOCKET;
        about->cmsg_type = SCM_RIGHTS;
        about->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(about), &descriptor, sizeof descriptor);
    }
    return sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
}

Received receive_message(int socket) {
    Received received;
    Message message;
    iovec part{&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return received;
    for (cmsghdr* about = n < 0 ? nullptr : CMSG_FIRSTHDR(&header); about != nullptr;
         about = CMSG_NXTHDR(&header, about))
        if (about->cmsg_level == SOL_SOCKET && about->cmsg_type == SCM_RIGHTS)
            std::memcpy(&received.descriptor, CMSG_DATA(about), sizeof(int));
    if (n == static_cast<ssize_t>(sizeof message))
        received.message = message;
    else
        received.closed = true;
    return received;
}

Received await_message(int socket) {
    while (true) {
        pollfd line{socket, POLLIN, 0};
        poll(&line, 1, -1);
        Received received = receive_message(socket);
        if (received.message) return received;
        if (received.closed) throw Error("who looks after this member is gone", kFailure);
    }
}

Received Stream::receive() {
    Received received;
    const ssize_t n = recv(socket_, piece_ + have_, sizeof piece_ - have_, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return received;
    received.closed = n <= 0;
    if (n > 0) have_ += static_cast<std::size_t>(n);
    if (have_ < sizeof piece_) return received;
    have_ = 0;
    received.message.emplace();
    std::memcpy(static_cast<void*>(&*received.message), piece_, sizeof piece_);
    return received;
}

Listening listen_on_node(std::uint64_t token) {
    Listening made{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                   fmt::format("strata-{:016x}", token)};
    socklen_t length = 0;
    const sockaddr_un address = abstract(made.name, length);
    if (made.socket < 0 || bind(made.socket, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(made.socket, SOMAXCONN) != 0)
        throw system_error("members of this node cannot be called together", errno);
    return made;
}

Listening listen_on_network() {
    Listening made{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ""};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t length = sizeof address;
    if (made.socket < 0 || bind(made.socket, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(made.socket, SOMAXCONN) != 0 ||
        getsockname(made.socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
        throw system_error("no port for the other nodes can be opened", errno);
    made.name = fmt::format("{}:{}", own_addresses(), ntohs(address.sin_port));
    return made;
}

int call_on_node(const std::string& name) {
    const int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    socklen_t length = 0;
    const sockaddr_un address = abstract(name, length);
    if (line >= 0 && connect(line, reinterpret_cast<const sockaddr*>(&address), length) == 0) {
        do_not_wait(line);
        return line;
    }
    if (line >= 0) close(line);
    return -1;
}

int call_on_network(const std::string& addresses) {
    const std::size_t colon = addresses.rfind(':');
    if (colon == std::string::npos) return -1;
    std::istringstream hosts(addresses.substr(0, colon));
    const int port = std::atoi(addresses.c_str() + colon + 1);
    for (std::string host; std::getline(hosts, host, ',');)
        if (const int line = call_one(host, port); line >= 0) return line;
    return -1;
}

}  // namespace strata::team
