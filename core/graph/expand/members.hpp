// The processes that share a graph, as far as its plan and memory need to know them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/team/team.hpp"

namespace strata::graph {

/// Those of one node. Without an arena there is one process, whose memory is its own.
struct Members {
    int rank = 0, size = 1;
    team::Arena* arena = nullptr;
    /// Waits for all.
    std::function<void()> meet = [] {};
    team::Patience patience{};

    [[nodiscard]] static Members alone() { return {}; }
    [[nodiscard]] static Members of(team::Team& team);
};

/// Zeroed memory that all members may read, for as long as this object lives. Pages are placed where they are
/// first touched.
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
    /// What another member has made under that name.
    [[nodiscard]] static std::byte* of_other(const Members& members, const std::string& name);

  private:
    void release() noexcept;
    team::Arena* arena_ = nullptr;
    std::string name_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace strata::graph
