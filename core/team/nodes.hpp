// The connection between the nodes of a team, and the way a program gets it.
//
// core/team itself does not use MPI. The library strata::team_mpi does, and a program that links it can be
// started by mpirun or srun. Its members of one node share an arena as those of a plain ./a.out do. One
// member of each node, its leader (the first), communicates with the other nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/launch/placement.hpp"
#include "core/team/arena.hpp"
#include "core/team/exact_sum.hpp"
#include "core/team/messages.hpp"

namespace strata::team {

struct Options;

/// The numbers of a member and of its node. Members are numbered node by node: rank() is the node's first
/// rank plus the local rank, whatever numbers MPI has given.
struct Where {
    int rank = 0, size = 1;
    int node = 0, nodes = 1;
    int local_rank = 0, local_size = 1;
};

/// Operations of the leaders of the nodes. Collective over the leaders: all make the same calls in the same
/// order. A node that makes another call, or has left the team, is an error that names it. After this node
/// was told of a death, every call ends within a second, by MemberLost.
class Nodes {
  public:
    virtual ~Nodes() = default;

    /// [node] -> the rank of its first member, and one more: the size of the team.
    [[nodiscard]] virtual const std::vector<int>& first_ranks() const = 0;

    /// Waits for the leaders of all nodes.
    virtual void barrier() = 0;
    /// Copies node `root`'s `data` into the `data` of all nodes.
    virtual void broadcast(std::span<std::byte> data, int root) = 0;
    /// Collects every node's `mine`, of equal lengths, one after the other in `all`.
    virtual void gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
    /// Replaces `sum` by the sum of all nodes' sums. The operation is also available to MPI programs.
    virtual void add_up(ExactSum& sum) = 0;
    /// Leaves the team in good order: waits until all nodes do.
    virtual void farewell() = 0;
    /// This member's messages to others, on any node.
    [[nodiscard]] virtual Messages& messages() = 0;
    /// To be called by every member once the team has ended in good order. (Otherwise members just end.)
    virtual void finish() = 0;

    /// The node of a member, and its number there.
    [[nodiscard]] std::pair<int, int> location_of(int rank) const;
    /// The number of members of the smallest node.
    [[nodiscard]] int fewest() const;
};

/// A member's part of its team when an MPI launcher started it.
struct Joined {
    Where where;
    Arena arena;
    launch::Placement placement;  // of all members
    bool crowded = false;
    std::unique_ptr<Nodes> nodes;
};

/// The functions of strata::team_mpi. Found by a weak symbol, so no static initialisers are needed, and a
/// program without the library links nothing of MPI.
struct MpiStart {
    /// Watches one rank, in the process that mpirun or srun started: starts the member, returns its exit
    /// status.
    int (*look_after)(const std::vector<std::string>& arguments, const Options& options);
    /// In the member: joins the others. `word`: the content of its seat variable.
    Joined (*join)(const std::string& word, const Options& options);
    /// Whether MPI has been initialised already. Then a team can no longer be started.
    bool (*too_late)();
};

}  // namespace strata::team

extern "C" {
/// Defined by strata::team_mpi, which asks the linker for it (-u strata_team_mpi_start).
[[gnu::weak]] const strata::team::MpiStart* strata_team_mpi_start();
}
