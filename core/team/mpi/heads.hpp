// The lines between nodes, by which the keepers of the nodes' first members (heads) learn of each other's
// deaths and silence.
//
// The head of node 0 has a line to every other head, and passes on each message of one to all. Each head
// sends a message every second. A head that is silent for kSilence seconds counts as dead: its machine has
// lost power or network, or its process is stopped. Each listener counts the seconds by its own turns. So
// after a run has been stopped as a whole and continued, no turn is missing.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/team/mpi/lines.hpp"

namespace strata::team {

class Heads {
  public:
    static constexpr int kSilence = 5;

    /// Events on the lines. `node`: of the other end; `who`: the introduction of that node's head.
    struct Events {
        std::function<void(int node, const Message& word)> said;
        std::function<void(const Message& who, const std::string& how)> vanished;
        /// Another line is to be watched for messages.
        std::function<void(int socket)> watch;
    };
    explicit Heads(Events events) : events_(std::move(events)) {}
    ~Heads();
    Heads(const Heads&) = delete;
    Heads& operator=(const Heads&) = delete;

    /// For node 0: opens a port; returns its addresses for the others. `hello`: this head's introduction;
    /// `secret`: what only the heads of this run know. The port closes when all of them have called.
    [[nodiscard]] std::string open(const Message& hello, const Bytes32& secret);
    /// For other nodes: calls node 0; false when it cannot be reached.
    [[nodiscard]] bool call(const std::string& addresses, const Message& hello, const Bytes32& secret);
    /// Handles all messages that have arrived.
    void listen();
    /// Seconds until turn() has something to do; below 0: it has nothing.
    [[nodiscard]] double until_turn() const;
    /// To be called once a second: sends that this head is alive, counts the silence of the others, and turns
    /// callers away that have not proved to belong to this run.
    void turn();
    /// Sends to all others with a line, except node `except`.
    void tell(const Message& message, int except = -1);
    /// From now on the end of a line is no death.
    void expect_no_more() { leaving_ = true; }
    [[nodiscard]] int linked() const { return static_cast<int>(lines_.size()); }
    /// The number of lines to nodes that are not in `nodes`.
    [[nodiscard]] int linked_but(const std::set<int>& nodes) const {
        return static_cast<int>(std::count_if(lines_.begin(), lines_.end(),
                                              [&](const auto& line) { return !nodes.contains(line.first); }));
    }
    [[nodiscard]] bool in_use() const { return port_ >= 0 || !lines_.empty(); }

  private:
    struct Line {
        Stream stream;
        Message who;
        int silent = 0;
        bool heard = false;
    };
    struct Stranger {
        Stream stream;
        std::chrono::steady_clock::time_point since;
    };
    void take_calls();
    void greet();
    void close_port_when_all_are_here();
    void lose(int node, const std::string& how);

    Events events_;
    int port_ = -1;
    Message hello_;
    Bytes32 secret_ = {};
    std::vector<Stranger> strangers_;  // have called and not introduced themselves yet; the oldest first
    std::map<int, Line> lines_;        // [node]
    int greeted_ = 0;
    std::chrono::steady_clock::time_point turned_{};
    bool leaving_ = false;
};

}  // namespace strata::team
