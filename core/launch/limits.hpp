// Limits on a run that the kernel enforces, and what it says when one was hit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/control_groups.hpp"

namespace strata::launch {

/// The limits that are asked for. Without any the run has no groups of its own.
struct Limits {
    std::optional<std::uint64_t> memory_bytes;
    bool exclusive = false;     // no other control group may use these PUs
    std::vector<int> pus;       // of the placement
    std::vector<int> memories;  // that pages may come from; empty: all that this process may use
    [[nodiscard]] bool any() const { return memory_bytes || exclusive; }
};

/// Sets limits on the run's groups before it starts, and reads afterwards whether the kernel ended it for
/// them.
class Enforcement {
  public:
    /// Throws Error when the system does not grant what is asked, naming what was tried.
    Enforcement(const Limits& limits, RunGroups& groups);

    /// The means by which limits are held, one line each, for --explain and the record.
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
    /// After the run: the error to print when a process of it was killed for lack of memory, naming the limit
    /// and how much was in use.
    [[nodiscard]] std::optional<std::string> exceeded() const;

  private:
    void hold_processors(RunGroups& groups);
    void hold_memory_limit(RunGroups& groups);
    [[nodiscard]] std::uint64_t kills() const;
    [[nodiscard]] bool limit_was_reached() const;
    [[nodiscard]] std::optional<std::uint64_t> peak_bytes() const;

    Limits limits_;
    std::string memory_folder_;
    int memory_version_ = 0;
    std::vector<std::string> lines_;
};

}  // namespace strata::launch
