// The class of a keeper (keeper.hpp). keeper.cpp has its start, turns, signals and end. keeper_words.cpp has
// its messages: for the member's access to the arena, and about members that are gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/launch/signals.hpp"
#include "core/team/arena.hpp"
#include "core/team/ending.hpp"
#include "core/team/mpi/heads.hpp"
#include "core/team/mpi/kept_member.hpp"
#include "core/team/mpi/node_lines.hpp"

namespace strata::team {

/// Time after the members' grace, for the last messages between keepers.
inline constexpr auto kLastWords = std::chrono::milliseconds(500);

/// The keeper of one rank, from its start to its end (keep_rank()).
class Keeper {
  public:
    explicit Keeper(std::uint64_t capacity);
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    /// Starts the member. Throws Error.
    void start(const std::vector<std::string>& arguments);
    /// Waits until all of the team have ended; returns the exit status.
    int keep();

  private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool is_head() const { return where_ && where_->local_rank == 0; }
    void watch(int descriptor) const;
    // Start, turns and end.
    void take_turn();
    [[nodiscard]] double until_next_moment() const;
    void handle(int signal);
    void finish();
    void leave_when_all_have();
    void finish_mpi_when_all_can();
    void finish_mpi();
    // Messages.
    void listen_to_member();
    void take_place(const Message& word);
    void join(const Message& word);
    void said_on_node(const Received& received, int line);
    void said_by_node(int node, const Message& word);
    void member_ended(int status);
    void member_failed(const MemberEnd& end);
    void neighbour_vanished(const Message& who);
    [[nodiscard]] bool lost(const Message& who, int from_line = -1, int from_node = -1);
    void node_vanished(const Message& head, const std::string& how);
    [[nodiscard]] Message introduction() const;

    launch::SignalEvents signals_;
    double started_ =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    int events_ = -1, parent_ = -1;  // epoll descriptor; descriptor of the parent process
    KeptMember member_;
    std::optional<Where> where_;
    std::uint64_t capacity_;
    std::optional<Arena> arena_;
    NodeLines node_;
    Heads heads_;
    std::set<int> nodes_gone_, nodes_ready_;
    int ready_ = 0;  // members of this node
    bool said_ready_ = false, told_to_finish_ = false;
    bool said_gone_ = false, said_why_ = false, done_ = false;
    int status_ = 0, asked_by_ = 0;
    std::optional<Message> lost_;
    std::optional<Clock::time_point> kill_at_, leave_at_;
};

}  // namespace strata::team
