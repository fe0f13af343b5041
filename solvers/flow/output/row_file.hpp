// CSV files of which each process writes rows to their places.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "core/team/team.hpp"

namespace strata::flow {

/// Writes PATH: the head, and what put() of each process puts behind it; whole, or not at all. One node after
/// the other: network file systems cache whole pages. Collective.
class RowFile {
  public:
    /// Puts text so many bytes after the head.
    using Place = std::function<void(std::string_view text, std::int64_t at)>;
    static void write(team::Team& team, const std::filesystem::path& path, std::string_view head,
                      const std::function<void(const Place&)>& put);
};

}  // namespace strata::flow
