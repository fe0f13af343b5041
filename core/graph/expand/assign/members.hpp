// The processes that share a graph, as its plan and memory know them.
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
/// Without an arena there is one process, with memory of its own.
struct Members {
    int rank = 0, size = 1;
    /// [node] -> the rank of its first member, and one more: `size`.
    std::vector<int> firsts{0, 1};
    int node = 0;
    team::Arena* arena = nullptr;
    team::Messages* messages = nullptr;  // null: all are on one node
    /// Messages count as arrived so many seconds after they were sent, if not later: this shows a program on
    /// a slower network. STRATA_MESSAGE_DELAY says it for a team.
    double message_delay = 0;
    /// [thread of this process] -> its locality domain; empty: all in one.
    std::vector<int> domains{};
    /// All cores of this process are next to one memory: then any thread may touch a page first.
    bool beside_one_memory = false;
    /// Calls work(thread, threads) in each thread of this process, and returns when all have ended.
    std::function<void(const std::function<void(int thread, int threads)>&)> in_threads =
        [](const auto& work) { work(0, 1); };
    /// Waits for all.
    std::function<void()> meet = [] {};
    team::Patience patience{};

    /// Those of this node: first() .. first() + on_node() - 1.
    [[nodiscard]] int first() const { return firsts[static_cast<std::size_t>(node)]; }
    [[nodiscard]] int on_node() const { return firsts[static_cast<std::size_t>(node) + 1] - first(); }
    [[nodiscard]] bool is_on_node(int process) const {
        return process >= first() && process < first() + on_node();
    }
    [[nodiscard]] static Members alone();
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
    /// The memory that another member of this node has made under that name.
    [[nodiscard]] static std::byte* of_other(const Members& members, const std::string& name);

  private:
    void release() noexcept;
    team::Arena* arena_ = nullptr;
    std::string name_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace strata::graph
