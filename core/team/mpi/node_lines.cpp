#include "core/team/mpi/node_lines.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/peer.hpp"

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
    for (const auto& [line, since] : strangers_) close(line);
    for (const int descriptor : {door_, head_})
        if (descriptor >= 0) close(descriptor);
}

std::string NodeLines::open(const Bytes32& token, int arena, int callers) {
    if (callers == 0) return "";
    token_ = token;
    arena_ = arena;
    callers_ = callers;
    const Listening made = listen_on_node();
    door_ = made.socket;
    events_.watch(door_);
    return made.name;
}

void NodeLines::call(const std::string& name, const Message& hello) {
    name_ = name;
    hello_ = hello;
    if (!call_again()) throw system_error("the first member of this node cannot be reached", errno);
}

/// Who stood still between the call and its first word, because the run was stopped or the machine is busy,
/// is turned away as strangers are.
bool NodeLines::call_again() {
    constexpr int at_most = 10;
    if (++calls_ > at_most) return false;
    head_ = call_on_node(name_);
    if (head_ < 0) return false;
    events_.watch(head_);
    return send_message(head_, hello_);
}

void NodeLines::listen() {
    if (head_ >= 0) listen_to_head();
    if (door_ >= 0) {
        take_calls();
        greet();
        close_door_when_all_are_here();
    }
    std::vector<int> lines;
    for (const auto& [line, who] : others_) lines.push_back(line);
    for (const int line : lines) listen_to(line);
}

double NodeLines::until_turn() const {
    double wait = -1;
    for (const auto& [line, since] : strangers_) {
        const double left = std::chrono::duration<double>(since + kStrangerStays - Clock::now()).count();
        wait = std::max(0.0, wait < 0 ? left : std::min(wait, left));
    }
    return wait;
}

void NodeLines::listen_to_head() {
    while (head_ >= 0) {
        const Received received = receive_message(head_);
        if (received.message) {
            welcome_ = true;
            events_.said(received, head_);
            if (received.message->kind == Message::Kind::end) return;
            continue;
        }
        if (!received.closed) return;
        close(std::exchange(head_, -1));
        if (!welcome_ && call_again()) continue;
        events_.vanished(killed_with_its_keeper(hello_.where.rank - hello_.where.local_rank, 0));
    }
}

/// Any process of this user can call. Where more do than a few beside those who are expected, those who have
/// been silent for longest go first: else they would keep the run's own waiting at the door.
void NodeLines::take_calls() {
    for (int calls = 0; calls < kCallsAtOnce; ++calls) {
        const int line = accept_trusted(door_);
        if (line < 0) return;
        strangers_.emplace_back(line, Clock::now());
        events_.watch(line);
        const auto most = [&] {
            return kStrangers + static_cast<std::size_t>(std::max(0, callers_ - greeted_));
        };
        if (strangers_.size() > most()) greet();
        if (strangers_.size() <= most()) continue;
        close(strangers_.front().first);
        strangers_.erase(strangers_.begin());
    }
}

/// A process that does not know the token, such as one of another run of this user, is turned away.
void NodeLines::greet() {
    std::erase_if(strangers_, [this](const auto& stranger) {
        const auto& [line, since] = stranger;
        const Received received = receive_message(line);
        if (received.descriptor >= 0) close(received.descriptor);
        const auto& word = received.message;
        if (!word && !received.closed && Clock::now() < since + kStrangerStays) return false;
        if (word && word->kind == Message::Kind::hello && same_bytes(word->token, token_) &&
            send_message(line, Message{.kind = Message::Kind::arena}, arena_))
            others_.emplace(line, Neighbour{*word});
        else
            close(line);
        greeted_ += others_.contains(line) ? 1 : 0;
        return true;
    });
}

void NodeLines::close_door_when_all_are_here() {
    if (greeted_ < callers_) return;
    close(std::exchange(door_, -1));
    for (const auto& [line, since] : strangers_) close(line);
    strangers_.clear();
}

void NodeLines::listen_to(int line) {
    Neighbour& neighbour = others_.at(line);
    while (true) {
        const Received received = receive_message(line);
        if (received.message) {
            if (received.message->kind == Message::Kind::gone) {
                neighbour.gone = true;
                ++gone_;
            } else {
                events_.said(received, line);
            }
            continue;
        }
        if (!received.closed) return;
        const Neighbour was = neighbour;
        close(line);
        others_.erase(line);
        if (was.gone) return;
        ++gone_;
        events_.vanished(killed_with_its_keeper(was.who.member, was.who.pid));
        return;
    }
}

void NodeLines::tell(const Message& word, int except) {
    if (head_ >= 0 && head_ != except) send_message(head_, word);
    for (const auto& [line, neighbour] : others_)
        if (line != except) send_message(line, word);
}

}  // namespace strata::team
