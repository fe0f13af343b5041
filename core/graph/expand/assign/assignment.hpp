// The owner of each patch.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/graph/expand/assign/members.hpp"

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

/// [family][patch], in seconds or any other unit.
using PatchCosts = VectorBy<FamilyId, std::vector<double>>;

/// More patches than this are shared out without a look at what they exchange: that would take longer than
/// the plan.
inline constexpr int kMostExchanging = 1 << 14;

enum class Library : std::uint8_t { where_found, no };

/// The first assignment of the patches of all families, by declared work, position and what they exchange. Of
/// these ways the one is taken whose slowest process is estimated to need least for a step:
///   each family cut by itself, along its order(), or grids by planes, in halves again and again, where that
///   is better; families of few patches where there is least to do;
///   families of few patches first, the others cut around them;
///   all families cut together along one curve;
///   METIS, where the build has it (Library).
/// The first is kept unless another is better by 5 %. Of more patches than kMostExchanging only loads are
/// compared, and only the first two ways.
/// Where METIS is asked, only one thread of one process may call this (detail::partition).
[[nodiscard]] Assignment assign(const Graph& graph, int processes, Library library = Library::no);

/// The first assignment, for the members of a team: where METIS may be asked, process 0 does so and tells the
/// others; else each finds it out for itself. Collective over the members. `serial`: a number that no other
/// shared memory of these processes has in its name.
[[nodiscard]] Assignment assign(const Graph& graph, const Members& members, std::uint64_t serial);

/// The number of a family in Graph::families(). Throws Error where it is another graph's.
[[nodiscard]] FamilyId number_of(const Graph& graph, const Family& family);

}  // namespace strata::graph
