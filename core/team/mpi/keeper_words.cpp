#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "core/base/unread.hpp"
#include "core/launch/mpi.hpp"
#include "core/team/mpi/keeping.hpp"

namespace strata::team {
namespace {

using Kind = Message::Kind;

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

/// MPI_Init ends a member under a launcher with another protocol; one rank prints the advice. A signal that
/// kills a member there has other causes and its own advice.
std::string advice(bool killed) {
    const auto rank = launch::rank_from_environment();
    std::string what;
    if (killed) what = launch::remedy_for_early_end();
    if (!killed && rank && rank->rank == 0) what = launch::remedy_for_lone_ranks();
    return what.empty() ? "" : fmt::format("  try: {}\n", what);
}

}  // namespace

Message Keeper::introduction() const {
    Message hello{.kind = Kind::hello};
    hello.where = *where_;
    hello.member = where_->rank;
    hello.pid = member_.pid();
    hello.say(host_name());
    return hello;
}

/// The member has its place from MPI. The keeper of a node's first member makes the arena; the others call
/// it.
void Keeper::take_place(const Message& word) {
    where_ = word.where;
    if (!is_head()) return;
    arena_ = Arena::create(capacity_);
    Message here{.kind = Kind::here};
    here.capacity = arena_->capacity();
    here.token = random_bytes();
    here.network_token = random_bytes();
    const std::string name = node_.open(here.token, arena_->descriptor(), where_->local_size - 1);
    std::snprintf(here.name, sizeof here.name, "%s", name.c_str());
    if (where_->node == 0 && where_->nodes > 1) here.say(heads_.open(introduction(), here.network_token));
    member_.tell(here, arena_->descriptor());
}

/// All members have the names: every keeper calls its head, and the heads call that of node 0.
void Keeper::join(const Message& word) {
    if (is_head()) {
        if (where_->node > 0) {
            if (!heads_.call(word.text, introduction(), word.network_token))
                fmt::print(
                    stderr,
                    "strata: note: node {} ({}) cannot reach node 0 by TCP at {}: if one of them stops "
                    "or vanishes, the other is not told\n",
                    where_->node, host_name(), static_cast<const char*>(word.text));
        }
        member_.tell(Message{.kind = Kind::arena});
        return;
    }
    capacity_ = word.capacity;
    Message hello = introduction();
    hello.token = word.token;
    node_.call(word.name, hello);
}

void Keeper::listen_to_member() {
    while (const auto word = member_.next_word()) {
        if (word->kind == Kind::place) take_place(*word);
        if (word->kind == Kind::join) join(*word);
        if (word->kind == Kind::failed) said_why_ = true;
        if (word->kind != Kind::ready) continue;
        if (is_head())
            ++ready_;
        else
            node_.tell(*word);
    }
}

void Keeper::said_on_node(const Received& received, int line) {
    const Message& word = *received.message;
    if (word.kind == Kind::arena && !is_head()) {
        member_.tell(word, received.descriptor);
        arena_ = Arena::view(received.descriptor, capacity_);
    }
    if (word.kind == Kind::lost) static_cast<void>(lost(word, line));
    if (word.kind == Kind::ready && is_head()) ++ready_;
    if (word.kind == Kind::finish && !is_head()) finish_mpi();
    if (word.kind == Kind::end && !is_head()) finish();
}

void Keeper::said_by_node(int node, const Message& word) {
    if (word.kind == Kind::lost) static_cast<void>(lost(word, -1, node));
    if (word.kind == Kind::gone) nodes_gone_.insert(node);
    if (word.kind == Kind::ready) nodes_ready_.insert(node);
    if (word.kind == Kind::finish) finish_mpi();
    if (word.kind == Kind::end) finish();
}

void Keeper::node_vanished(const Message& head, const std::string& how) {
    if (done_) return;
    nodes_gone_.insert(head.where.node);
    Message who{.kind = Kind::lost};
    who.member = head.where.rank;
    who.status = kFailure;
    const int last = head.where.rank - head.where.local_rank + head.where.local_size - 1;
    who.say(fmt::format("{}(node {}, {}) {}", last > who.member ? fmt::format("to {} ", last) : "",
                        head.where.node, static_cast<const char*>(head.text), how));
    // When node 0 has gone all other heads notice it; one of them reports it.
    if (lost(who, -1, head.where.node) && where_->node <= 1)
        say_ended(who.member, 0, who.text, nullptr, true);
}

void Keeper::neighbour_vanished(const Message& who) {
    if (!is_head() && done_) return;  // the head may end then
    if (lost(who)) say_ended(who.member, who.pid, who.text, nullptr, true);
}

/// Passes the message on, but not to its source. Returns true where it is to be printed: when it is the first
/// of its kind on this node, in a run that was not told to end.
bool Keeper::lost(const Message& who, int from_line, int from_node) {
    if (lost_) return false;
    lost_ = who;
    kill_at_ = Clock::now() + kGrace;
    leave_at_ = *kill_at_ + kLastWords;
    const bool first = !arena_ || arena_->failure().tell(who.member, who.pid, who.text);
    node_.tell(who, from_line);
    if (is_head()) heads_.tell(who, from_node);
    return first && asked_by_ == 0;
}

void Keeper::member_failed(const MemberEnd& end) {
    if (!where_) {
        if (asked_by_ == 0 && !said_why_)
            fmt::print(stderr, "strata: error: a member (process {}) {} before it had joined its team\n{}",
                       member_.pid(), end.how, advice(status_ >= 128));
        return;
    }
    const std::string how = (where_->nodes > 1 ? fmt::format("on {} ", host_name()) : "") + end.how;
    // A member that left because the arena told it of a lost one is not reported. The head names the lost one
    // in a moment.
    const bool known = lost_ || (arena_ && arena_->failure().told());
    if (known) {
        if (!lost_) leave_at_ = Clock::now() + kGrace + kLastWords;
        if (asked_by_ == 0 && says_more(end.note, arena_ ? arena_->failure().text() : lost_->text))
            say_ended(where_->rank, member_.pid(), how, end.note, false);
        return;
    }
    Message who{.kind = Kind::lost};
    who.member = where_->rank;
    who.pid = member_.pid();
    who.status = status_;
    who.say(how);
    if (lost(who) && !said_why_) say_ended(who.member, who.pid, how, end.note, true);
}

void Keeper::member_ended(int status) {
    listen_to_member();  // its last messages
    member_.mark_ended();
    const MemberEnd end =
        member_end(status, where_ && arena_ ? &*arena_ : nullptr, where_ ? where_->local_rank : 0);
    if (!end.in_order) {
        status_ = failing_status(status);
        member_failed(end);
    }
    // Waits until the member's output has been read: when this process ends, MPI's launcher ends all.
    if (!end.in_order || lost_)
        for (const int output : {STDOUT_FILENO, STDERR_FILENO}) wait_until_read(output, kLastWords);
    // A keeper of a member that never joined, or one that was asked to end, does not wait for others.
    if (!where_ || asked_by_ != 0) done_ = true;
    if (where_ && !is_head()) node_.tell(Message{.kind = Kind::gone});
}

}  // namespace strata::team
