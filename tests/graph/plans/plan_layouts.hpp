// The plans of all processes of a layout, made by threads that play them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/graph/expand/played_team.hpp"
#include "tests/graph/plans/plan_graphs.hpp"
#include "tests/graph/plans/plan_text.hpp"

namespace strata::tests {

struct PlannedLayout {
    const char* name;
    int processes, threads, nodes;
};
inline constexpr std::array<PlannedLayout, 6> kPlannedLayouts{{{"1x1", 1, 1, 1},
                                                               {"1x2", 1, 2, 1},
                                                               {"2x1", 2, 1, 1},
                                                               {"2x2", 2, 2, 1},
                                                               {"2x2/2nodes", 2, 2, 2},
                                                               {"4x1/2nodes", 4, 1, 2}}};
/// Reductions along trees of more than one level.
inline constexpr std::array<PlannedLayout, 2> kLargeLayouts{{{"11x1", 11, 1, 1}, {"5x1/5nodes", 5, 1, 5}}};

/// Whether the command line asks for a hidden test by its tag. Catch2 2 runs hidden ones for "~[soak]", too.
inline bool is_asked_for(const std::string& tag) {
    std::ifstream words("/proc/self/cmdline");
    return std::string(std::istreambuf_iterator<char>(words), {}).find(tag) != std::string::npos;
}

/// The processes of a layout, for one plan after the other.
class LayoutPlans {
  public:
    explicit LayoutPlans(const PlannedLayout& layout)
        : threads_(layout.threads), team_(layout.processes, layout.nodes), raw_(z(layout.processes)) {}

    /// [process] -> canonical text. `change` may change the plan of process 0 before.
    std::vector<std::string> texts(const PlannedGraph& of,
                                   const std::function<void(graph::Plan&)>& change = {}) {
        team_.run([&](const graph::Members& members) {
            with_plan(of, members, threads_, serial_, [&](graph::Plan& plan) {
                if (change && members.rank == 0) change(plan);
                raw_[z(members.rank)] = raw_text(plan);
                members.meet();  // texts look at others' memory
            });
        });
        serial_ += 2;
        return canonical_texts(raw_);
    }
    void count_from(std::uint64_t serial) { serial_ = serial; }

  private:
    static std::size_t z(int number) { return static_cast<std::size_t>(number); }
    int threads_;
    PlayedTeam team_;
    std::vector<std::string> raw_;
    std::uint64_t serial_ = 0;
};

}  // namespace strata::tests
