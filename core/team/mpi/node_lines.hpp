// The lines among the keepers of one node: the keeper of its first member (the head) has
// one to each of the others. Those between the nodes are in heads.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/team/mpi/lines.hpp"

namespace strata::team {

class NodeLines {
  public:
    /// Events on the lines.
    struct Events {
        /// A word about a member that is gone, or (to others than the head) the arena or the end. `line`:
        /// where it came from.
        std::function<void(const Received& received, int line)> said;
        /// A keeper has gone without a word, and its member with it. `who`: the message that tells of it.
        std::function<void(const Message& who)> vanished;
        /// Another line to be watched for something to read.
        std::function<void(int socket)> watch;
    };
    explicit NodeLines(Events events) : events_(std::move(events)) {}
    ~NodeLines();
    NodeLines(const NodeLines&) = delete;
    NodeLines& operator=(const NodeLines&) = delete;

    /// Of the head: opens the door; returns the name under which the others find it. Who calls and knows the
    /// token is sent the arena.
    [[nodiscard]] std::string open(std::uint64_t token, int arena);
    /// Of the others: calls the head. `hello`: how this keeper introduces itself. Throws Error.
    void call(const std::string& name, const Message& hello);
    /// Takes whatever has come.
    void listen();
    /// The head's word to all others, the others' to the head; not to the line `except`, where it came from.
    void tell(const Message& word, int except = -1);
    /// Of the head: how many of the others have no member any more.
    [[nodiscard]] int gone() const { return gone_; }

  private:
    struct Neighbour {
        std::optional<Message> who;
        bool gone = false;
    };
    void take_calls();
    void listen_to(int line);
    void listen_to_head();

    Events events_;
    std::uint64_t token_ = 0;
    int arena_ = -1;
    int door_ = -1, head_ = -1;
    int head_rank_ = 0;
    std::map<int, Neighbour> others_;  // [line], of the head
    int gone_ = 0;
};

}  // namespace strata::team
