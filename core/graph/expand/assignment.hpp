// The owner of each patch.
#pragma once

#include <span>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::graph {

/// The patches of one process: [family][i] -> patch, ascending. Families are numbered as in
/// Graph::families().
using OwnPatches = VectorBy<FamilyId, std::vector<int>>;

/// [family][patch] -> process, and the patch's number among those of its process.
struct Assignment {
    VectorBy<FamilyId, std::vector<int>> owner;
    VectorBy<FamilyId, std::vector<int>> local;

    /// Fills in `local`. Throws Error where an owner is not 0 .. processes - 1.
    void number(int processes);
    [[nodiscard]] OwnPatches of(int process) const;
};

/// Each family's patches in its order() (along a curve, or as they are numbered), cut into one contiguous
/// chunk for each process so that the longest takes least. `costs`: [family][patch], seconds or any unit;
/// empty for equal ones.
[[nodiscard]] Assignment assign(const Graph& graph, int processes,
                                const VectorBy<FamilyId, std::vector<double>>& costs = {});

/// The number of a family in Graph::families(). Throws Error where it is another graph's.
[[nodiscard]] FamilyId number_of(const Graph& graph, const Family& family);

}  // namespace strata::graph
