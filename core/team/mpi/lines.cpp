#include "core/team/mpi/lines.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/peer.hpp"

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

struct OwnAddress {
    in_addr address;
    bool loopback;
};

/// Of the interfaces that are up.
std::vector<OwnAddress> own_addresses() {
    std::vector<OwnAddress> found;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return {{{htonl(INADDR_LOOPBACK)}, true}};
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next)
        if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
            (each->ifa_flags & IFF_UP) != 0)
            found.push_back({reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr,
                             (each->ifa_flags & IFF_LOOPBACK) != 0});
    freeifaddrs(all);
    return found;
}

std::string text_of(in_addr address) {
    char text[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &address, text, sizeof text);
    return text;
}

/// All of them; those that other machines can reach come first.
std::string listed(const std::vector<OwnAddress>& addresses) {
    std::string list;
    for (const bool loopback : {false, true})
        for (const OwnAddress& each : addresses)
            if (each.loopback == loopback && list.size() < 300)
                list += fmt::format("{}{}", list.empty() ? "" : ",", text_of(each.address));
    return list;
}

/// The address by which the nodes of a job of Slurm's know this one; none elsewhere.
std::optional<in_addr> address_in_job(const std::vector<OwnAddress>& own) {
    const char* const name = std::getenv("SLURMD_NODENAME");
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_family = AF_INET;
    if (name == nullptr || getaddrinfo(name, nullptr, &wanted, &found) != 0) return {};
    std::optional<in_addr> address;
    for (const addrinfo* each = found; each != nullptr && !address; each = each->ai_next) {
        const in_addr known = reinterpret_cast<const sockaddr_in*>(each->ai_addr)->sin_addr;
        if (std::any_of(own.begin(), own.end(),
                        [&](const OwnAddress& mine) { return mine.address.s_addr == known.s_addr; }))
            address = known;
    }
    freeaddrinfo(found);
    return address;
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

/// Whether a message says what can be: a kind that there is, texts that end, numbers of a member within those
/// of its team. Whoever uses one need not ask again.
bool is_sound(const Message& message) {
    const Where& w = message.where;
    return message.kind <= Message::Kind::end &&
           std::memchr(message.name, 0, sizeof message.name) != nullptr &&
           std::memchr(message.text, 0, sizeof message.text) != nullptr && w.local_rank >= 0 &&
           w.local_rank < w.local_size && w.local_rank <= w.rank && w.rank < w.size &&
           w.local_size - w.local_rank <= w.size - w.rank && w.node >= 0 && w.node < w.nodes;
}

/// All descriptors that came with a message.
std::vector<int> descriptors_of(msghdr& header) {
    std::vector<int> found;
    for (cmsghdr* about = CMSG_FIRSTHDR(&header); about != nullptr; about = CMSG_NXTHDR(&header, about)) {
        if (about->cmsg_level != SOL_SOCKET || about->cmsg_type != SCM_RIGHTS) continue;
        found.resize((about->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(found.data(), CMSG_DATA(about), found.size() * sizeof(int));
    }
    return found;
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
    if (n == static_cast<ssize_t>(sizeof message) && is_sound(message))
        received.message = message;
    else
        received.closed = true;
    // Room for one has room for two (it is rounded up), and nobody else would close them.
    const bool brings_one =
        received.message && (message.kind == Message::Kind::arena || message.kind == Message::Kind::here);
    for (const int descriptor : n < 0 ? std::vector<int>{} : descriptors_of(header))
        if (brings_one && received.descriptor < 0)
            received.descriptor = descriptor;
        else
            close(descriptor);
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

Stream::Stream(int socket, const Bytes32& secret, bool calls)
    : socket_(socket), calls_(calls), secret_(secret), mine_(random_bytes()) {
    // So few bytes fit into a new line; where it is gone already, receive() says so.
    static_cast<void>(::send(socket_, mine_.data(), mine_.size(), MSG_NOSIGNAL));
}

Bytes32 Stream::code(const Message& message, bool from_caller, std::uint64_t number) const {
    return hmac_sha256(*key_, {std::as_bytes(std::span(&from_caller, 1)),
                               std::as_bytes(std::span(&number, 1)), std::as_bytes(std::span(&message, 1))});
}

Received Stream::receive() {
    Received received;
    const std::size_t whole = key_ ? sizeof piece_ : sizeof(Bytes32);
    const ssize_t n = recv(socket_, piece_ + have_, whole - have_, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return received;
    received.closed = n <= 0;
    if (n > 0) have_ += static_cast<std::size_t>(n);
    if (have_ < whole) return received;
    have_ = 0;
    if (!key_) {
        const std::span<const std::byte> mine = std::as_bytes(std::span(mine_)), theirs(piece_, whole);
        key_ = hmac_sha256(secret_, {calls_ ? mine : theirs, calls_ ? theirs : mine});
        return receive();
    }
    Message message;
    Bytes32 said{};
    std::memcpy(static_cast<void*>(&message), piece_, sizeof message);
    std::memcpy(said.data(), piece_ + sizeof message, said.size());
    if (same_bytes(said, code(message, !calls_, received_++)) && is_sound(message))
        received.message = message;
    else
        received.closed = true;
    return received;
}

bool Stream::send(const Message& message) noexcept {
    if (!key_) return false;
    std::byte piece[sizeof piece_];
    const Bytes32 mine = code(message, calls_, sent_);
    std::memcpy(piece, &message, sizeof message);
    std::memcpy(piece + sizeof message, mine.data(), mine.size());
    const ssize_t n = ::send(socket_, piece, sizeof piece, MSG_NOSIGNAL);
    if (n > 0) ++sent_;
    // After a part of one the other end understands nothing any more.
    if (n > 0 && n < static_cast<ssize_t>(sizeof piece)) shutdown(socket_, SHUT_RDWR);
    return n == static_cast<ssize_t>(sizeof piece);
}

Listening listen_on_node() {
    std::uint64_t name = 0;
    const Bytes32 random = random_bytes();
    std::memcpy(&name, random.data(), sizeof name);
    Listening made{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                   fmt::format("strata-{:016x}", name)};
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
    const std::vector<OwnAddress> own = own_addresses();
    const std::optional<in_addr> known = address_in_job(own);
    if (known) address.sin_addr = *known;
    socklen_t length = sizeof address;
    if (made.socket < 0 || bind(made.socket, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(made.socket, SOMAXCONN) != 0 ||
        getsockname(made.socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
        throw system_error("no port for the other nodes can be opened", errno);
    made.name = fmt::format("{}:{}", known ? text_of(*known) : listed(own), ntohs(address.sin_port));
    return made;
}

int call_on_node(const std::string& name) {
    const int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    socklen_t length = 0;
    const sockaddr_un address = abstract(name, length);
    if (line >= 0 && connect(line, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
        is_trusted_peer(line)) {
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
