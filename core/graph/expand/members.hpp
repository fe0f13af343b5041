// The processes that share a graph, as far as its plan and memory need to know them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/team/team.hpp"

namespace strata::graph {

/// All of the team, numbered node by node: those of this node share the arena, the others are sent messages.
/// Without an arena there is one process, whose memory is its own.
struct Members {
    int rank = 0, size = 1;
    /// [node] -> the rank of its first member, and one more: `size`.
    std::vector<int> firsts{0, 1};
    int node = 0;
    team::Arena* arena = nullptr;
    team::Messages* messages = nullptr;  // null: all are on one node
    /// Messages count as arrived so many seconds after they were sent, if not later: to see how a program
    /// does on a network slower than the one there is. STRATA_MESSAGE_DELAY says it for a team.
    double message_delay = 0;
    /// [thread of this process] -> its locality domain; empty: all in one.
    std::vector<int> domains{};
    /// Whether all that this process may run on is next to one memory: then it does not matter who touches a
    /// page first.
    bool beside_one_memory = false;
    /// Waits for all.
    std::function<void()> meet = [] {};
    team::Patience patience{};

    /// Those of this node: first() .. first() + near() - 1.
    [[nodiscard]] int first() const { return firsts[static_cast<std::size_t>(node)]; }
    [[nodiscard]] int on_node() const { return firsts[static_cast<std::size_t>(node) + 1] - first(); }
    [[nodiscard]] bool is_on_node(int process) const {
        return process >= first() && process < first() + on_node();
    }
    [[nodiscard]] static Members alone() { return {}; }
    [[nodiscard]] static Members of(team::Team& team);
};

/// Zeroed memory that all members of the node may read, for as long as this object lives. Pages are placed
/// where they are first touched.
class SharedMemory {
  public:
    SharedMemory() = default;
    /// `name`: one for each object of all members.
    SharedMemory(const Members& members, std::string name, std::size_t bytes);
    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory& operator=(SharedMemory&& other) noexcept;
    ~SharedMemory();

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return bytes_; }
    template <class T>
    [[nodiscard]] T* as() const {
        return reinterpret_cast<T*>(data_);
    }
    /// What another member of this node has made under that name.
    [[nodiscard]] static std::byte* of_other(const Members& members, const std::string& name);

  private:
    void release() noexcept;
    team::Arena* arena_ = nullptr;
    std::string name_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace strata::graph
