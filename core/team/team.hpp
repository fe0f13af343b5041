// The processes of one run, started by the program itself or, over several nodes, by mpirun or srun.
//
//   int main(int argc, char** argv) {
//       return strata::team::run(argc, argv, [](strata::team::Team& team) {
//           auto field = team.arena().array<double>("field", 1'000'000);   // the same memory for all
//           ...
//           team.barrier();
//           return 0;
//       });
//   }
//
// A plain ./a.out starts the members of STRATA_LAYOUT=PxT (STRATA_STRIDE and STRATA_BIND as `strata launch`
// sets them), or one for each core. The first process becomes a small parent that only watches the members.
// Each member is a new start of the same program with the same arguments, bound to its cores. No process is
// forked after it has run other code: libraries with threads of their own (OpenMP, MPI, BLAS) do not survive
// that.
//
// Started by mpirun or srun, a program that also links strata::team_mpi joins the ranks in one team. Those of
// a node share its arena, and barrier, broadcast, reductions and sums reach over all nodes (nodes.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/launch/layout.hpp"
#include "core/team/arena.hpp"
#include "core/team/barrier.hpp"
#include "core/team/collectives.hpp"
#include "core/team/crew.hpp"
#include "core/team/nodes.hpp"

namespace strata::team {

class Note;
struct SeatWord;

struct Options {
    /// None: the layout of STRATA_LAYOUT, else one member of one thread for each core that may be used. With
    /// Bind::none there may be more members than cores.
    std::optional<launch::Layout> layout = {};
    /// Address space of the arena in bytes; 0: twice this machine's memory.
    std::uint64_t capacity = 0;
};

/// One member's part of its team.
class Team {
  public:
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    /// Leaves the team in good order, unless an exception is being thrown. Members that then wait for this
    /// one in a later barrier get an error; others go on.
    ~Team();

    /// 0 to size() - 1, over all nodes, node by node.
    [[nodiscard]] int rank() const { return where_.rank; }
    [[nodiscard]] int size() const { return where_.size; }
    /// The number of this member's node, and the number of nodes. Members of one node share its arena.
    [[nodiscard]] int node() const { return where_.node; }
    [[nodiscard]] int nodes() const { return where_.nodes; }
    /// [node] -> the rank of its first member, and one more: size().
    [[nodiscard]] std::vector<int> first_ranks() const {
        return nodes_ ? nodes_->first_ranks() : std::vector<int>{0, where_.size};
    }
    /// The same as rank() and size(), within this node.
    [[nodiscard]] int local_rank() const { return where_.local_rank; }
    [[nodiscard]] int local_size() const { return where_.local_size; }
    /// The PUs of the members' threads: [member][thread] -> PUs of its node.
    [[nodiscard]] const launch::Placement& placement() const { return placement_; }
    /// This node's arena.
    [[nodiscard]] Arena& arena() { return arena_; }
    /// The patience of this team's members, for locks and signals of the program's own in the arena.
    [[nodiscard]] const Patience& patience() const { return patience_; }

    /// Waits for all members. Throws MemberLost, as all waits do, within a second of a member's death.
    void barrier() {
        barrier_.wait();
        if (exchange_) exchange_->go([](Nodes& nodes) { nodes.barrier(); });
    }
    /// Waits for the members of this node alone.
    void node_barrier() { barrier_.wait(); }
    /// Broadcasts, reductions, sums.
    [[nodiscard]] Collectives& together() { return together_; }
    /// This member's messages to the others; null where all are on one node.
    [[nodiscard]] Messages* messages() const { return exchange_ ? &nodes_->messages() : nullptr; }
    /// This member's crew: its threads, and the numbers of threads of all members on its node, by local rank.
    /// The first call makes the crew. It binds the calling thread, which leads its regions from then on, to
    /// the member's first core.
    [[nodiscard]] Crew& crew();
    /// The last message of this member, to be printed by the process that watches it.
    [[nodiscard]] Note& note();

  private:
    friend Team take_seat(const SeatWord& word, Arena&& arena);
    friend Team start(int argc, char** argv, const Options& options);
    explicit Team(Joined&& joined);
    void leave();

    Where where_;
    int exceptions_;
    launch::Placement placement_;
    Arena arena_;
    Patience patience_;
    Departures* departures_;
    Barrier barrier_;
    std::unique_ptr<Nodes> nodes_;
    std::optional<NodeExchange> exchange_;
    Collectives together_;
    std::unique_ptr<Crew> crew_;
};

/// To be called first in main(): returns in the members only. Code before it runs in the parent and in each
/// member. `argv` must be what main() was given. Throws Error, e.g. for a layout that does not fit this
/// machine.
[[nodiscard]] Team start(int argc, char** argv, const Options& options = {});

/// start(), then `body`; returns main()'s result. An exception in one member ends the run. Its message goes
/// to standard error, once, by the process that watches the member. The waits of the other members throw
/// MemberLost.
int run(int argc, char** argv, const std::function<int(Team&)>& body, const Options& options = {});

}  // namespace strata::team
