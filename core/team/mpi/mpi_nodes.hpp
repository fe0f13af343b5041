// The nodes of a team, connected by MPI.
//
// Every call is a non-blocking operation of MPI that is tested again and again, with a check of the node's
// failure word in between: no wait outlasts a death. Before each exchange the leaders compare their next
// operations in one small reduction. (For a barrier, that is all.) So a node that makes another call, or has
// left, is an error that names it, and not an endless wait.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/team/mpi/mpi_messages.hpp"
#include "core/team/nodes.hpp"

namespace strata::team {

class MpiNodes : public Nodes {
  public:
    /// `members`: all of the team, by its ranks. `leaders`: MPI_COMM_NULL in a member that leads no node; it
    /// then only calls messages() and finish(). `keeper`: the line to who looks after this member; closed by
    /// the destructor.
    MpiNodes(MPI_Comm members, MPI_Comm leaders, int node, std::vector<int> first_ranks,
             const Failure& failure, bool crowded, int keeper)
        : members_(members),
          messages_(members, failure),
          leaders_(leaders),
          node_(node),
          first_ranks_(std::move(first_ranks)),
          failure_(failure),
          crowded_(crowded),
          keeper_(keeper) {}
    ~MpiNodes() override;
    MpiNodes(const MpiNodes&) = delete;
    MpiNodes& operator=(const MpiNodes&) = delete;

    [[nodiscard]] const std::vector<int>& first_ranks() const override { return first_ranks_; }
    void barrier() override;
    void broadcast(std::span<std::byte> data, int root) override;
    void gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
    void add_up(ExactSum& sum) override;
    [[nodiscard]] Messages& messages() override { return messages_; }
    void farewell() override;
    void finish() override;

  private:
    void await_finish();
    enum class What : std::int64_t { barrier = 1, broadcast, gather, sum, farewell };

    void agree(What what, std::int64_t bytes = 0, std::int64_t root = 0);
    [[noreturn]] void name_who_differs(std::int64_t mine);
    void wait(MPI_Request request, int why);
    [[nodiscard]] std::string name(int node) const;

    MPI_Comm members_;
    MpiMessages messages_;
    MPI_Comm leaders_;
    int node_;
    std::vector<int> first_ranks_;
    const Failure& failure_;
    bool crowded_;
    int keeper_;
    std::uint64_t meetings_ = 0;
    // MPI's buffers during an operation: they must outlive a call that a death has ended.
    std::int64_t offer_[2] = {}, agreed_[2] = {};
    std::vector<std::int64_t> all_offers_;
    ExactSum sum_, total_;
};

}  // namespace strata::team
