// The line from node to node: the keepers of the first members of the nodes (heads) know of each
// other's deaths and silence.
//
// The head of node 0 has a line to every other; a word that one of them says goes through it to all. Each
// says a word a second: one that is silent for kSilence of them, counted by the listener's own turns, so that
// a run that is stopped as a whole and goes on later has missed none, is as good as dead (a machine that lost
// its power or network, a stopped process).
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

    /// Events on the lines. `node`: of the other end; `who`: as that node's head has introduced itself.
    struct Events {
        std::function<void(int node, const Message& word)> said;
        std::function<void(const Message& who, const std::string& how)> vanished;
        /// Another line to be watched for something to read.
        std::function<void(int socket)> watch;
    };
    explicit Heads(Events events) : events_(std::move(events)) {}
    ~Heads();
    Heads(const Heads&) = delete;
    Heads& operator=(const Heads&) = delete;

    /// Of node 0: opens a port; returns the addresses under which the others find it. `hello`: how this head
    /// introduces itself, with the token by which the heads of one run know each other.
    [[nodiscard]] std::string open(const Message& hello);
    /// Of another node: calls node 0; false when it cannot be reached.
    [[nodiscard]] bool call(const std::string& addresses, const Message& hello);
    /// Takes whatever has come.
    void listen();
    /// Seconds until turn() has something to do.
    [[nodiscard]] double until_turn() const;
    /// To be called once a second: says that this head lives, counts the silence of the others.
    void turn();
    /// To all others that there is a line to, but for node `except`.
    void tell(const Message& message, int except = -1);
    /// No line is to be missed from now on.
    void expect_no_more() { leaving_ = true; }
    [[nodiscard]] int linked() const { return static_cast<int>(lines_.size()); }
    /// Lines to nodes that are not among these.
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
    void take_calls();
    void greet();
    void lose(int node, const std::string& how);

    Events events_;
    int port_ = -1;
    Message hello_;
    std::vector<Stream> strangers_;  // have called, not yet said who they are
    std::map<int, Line> lines_;      // [node]
    std::chrono::steady_clock::time_point turned_{};
    bool leaving_ = false;
};

}  // namespace strata::team
