// The lines between the keepers of one node: the keeper of its first member (the head) has one to each of the
// others. Lines between nodes are in heads.hpp.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/team/mpi/lines.hpp"

namespace strata::team {

class NodeLines {
  public:
    /// Events on the lines.
    struct Events {
        /// A message about a member that is gone, or (to others than the head) the arena or the end. `line`:
        /// its source.
        std::function<void(const Received& received, int line)> said;
        /// A keeper has gone without a message, and its member with it. `who`: the message to tell others of
        /// it.
        std::function<void(const Message& who)> vanished;
        /// Another line is to be watched for messages.
        std::function<void(int socket)> watch;
    };
    explicit NodeLines(Events events) : events_(std::move(events)) {}
    ~NodeLines();
    NodeLines(const NodeLines&) = delete;
    NodeLines& operator=(const NodeLines&) = delete;

    /// For the head: opens a socket; returns its name for the others. A caller of this user that knows the
    /// token is one of them, and gets the arena; the socket closes when all `callers` have it.
    [[nodiscard]] std::string open(const Bytes32& token, int arena, int callers);
    /// For the others: calls the head. `hello`: this keeper's introduction. Throws Error.
    void call(const std::string& name, const Message& hello);
    /// Handles all messages that have arrived.
    void listen();
    /// Seconds until listen() is to turn a silent caller away; below 0: there is none.
    [[nodiscard]] double until_turn() const;
    /// Sends from the head to all others, from another to the head; not to the line `except`, the message's
    /// source.
    void tell(const Message& word, int except = -1);
    /// For the head: the number of others without a member.
    [[nodiscard]] int gone() const { return gone_; }

  private:
    using Clock = std::chrono::steady_clock;
    struct Neighbour {
        Message who;
        bool gone = false;
    };
    void take_calls();
    void greet();
    void close_door_when_all_are_here();
    [[nodiscard]] bool call_again();
    void listen_to(int line);
    void listen_to_head();

    Events events_;
    Bytes32 token_ = {};
    int arena_ = -1;
    int door_ = -1, head_ = -1;
    int callers_ = 0, greeted_ = 0;
    std::string name_;  // of the head's socket, and this keeper's words to it
    Message hello_;
    int calls_ = 0;
    bool welcome_ = false;
    std::vector<std::pair<int, Clock::time_point>> strangers_;  // line, since when; for the head
    std::map<int, Neighbour> others_;                           // [line], for the head
    int gone_ = 0;
};

}  // namespace strata::team
