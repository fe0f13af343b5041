// The connection of the nodes of a team that spans several, and how a program comes to have it.
//
// core/team itself knows no MPI. The library strata::team_mpi does, and a program that links it can be
// started by mpirun or srun: its members of one node share an arena as those of a plain ./a.out do, and one
// member of each node, its leader (the first), speaks with the other nodes.
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

/// Which member of which node one is. Members are numbered node by node: rank() is the node's first rank plus
/// the local rank, whatever numbers MPI has given.
struct Where {
    int rank = 0, size = 1;
    int node = 0, nodes = 1;
    int local_rank = 0, local_size = 1;
};

/// Operations of the leaders of the nodes. Collective over the leaders: all make the same calls in the
/// same order; a node that does something else, or has left the team, is an error that names it. Every call
/// ends within a second of a death that this node has been told of, by MemberLost.
class Nodes {
  public:
    virtual ~Nodes() = default;

    /// [node] -> the rank of its first member, and one more: the size of the team.
    [[nodiscard]] virtual const std::vector<int>& first_ranks() const = 0;

    /// Waits for the leaders of all nodes.
    virtual void barrier() = 0;
    /// What node `root` has in `data` is in everybody's.
    virtual void broadcast(std::span<std::byte> data, int root) = 0;
    /// Every node's `mine`, of one length, one after the other in `all`.
    virtual void gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
    /// The sum of all nodes' sums, by the operation that is also there for MPI programs.
    virtual void add_up(ExactSum& sum) = 0;
    /// This node leaves the team in good order: waits until all do.
    virtual void farewell() = 0;
    /// This member's messages to others, of whatever node.
    [[nodiscard]] virtual Messages& messages() = 0;
    /// Every member, once the team has ended in good order (the others just end).
    virtual void finish() = 0;

    /// The node of a member, and its number there.
    [[nodiscard]] std::pair<int, int> location_of(int rank) const;
    /// Members of the node that has fewest.
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

/// The functions that strata::team_mpi brings. Found by a weak symbol, so that it needs no static
/// initialisers and a program without it links nothing of MPI.
struct MpiStart {
    /// Looks after one rank, in the process that mpirun or srun started: starts the member, returns its exit
    /// status.
    int (*look_after)(const std::vector<std::string>& arguments, const Options& options);
    /// In the member: joins the others. `word`: what its seat variable says.
    Joined (*join)(const std::string& word, const Options& options);
    /// Whether MPI has been initialised already, when a team can no longer be started.
    bool (*too_late)();
};

}  // namespace strata::team

extern "C" {
/// Defined by strata::team_mpi, which asks the linker for it (-u strata_team_mpi_start).
[[gnu::weak]] const strata::team::MpiStart* strata_team_mpi_start();
}
