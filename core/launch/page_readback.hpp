// Where the pages of a run's processes lie, read in turn while it runs, and whether that is what the memory
// policy promised.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/launch/layout.hpp"
#include "core/launch/page_promise.hpp"
#include "core/machine/numa_maps.hpp"

namespace strata::launch {

/// A process of the program: its number in the run, and in the placement of this node.
struct RankedProcess {
    int pid = 0;
    int rank = 0, index = 0;
};

struct PageReading {
    std::string method = "none";  // numa_maps or move_pages
    machine::ByMemory by_memory;  // bytes by the system's number of the memory
    std::uint64_t anon_huge = 0;
    size_t processes = 0;  // of the layout, whose pages were read
    std::string why;       // why not
    std::optional<bool> agrees;
    std::string verdict;  // "as promised", "not as promised", one of the two below, or why it is not known
    std::optional<std::string> disagreement;
};

constexpr const char* kNothingPromised = "nothing promised";
/// Begins a verdict where the kernel does not let anybody say where pages lie.
constexpr const char* kUnverified = "placement unverified";

/// Why nobody can say here whether the promises of a placement about pages are kept; empty where nothing is
/// promised, or a page could be placed and read back. What the kernel says of other processes' pages counts
/// only where it keeps and tells the place of one's own: sandboxes forbid either, or imitate numa_maps.
std::string why_unverified(const Placement& placement);

/// The processes in the order in which they are read after process `last`: by number, and round.
std::vector<RankedProcess> in_turn(std::vector<RankedProcess> processes, int last);

class PageReadback {
  public:
    explicit PageReadback(Placement promised);

    /// Reads the next processes in turn: so many that reading, which walks page tables (10 ms a GiB), takes
    /// at most `kBudget` of the time. The first `kFreeBytes` are beyond that, for programs of a second are to
    /// be read again when they have touched their memory; and so are `kFree` processes at the first look.
    void read(const std::vector<RankedProcess>& processes, double elapsed_s);

    /// What is known now. `saw_anything`: of the run at all.
    [[nodiscard]] PageReading reading(bool saw_anything) const;

    static constexpr double kBudget = 0.002, kEarliest = 0.1;
    static constexpr std::uint64_t kFreeBytes = 1 << 30, kLeastBytes = 16 << 20;  // a reading counts as
    static constexpr size_t kFree = 8;

  private:
    struct Known {
        int rank = 0, index = 0;
        machine::ByMemory all;
        std::uint64_t anon_huge = 0;
        std::optional<std::string> doubt;  // of the last reading
    };
    void forget_ended(const std::vector<RankedProcess>& processes);
    bool read_one(const RankedProcess& process);
    void judge(Known& known, const std::vector<machine::Region>& regions);
    [[nodiscard]] std::optional<std::string> found() const;

    Placement promised_;
    bool any_promise_ = false;
    std::string unverified_;      // why pages cannot be placed or read back here
    std::uint64_t grain_;         // of a huge page
    std::map<int, Known> known_;  // by pid, of the processes that live
    std::set<int> ranks_;         // read at least once
    std::optional<std::string> disagreement_;
    std::string method_ = "none", why_;
    int last_ = 0;  // pid, after which the turn goes on
    bool looked_ = false;
    double spent_s_ = 0;
    std::uint64_t walked_ = 0;  // bytes
};

}  // namespace strata::launch
