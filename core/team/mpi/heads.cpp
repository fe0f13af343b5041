#include "core/team/mpi/heads.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

namespace strata::team {
namespace {

constexpr auto kTurn = std::chrono::seconds(1);

/// Sends each message at once, without waiting for more data to send with it.
void be_quick(int socket) {
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/// What the other end answers to an introduction, if it knows the secret and answers in time.
std::optional<Message> introduced(Stream& stream, const Message& hello,
                                  std::chrono::steady_clock::time_point until) {
    bool said = false;
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd line{stream.socket(), POLLIN, 0};
        if (left.count() <= 0 || poll(&line, 1, static_cast<int>(left.count())) != 1) return {};
        const Received received = stream.receive();
        if (received.message) return received.message;
        if (received.closed) return {};
        if (stream.ready() && !std::exchange(said, true) && !stream.send(hello)) return {};
    }
}

}  // namespace

Heads::~Heads() {
    for (const auto& [node, line] : lines_) close(line.stream.socket());
    for (const Stranger& stranger : strangers_) close(stranger.stream.socket());
    if (port_ >= 0) close(port_);
}

std::string Heads::open(const Message& hello, const Bytes32& secret) {
    Listening made = listen_on_network();
    port_ = made.socket;
    hello_ = hello;
    secret_ = secret;
    events_.watch(port_);
    return made.name;
}

/// Again where the other end hangs up: whoever is slow to answer is turned away as strangers are.
bool Heads::call(const std::string& addresses, const Message& hello, const Bytes32& secret) {
    constexpr auto patience = std::chrono::seconds(5);
    constexpr auto pause = std::chrono::milliseconds(50);
    const auto until = std::chrono::steady_clock::now() + patience;
    for (; std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(pause)) {
        const int socket = call_on_network(addresses);
        if (socket < 0) return false;
        be_quick(socket);
        Stream stream(socket, secret, true);
        if (const auto answer = introduced(stream, hello, until)) {
            lines_.emplace(0, Line{stream, *answer});
            events_.watch(socket);
            return true;
        }
        close(socket);
    }
    return false;
}

/// Anybody on the network can call. Where more do than a few beside those who are expected, those who have
/// been silent for longest go first. Some at once, so that whoever keeps calling does not keep this process.
void Heads::take_calls() {
    for (int calls = 0; port_ >= 0 && calls < kCallsAtOnce; ++calls) {
        const int socket = accept4(port_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket < 0) return;
        be_quick(socket);
        strangers_.push_back({Stream(socket, secret_, false), std::chrono::steady_clock::now()});
        events_.watch(socket);
        greet();
        const auto expected = static_cast<std::size_t>(std::max(0, hello_.where.nodes - 1 - greeted_));
        if (strangers_.size() <= kStrangers + expected) continue;
        close(strangers_.front().stream.socket());
        strangers_.erase(strangers_.begin());
    }
}

/// Callers that know the secret are the heads of other nodes; other callers are turned away.
void Heads::greet() {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(strangers_, [&](Stranger& stranger) {
        const Received received = stranger.stream.receive();
        const auto& word = received.message;
        if (!word && !received.closed && now < stranger.since + kStrangerStays) return false;
        const bool welcome = word && word->kind == Message::Kind::hello && stranger.stream.send(hello_) &&
                             lines_.emplace(word->where.node, Line{stranger.stream, *word}).second;
        if (welcome)
            ++greeted_;
        else
            close(stranger.stream.socket());
        return true;
    });
}

void Heads::close_port_when_all_are_here() {
    if (port_ < 0 || greeted_ < hello_.where.nodes - 1) return;
    close(std::exchange(port_, -1));
    for (const Stranger& stranger : strangers_) close(stranger.stream.socket());
    strangers_.clear();
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
    close_port_when_all_are_here();
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
    if (lines_.empty() && strangers_.empty()) return -1;
    const auto left = turned_ + kTurn - std::chrono::steady_clock::now();
    return std::max(0.0, std::chrono::duration<double>(left).count());
}

void Heads::turn() {
    const auto now = std::chrono::steady_clock::now();
    if (now - turned_ < kTurn) return;
    turned_ = now;
    greet();
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
    for (auto& [node, line] : lines_)
        if (node != except) line.stream.send(message);
}

}  // namespace strata::team
