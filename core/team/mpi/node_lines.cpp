#include "core/team/mpi/node_lines.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace strata::team {
namespace {

Message killed_with_its_keeper(int member, int pid) {
    Message who{.kind = Message::Kind::lost};
    who.member = member;
    who.pid = pid;
    who.status = 128 + SIGKILL;
    who.say("was killed with the process that looks after it");
    return who;
}

}  // namespace

NodeLines::~NodeLines() {
    for (const auto& [line, who] : others_) close(line);
    for (const int descriptor : {door_, head_})
        if (descriptor >= 0) close(descriptor);
}

std::string NodeLines::open(std::uint64_t token, int arena) {
    token_ = token;
    arena_ = arena;
    const Listening made = listen_on_node(token);
    door_ = made.socket;
    events_.watch(door_);
    return made.name;
}

void NodeLines::call(const std::string& name, const Message& hello) {
    head_ = call_on_node(name);
    head_rank_ = hello.where.rank - hello.where.local_rank;
    if (head_ < 0 || !send_message(head_, hello))
        throw system_error("the first member of this node cannot be reached", errno);
    events_.watch(head_);
}

void NodeLines::listen() {
    if (head_ >= 0) listen_to_head();
    if (door_ < 0) return;
    take_calls();
    std::vector<int> lines;
    for (const auto& [line, who] : others_) lines.push_back(line);
    for (const int line : lines) listen_to(line);
}

void NodeLines::listen_to_head() {
    while (head_ >= 0) {
        const Received received = receive_message(head_);
        if (received.message) {
            events_.said(received, head_);
            if (received.message->kind == Message::Kind::end) return;
            continue;
        }
        if (!received.closed) return;
        close(std::exchange(head_, -1));
        events_.vanished(killed_with_its_keeper(head_rank_, 0));
    }
}

void NodeLines::take_calls() {
    while (true) {
        const int line = accept4(door_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (line < 0) return;
        others_[line];
        events_.watch(line);
    }
}

void NodeLines::listen_to(int line) {
    Neighbour& neighbour = others_[line];
    while (true) {
        const Received received = receive_message(line);
        if (!received.message) {
            if (!received.closed) return;
            const Neighbour was = neighbour;
            close(line);
            others_.erase(line);
            if (was.gone || !was.who) return;
            ++gone_;
            events_.vanished(killed_with_its_keeper(was.who->member, was.who->pid));
            return;
        }
        switch (received.message->kind) {
            case Message::Kind::hello:
                // A process that does not know the token is turned away.
                if (received.message->token != token_) return;
                neighbour.who = received.message;
                send_message(line, Message{.kind = Message::Kind::arena}, arena_);
                break;
            case Message::Kind::gone:
                neighbour.gone = true;
                ++gone_;
                break;
            default:
                if (neighbour.who) events_.said(received, line);
        }
    }
}

void NodeLines::tell(const Message& word, int except) {
    if (head_ >= 0 && head_ != except) send_message(head_, word);
    for (const auto& [line, neighbour] : others_)
        if (line != except) send_message(line, word);
}

}  // namespace strata::team
