#include "core/team/mpi/heads.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace strata::team {
namespace {

constexpr auto kTurn = std::chrono::seconds(1);

/// Sends each message at once, without waiting for more data to send with it.
void be_quick(int socket) {
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Heads::~Heads() {
    for (const auto& [node, line] : lines_) close(line.stream.socket());
    for (const Stream& stranger : strangers_) close(stranger.socket());
    if (port_ >= 0) close(port_);
}

std::string Heads::open(const Message& hello) {
    Listening made = listen_on_network();
    port_ = made.socket;
    hello_ = hello;
    events_.watch(port_);
    return made.name;
}

bool Heads::call(const std::string& addresses, const Message& hello) {
    constexpr int patience_ms = 5000;
    const int socket = call_on_network(addresses);
    if (socket < 0) return false;
    be_quick(socket);
    Stream stream(socket);
    std::optional<Message> answer;
    if (send_message(socket, hello)) {
        for (pollfd line{socket, POLLIN, 0}; poll(&line, 1, patience_ms) == 1;) {
            const Received received = stream.receive();
            if (received.message && received.message->token == hello.token) answer = received.message;
            if (received.message || received.closed) break;
        }
    }
    if (!answer) {
        close(socket);
        return false;
    }
    lines_.emplace(0, Line{stream, *answer});
    events_.watch(socket);
    return true;
}

void Heads::take_calls() {
    while (port_ >= 0) {
        const int socket = accept4(port_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket < 0) return;
        be_quick(socket);
        strangers_.emplace_back(socket);
        events_.watch(socket);
    }
}

/// Callers that know the token are the heads of other nodes; other callers are turned away.
void Heads::greet() {
    std::vector<Stream> still;
    for (Stream& stranger : strangers_) {
        const Received received = stranger.receive();
        if (!received.message && !received.closed) {
            still.push_back(stranger);
        } else if (received.message && received.message->token == hello_.token &&
                   received.message->kind == Message::Kind::hello) {
            send_message(stranger.socket(), hello_);
            lines_.emplace(received.message->where.node, Line{stranger, *received.message});
        } else {
            close(stranger.socket());
        }
    }
    strangers_ = std::move(still);
}

void Heads::lose(int node, const std::string& how) {
    const auto line = lines_.find(node);
    const Message who = line->second.who;
    close(line->second.stream.socket());
    lines_.erase(line);
    if (!leaving_) events_.vanished(who, how);
}

void Heads::listen() {
    take_calls();
    greet();
    std::vector<int> nodes;
    for (const auto& [node, line] : lines_) nodes.push_back(node);
    for (const int node : nodes) {
        while (true) {
            const auto line = lines_.find(node);
            if (line == lines_.end()) break;
            const Received received = line->second.stream.receive();
            if (received.message) {
                line->second.heard = true;
                if (received.message->kind != Message::Kind::beat) events_.said(node, *received.message);
                continue;
            }
            if (received.closed) lose(node, "lost: the connection to it has ended");
            break;
        }
    }
}

double Heads::until_turn() const {
    const auto left = turned_ + kTurn - std::chrono::steady_clock::now();
    return std::max(0.0, std::chrono::duration<double>(left).count());
}

void Heads::turn() {
    const auto now = std::chrono::steady_clock::now();
    if (now - turned_ < kTurn) return;
    turned_ = now;
    tell({.kind = Message::Kind::beat});
    std::vector<int> silent;
    for (auto& [node, line] : lines_) {
        line.silent = std::exchange(line.heard, false) ? 0 : line.silent + 1;
        if (line.silent > kSilence) silent.push_back(node);
    }
    for (const int node : silent)
        lose(node, fmt::format("lost: not heard of for {} seconds (stopped, or cut off)", kSilence));
}

void Heads::tell(const Message& message, int except) {
    for (const auto& [node, line] : lines_)
        if (node != except) send_message(line.stream.socket(), message);
}

}  // namespace strata::team
